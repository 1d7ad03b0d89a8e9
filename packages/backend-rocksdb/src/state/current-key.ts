import { closedStore, noCurrentKey, type Key } from '@weir/core/contracts';

/** The key that every handle of a store works on. A handle looks its cell up once per turn. */
export class CurrentKey {
  readonly operator: string;
  key: Key = '';
  /** What a handle has found holds for one turn. 0 before the first key, negative once the store is closed. */
  turn = 0;
  /** Counts the keys that were set: what was lent to a callback is its own until the next. */
  callback = 0;
  #ended: Error | undefined;

  constructor(operator: string) {
    this.operator = operator;
  }

  set(key: Key): void {
    if (this.turn < 0) throw this.violation();
    this.key = key;
    this.turn++;
    this.callback++;
  }
  /** Cells were evicted, so handles look again. */
  forgetCells(): void {
    if (this.turn > 0) this.turn++;
  }
  assertOpen(): void {
    if (this.turn < 0) throw this.violation();
  }
  close(): void {
    this.turn = -1;
  }
  /** The database has failed, so there is no state to work on any more. */
  break(reason: Error): void {
    this.turn = -1;
    this.#ended ??= reason;
  }

  /** Why there is no key to work on. */
  violation(): Error {
    if (this.#ended !== undefined) return this.#ended;
    return this.turn < 0 ? closedStore(this.operator) : noCurrentKey(this.operator);
  }
}
