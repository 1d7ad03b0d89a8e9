import type { Clock } from '@weir/core/contracts';
import { realTurn } from './adapters/real-turn.js';

interface Entry {
  readonly due: number;
  readonly order: number;
  readonly action: () => void;
}

/**
 * A clock that stands still until it is advanced. Actions run one at a time in the order of their due time (then of their registration),
 * and promises settle between two actions, so a run is the same every time.
 */
export class VirtualClock implements Clock {
  #time: number;
  readonly #start: number;
  #order = 0;
  readonly #timers = new Set<Entry>();
  #turns: Entry[] = [];

  constructor(start = 0) {
    this.#time = start;
    this.#start = start;
  }

  now(): number {
    return this.#time;
  }
  monotonic(): number {
    return this.#time - this.#start;
  }
  timer(delayMs: number, action: () => void): () => void {
    const entry: Entry = { due: this.#time + Math.max(0, delayMs), order: this.#order++, action };
    this.#timers.add(entry);
    return () => {
      this.#timers.delete(entry);
    };
  }
  nextTurn(action: () => void): () => void {
    const entry: Entry = { due: this.#time, order: this.#order++, action };
    this.#turns.push(entry);
    return () => {
      this.#turns = this.#turns.filter((e) => e !== entry);
    };
  }

  /** Timers that are armed. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Lets everything run that needs no time to pass: promises, turns, and timers that are due. */
  async settle(maxSteps = 1_000_000): Promise<void> {
    for (let step = 0; step < maxSteps; step++) {
      await realTurn();
      if (!this.#runOne(this.#time)) return;
    }
    throw new Error(`virtual clock: still busy after ${String(maxSteps)} steps at time ${String(this.#time)}`);
  }

  /** Moves time forward by `ms`, running what falls due on the way. */
  async advance(ms: number): Promise<void> {
    const horizon = this.#time + ms;
    for (;;) {
      await this.settle();
      const next = this.#earliest();
      if (next === undefined || next.due > horizon) break;
      this.#time = Math.max(this.#time, next.due);
    }
    this.#time = horizon;
    await this.settle();
  }

  /** So much time passes without anything running, as behind a blocked event loop: what falls due meanwhile runs late, and together. */
  block(ms: number): void {
    this.#time += ms;
  }

  /** Advances timer by timer until `condition` holds; fails after `limitMs` of virtual time. */
  async until(condition: () => boolean, limitMs = 3_600_000): Promise<void> {
    const limit = this.#time + limitMs;
    for (;;) {
      await realTurn();
      if (condition()) return;
      if (this.#runOne(this.#time)) continue;
      const next = this.#earliest();
      if (next === undefined || next.due > limit) {
        throw new Error(
          `virtual clock: condition not met by ${String(this.#time)} (${String(this.#timers.size)} timers armed)`,
        );
      }
      this.#time = next.due;
    }
  }

  #earliest(): Entry | undefined {
    let first: Entry | undefined;
    for (const e of this.#timers)
      if (first === undefined || e.due < first.due || (e.due === first.due && e.order < first.order)) first = e;
    return first;
  }

  #runOne(now: number): boolean {
    const turn = this.#turns.shift();
    if (turn !== undefined) {
      turn.action();
      return true;
    }
    const timer = this.#earliest();
    if (timer === undefined || timer.due > now) return false;
    this.#timers.delete(timer);
    timer.action();
    return true;
  }
}
