import { closedStore, noCurrentKey, type Key, type WeirError } from '@weir/core/contracts';

/** The place of a key that nobody looked ahead for. */
export const NOWHERE: number = -1;

/** The key that every handle of a store works on. It stays for one turn; a handle looks it up once per turn. */
export class CurrentKey {
  readonly operator: string;
  key: Key = '';
  /** Where it is among those looked ahead for. */
  place: number = NOWHERE;
  /** 0 before the first key, negative once the store is closed. */
  turn = 0;

  constructor(operator: string) {
    this.operator = operator;
  }

  set(key: Key, place: number = NOWHERE): void {
    this.assertOpen();
    this.key = key;
    this.place = place;
    this.turn++;
  }
  assertOpen(): void {
    if (this.turn < 0) throw this.violation();
  }
  close(): void {
    this.turn = -1;
  }

  /** Why there is no key to work on. */
  violation(): WeirError {
    return this.turn < 0 ? closedStore(this.operator) : noCurrentKey(this.operator);
  }
}
