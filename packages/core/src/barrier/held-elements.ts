import type { StreamElement } from '../element/element.js';

/** An element, or the end of the Observable that carried them. */
export type Arrival<T> = StreamElement<T> | Completed;
export interface Completed {
  readonly kind: 'completed';
}
export const COMPLETED: Completed = { kind: 'completed' };

/** What came from blocked channels, in the order of each channel. Records are counted over all channels, up to a bound. */
export class HeldElements<T> {
  readonly #queues: Arrival<T>[][];
  readonly #heads: number[];
  readonly #bound: number;
  #records = 0;

  constructor(channels: number, bound: number) {
    this.#queues = Array.from({ length: channels }, () => []);
    this.#heads = new Array<number>(channels).fill(0);
    this.#bound = bound;
  }

  /** False, and nothing is kept, if that would be more records than the bound. */
  hold(channel: number, element: Arrival<T>): boolean {
    const records = recordsIn(element);
    if (this.#records + records > this.#bound) return false;
    this.#records += records;
    const queue = this.#queues[channel]!;
    if (isTimeSignal(element)) dropOutdated(queue, element.kind);
    queue.push(element);
    return true;
  }

  /** The oldest element held from the channel. */
  take(channel: number): Arrival<T> | undefined {
    const queue = this.#queues[channel]!;
    const head = this.#heads[channel]!;
    const element = queue[head];
    if (element === undefined) return undefined;
    this.#records -= recordsIn(element);
    // Moves what is left once it is no more than what was taken: O(1) amortised, and a queue that never empties does not grow.
    const taken = head + 1;
    const isWorthMoving = taken * 2 >= queue.length;
    if (isWorthMoving) queue.splice(0, taken);
    this.#heads[channel] = isWorthMoving ? 0 : taken;
    return element;
  }
}

/**
 * A watermark or idle flag outdates the one before it unless there was something else in between, so a channel that is blocked for long
 * never fills with them: between two other elements there is at most one of each.
 */
function dropOutdated<T>(queue: Arrival<T>[], kind: 'watermark' | 'idle'): void {
  for (let i = queue.length - 1; i >= 0 && isTimeSignal(queue[i]!); i--) {
    if (queue[i]!.kind !== kind) continue;
    queue.splice(i, 1);
    return;
  }
}

function isTimeSignal<T>(element: Arrival<T>): element is Extract<Arrival<T>, { kind: 'watermark' | 'idle' }> {
  return element.kind === 'watermark' || element.kind === 'idle';
}

function recordsIn<T>(element: Arrival<T>): number {
  return element.kind === 'batch' ? element.records.length : 0;
}
