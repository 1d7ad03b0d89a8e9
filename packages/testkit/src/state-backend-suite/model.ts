import assert from 'node:assert/strict';
import type { Key } from '@weir/core/contracts';
import { emptyContents, textOf, type Contents } from './contents.js';
import type { StateName, States } from './declarations.js';

/** Something that user code does with the state of a key. */
export type Access =
  | { readonly kind: 'update'; readonly key: Key; readonly state: 'count' | 'last'; readonly value: unknown }
  | { readonly kind: 'mutate'; readonly key: Key; readonly state: 'count' | 'last'; readonly thenUpdate: boolean }
  | { readonly kind: 'add'; readonly key: Key; readonly value: unknown; readonly times: number }
  | { readonly kind: 'mutate elements'; readonly key: Key }
  | { readonly kind: 'set'; readonly key: Key; readonly mapKey: Key; readonly value: unknown }
  | { readonly kind: 'set many'; readonly key: Key; readonly value: unknown }
  | { readonly kind: 'delete'; readonly key: Key; readonly mapKey: Key }
  | { readonly kind: 'mutate entry'; readonly key: Key; readonly mapKey: Key; readonly thenSet: boolean }
  | { readonly kind: 'mutate entries'; readonly key: Key }
  | { readonly kind: 'clear'; readonly key: Key; readonly state: StateName };

const MANY = 100;

/** The state as it should be, in Maps of copies. Checks what a store answers on the way. */
export class StateModel {
  readonly #contents: Contents;
  readonly #keepsIdentity: boolean;

  constructor(keepsIdentity: boolean, contents: Contents = emptyContents()) {
    this.#keepsIdentity = keepsIdentity;
    this.#contents = structuredClone(contents);
  }

  copy(): Contents {
    return structuredClone(this.#contents);
  }

  /** Does the same to the model and to the handles. */
  apply(access: Access, states: States): void {
    const key = textOf(access.key);
    switch (access.kind) {
      case 'update':
        states[access.state].update(structuredClone(access.value));
        this.#contents[access.state].set(key, structuredClone(access.value));
        break;
      case 'mutate':
        this.#mutateValue(key, access, states);
        break;
      case 'add':
        for (let i = 0; i < access.times; i++) {
          states.items.add(structuredClone(access.value));
          this.#itemsOf(key).push(structuredClone(access.value));
        }
        break;
      case 'mutate elements':
        this.#mutateElements(key, states);
        break;
      case 'set':
        states.index.set(access.mapKey, structuredClone(access.value));
        this.#entriesOf(key).set(textOf(access.mapKey), structuredClone(access.value));
        break;
      case 'set many':
        for (let i = 0; i < MANY; i++) {
          states.index.set(`many ${String(i)}`, structuredClone(access.value));
          this.#entriesOf(key).set(textOf(`many ${String(i)}`), structuredClone(access.value));
        }
        break;
      case 'delete':
        states.index.delete(access.mapKey);
        if (this.#contents.index.get(key)?.delete(textOf(access.mapKey)) === true) this.#forgetIfEmpty(key);
        break;
      case 'mutate entry':
        this.#mutateEntry(key, access, states);
        break;
      case 'mutate entries':
        this.#mutateEntries(key, states);
        break;
      case 'clear':
        states[access.state].clear();
        this.#contents[access.state].delete(key);
    }
  }

  #mutateValue(key: string, { state, thenUpdate }: Access & { kind: 'mutate' }, states: States): void {
    const value = states[state].value();
    const stored = this.#contents[state];
    const absent = state === 'count' ? 0 : undefined;
    assert.deepStrictEqual(value, stored.has(key) ? stored.get(key) : absent, `${state} of ${key}`);
    if (!mutate(value)) return;
    if (thenUpdate) states[state].update(value);
    if (thenUpdate || this.#keepsIdentity) mutate(stored.get(key));
  }
  #mutateElements(key: string, { items }: States): void {
    const values = [...items.values()];
    assert.deepStrictEqual(values, this.#contents.items.get(key) ?? [], `items of ${key}`);
    values.forEach(mutate);
    if (this.#keepsIdentity) this.#contents.items.get(key)?.forEach(mutate);
  }
  #mutateEntry(key: string, { mapKey, thenSet }: Access & { kind: 'mutate entry' }, { index }: States): void {
    const value = index.get(mapKey);
    const stored = this.#contents.index.get(key)?.get(textOf(mapKey));
    assert.deepStrictEqual(value, stored, `entry ${textOf(mapKey)} of ${key}`);
    if (!mutate(value)) return;
    if (thenSet) index.set(mapKey, value);
    if (thenSet || this.#keepsIdentity) mutate(stored);
  }
  #mutateEntries(key: string, { index }: States): void {
    const seen = new Map<string, unknown>();
    for (const [mapKey, value] of index.entries()) {
      seen.set(textOf(mapKey), structuredClone(value));
      mutate(value);
    }
    assert.deepStrictEqual(seen, this.#contents.index.get(key) ?? new Map(), `entries of ${key}`);
    if (this.#keepsIdentity) this.#contents.index.get(key)?.forEach(mutate);
  }

  #itemsOf(key: string): unknown[] {
    const items = this.#contents.items.get(key) ?? [];
    this.#contents.items.set(key, items);
    return items;
  }
  #entriesOf(key: string): Map<string, unknown> {
    const entries = this.#contents.index.get(key) ?? new Map<string, unknown>();
    this.#contents.index.set(key, entries);
    return entries;
  }
  #forgetIfEmpty(key: string): void {
    if (this.#contents.index.get(key)?.size === 0) this.#contents.index.delete(key);
  }
}

/** Changes an object in place; says whether it was one. */
function mutate(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const held = value as { n: number; deep: number[] };
  held.n++;
  if (held.deep.length < 5) held.deep.push(held.n);
  return true;
}
