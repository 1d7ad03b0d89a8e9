import { UNMARKED } from './page.js';
import { isMutable } from './mutable.js';
import { NO_HOLDS } from './state-hold.js';
import type { Holdable, StateHold } from './state-hold.js';

/** The list of one key. It only grows, and clearing drops it whole: its first n elements stay what they are. */
export class ListCell implements Holdable {
  readonly values: unknown[] = [];
  /** An element is an object, which user code may change after having read it. */
  hasMutable = false;
  holds: readonly StateHold[] = NO_HOLDS;
  /** When all of it became new, or may have changed: see `ChangeLog.mark`. */
  #changed = UNMARKED;
  /** By turns, when it grew and how long it was before. */
  #growth: number[] | undefined;

  push(value: unknown): void {
    this.values.push(value);
    if (!this.hasMutable) this.hasMutable = isMutable(value);
  }

  /** All of its elements are new or may change. True unless that is known. */
  changes(mark: number): boolean {
    if (this.#changed === mark) return false;
    this.#changed = mark;
    this.#growth = undefined;
    return true;
  }
  /** It is about to grow. What happened before `oldest` needs to be known no more. */
  grows(mark: number, oldest: number): void {
    if (this.#changed === mark) return;
    const growth = (this.#growth ??= []);
    if (growth.at(-2) === mark) return;
    let gone = 0;
    while (gone < growth.length && growth[gone]! < oldest) gone += 2;
    if (gone > 0) growth.splice(0, gone);
    growth.push(mark, this.values.length);
  }
  /** How many of the elements, from the first on, are as they were before `mark`. */
  unchangedSince(mark: number): number {
    if (this.#changed >= mark) return 0;
    const growth = this.#growth ?? [];
    for (let i = 0; i < growth.length; i += 2) if (growth[i]! >= mark) return growth[i + 1]!;
    return this.values.length;
  }
}
