import { keyIdentity, ownKey, type Key, type KeyIdentity } from '@weir/core/contracts';

export interface Row<Content> {
  readonly key: Key;
  readonly content: Content;
}

/** What one state holds for each key, in a plain Map. */
export class Rows<Content> implements Iterable<Row<Content>> {
  readonly #rows = new Map<KeyIdentity, Row<Content>>();
  readonly #currentKey: () => Key;

  /** `currentKey` is asked whenever a method is not told a key. */
  constructor(currentKey: () => Key) {
    this.#currentKey = currentKey;
  }

  get(key: Key = this.#currentKey()): Row<Content> | undefined {
    return this.#rows.get(keyIdentity(key));
  }
  set(content: Content, key: Key = this.#currentKey()): void {
    this.#rows.set(keyIdentity(key), { key: ownKey(key), content });
  }
  delete(): void {
    this.#rows.delete(keyIdentity(this.#currentKey()));
  }
  [Symbol.iterator](): Iterator<Row<Content>> {
    return this.#rows.values();
  }
}
