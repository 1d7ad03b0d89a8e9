import { readChanges } from '@weir/core/contracts';
import type { Key, KeyedSection, ListState, MapState, Serializer, StateHandle, ValueState } from '@weir/core/contracts';

/** Does to a state what a section of changes tells, by its handle: what was restored before may be in memory or in the database by now. */
export function applyChanges(
  section: KeyedSection,
  serializer: Serializer,
  handle: StateHandle,
  setKey: (key: Key) => void,
): void {
  // The kind of the section is that of the state, so only methods of its handle are called.
  const value = handle as ValueState<unknown>;
  const list = handle as ListState<unknown>;
  const map = handle as MapState<Key, unknown>;
  const append = (key: Key, values: readonly unknown[]): void => {
    setKey(key);
    for (const element of values) list.add(element);
  };
  readChanges(section, serializer, {
    value(key, stored) {
      setKey(key);
      value.update(stored);
    },
    list(key, values) {
      setKey(key);
      list.clear();
      append(key, values);
    },
    map(key, mapKey, stored) {
      setKey(key);
      map.set(mapKey, stored);
    },
    append,
    remove(key) {
      setKey(key);
      handle.clear();
    },
    removeEntry(key, mapKey) {
      setKey(key);
      map.delete(mapKey);
    },
  });
}
