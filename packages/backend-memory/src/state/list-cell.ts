import { isMutable } from './mutable.js';
import { NO_HOLDS } from './state-hold.js';
import type { Holdable, StateHold } from './state-hold.js';

/** The list of one key. It only grows, and clearing drops it whole: its first n elements stay what they are. */
export class ListCell implements Holdable {
  readonly values: unknown[] = [];
  /** An element is an object, which user code may change after having read it. */
  hasMutable = false;
  holds: readonly StateHold[] = NO_HOLDS;

  push(value: unknown): void {
    this.values.push(value);
    if (!this.hasMutable) this.hasMutable = isMutable(value);
  }
}
