import type { Serializer } from '../contracts/serializer.js';
import type { ListState, MapState, StateHandle, ValueState, ValueStateHandle } from '../contracts/state-backend.js';
import type { Key } from '../element/key.js';
import type { DeclaredState } from '../state/descriptors.js';
import type { OpenOperatorState, OperatorListState } from '../state/operator-state-descriptors.js';
import { HeldElements } from './held-elements.js';
import type { HeldReferences } from './held-references.js';

// The handles that user code gets, over those that keep state. They note which objects state holds that have been in a handler's hands. What is no
// object passes. Fields are private to the compiler only: private names made a record dearer.

/** What user code gets of a state that a backend keeps in `stored`. */
export function userHandle(declared: DeclaredState, stored: StateHandle, references: HeldReferences): object {
  const { serializer, valueSerializer = serializer, liveOver, handleOver } = declared;
  const live = liveOver === undefined ? stored : liveOver(stored);
  const held = heldHandle(declared, live, references, valueSerializer, stored);
  return handleOver === undefined ? held : handleOver(held);
}

function heldHandle(
  { kind, expiry }: DeclaredState,
  live: StateHandle,
  references: HeldReferences,
  serializer: Serializer,
  stored: StateHandle,
): StateHandle {
  const shown = (value: unknown): unknown => (expiry === undefined ? value : expiry.shown(value));
  // Past what expires: looking for an object changes nothing.
  switch (kind) {
    case 'value': {
      const value = live as ValueStateHandle;
      // One that is asked has nothing between it and the handler: that would make each record dearer.
      if (!references.addHolder(value, serializer)) return new HeldValue(value, references, serializer);
      return value;
    }
    case 'list': {
      const elements = (): Iterable<unknown> => mapped((stored as ListState<unknown>).values(), shown);
      return new HeldList(live as ListState<unknown>, references, new HeldElements(serializer, elements), true);
    }
    case 'map': {
      const elements = (): Iterable<unknown> =>
        mapped((stored as MapState<Key, unknown>).entries(), ([, value]) => shown(value));
      return new HeldMap(live as MapState<Key, unknown>, references, new HeldElements(serializer, elements), true);
    }
  }
}

function* mapped<T>(items: Iterable<T>, of: (item: T) => unknown): Generator {
  for (const item of items) yield of(item);
}

/** What it gets of operator state. */
export function heldOperatorHandle(
  state: OpenOperatorState,
  references: HeldReferences,
  serializer: Serializer,
): object {
  const { handle } = state;
  const elements = new HeldElements(serializer, () => state.held());
  // A descriptor makes one or the other.
  return 'replace' in handle
    ? new HeldOperatorList(handle as OperatorListState<unknown>, references, elements)
    : new HeldMap(handle as MapState<Key, unknown>, references, elements, false);
}

class HeldValue implements ValueState<unknown, unknown> {
  private readonly stored: ValueState<unknown, unknown>;
  private readonly references: HeldReferences;
  private readonly serializer: Serializer;

  constructor(stored: ValueState<unknown, unknown>, references: HeldReferences, serializer: Serializer) {
    this.stored = stored;
    this.references = references;
    this.serializer = serializer;
  }

  value(): unknown {
    const value = this.stored.value();
    if (typeof value === 'object' && value !== null) this.references.add(value, this.serializer);
    return value;
  }
  update(value: unknown): void {
    if (typeof value === 'object' && value !== null) this.references.add(value, this.serializer);
    this.stored.update(value);
  }
  clear(): void {
    this.stored.clear();
  }
}

/** Of keyed state the elements are others with each call, of operator state with each change. */
abstract class HeldCollection {
  private readonly references: HeldReferences;
  private readonly elements: HeldElements;
  private readonly isKeyed: boolean;

  constructor(references: HeldReferences, elements: HeldElements, isKeyed: boolean) {
    this.references = references;
    this.elements = elements;
    this.isKeyed = isKeyed;
  }

  protected allRead(): void {
    if (this.isKeyed) this.elements.changed();
    this.references.addAll(this.elements);
  }
  protected note(value: object): void {
    this.references.add(value, this.elements.serializer);
  }
  protected written(value: unknown): void {
    if (!this.isKeyed) this.elements.changed();
    if (typeof value === 'object' && value !== null) this.note(value);
  }
  protected removed(): void {
    this.elements.changed();
  }
}

class HeldList extends HeldCollection implements ListState<unknown> {
  private readonly stored: ListState<unknown>;

  constructor(stored: ListState<unknown>, references: HeldReferences, elements: HeldElements, isKeyed: boolean) {
    super(references, elements, isKeyed);
    this.stored = stored;
  }

  values(): Iterable<unknown> {
    this.allRead();
    return this.stored.values();
  }
  add(value: unknown): void {
    this.written(value);
    this.stored.add(value);
  }
  clear(): void {
    this.stored.clear();
    this.removed();
  }
}

class HeldMap extends HeldCollection implements MapState<Key, unknown> {
  private readonly stored: MapState<Key, unknown>;

  constructor(stored: MapState<Key, unknown>, references: HeldReferences, elements: HeldElements, isKeyed: boolean) {
    super(references, elements, isKeyed);
    this.stored = stored;
  }

  get(key: Key): unknown {
    const value = this.stored.get(key);
    if (typeof value === 'object' && value !== null) this.note(value);
    return value;
  }
  set(key: Key, value: unknown): void {
    this.written(value);
    this.stored.set(key, value);
  }
  delete(key: Key): void {
    this.stored.delete(key);
  }
  entries(): Iterable<readonly [Key, unknown]> {
    this.allRead();
    return this.stored.entries();
  }
  clear(): void {
    this.stored.clear();
    this.removed();
  }
}

class HeldOperatorList extends HeldCollection implements OperatorListState<unknown> {
  private readonly stored: OperatorListState<unknown>;

  constructor(stored: OperatorListState<unknown>, references: HeldReferences, elements: HeldElements) {
    super(references, elements, false);
    this.stored = stored;
  }

  values(): readonly unknown[] {
    this.allRead();
    return this.stored.values();
  }
  add(value: unknown): void {
    this.written(value);
    this.stored.add(value);
  }
  replace(values: readonly unknown[]): void {
    for (const value of values) this.written(value);
    this.stored.replace(values);
  }
  clear(): void {
    this.stored.clear();
    this.removed();
  }
}
