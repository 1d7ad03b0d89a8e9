import type { Clock, Random } from '@weir/core/contracts';

const LONGEST_PAUSE_MS = 365 * 24 * 60 * 60 * 1000;

export interface ScheduleTiming {
  readonly intervalMs: number;
  readonly minPauseMs: number;
}

/** A pause longer than the interval stretches it. */
export function effectiveInterval({ intervalMs, minPauseMs }: ScheduleTiming): number {
  return Math.max(intervalMs, Math.min(minPauseMs, LONGEST_PAUSE_MS));
}

/** Uniform over the whole milliseconds from the minimum pause to the effective interval, both included: jobs started together spread out. */
export function firstDelay(timing: ScheduleTiming, random: Random): number {
  const shortest = Math.min(timing.minPauseMs, LONGEST_PAUSE_MS);
  return shortest + Math.floor(random() * (effectiveInterval(timing) - shortest + 1));
}

/** In step with `due`, and after `now`: what a blocked event loop has missed is missed (Flink makes up for it). */
export function nextDue(due: number, now: number, intervalMs: number): number {
  return due + intervalMs * (1 + Math.floor(Math.max(0, now - due) / intervalMs));
}

/** Fires at a fixed rate while it runs (Flink: CheckpointCoordinator.ScheduledTrigger). */
export class PeriodicSchedule {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timing: ScheduleTiming;
  readonly #fire: () => void;
  #due = 0;
  #cancel: (() => void) | undefined;

  constructor(parts: { clock: Clock; random: Random; timing: ScheduleTiming; fire: () => void }) {
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#timing = parts.timing;
    this.#fire = parts.fire;
  }

  get isRunning(): boolean {
    return this.#cancel !== undefined;
  }

  start(): void {
    this.#arm(this.#clock.monotonic() + firstDelay(this.#timing, this.#random));
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** The next firing comes in exactly `delayMs` instead, and the rate goes on from there. Nothing happens while stopped. */
  postpone(delayMs: number): void {
    if (this.isRunning) this.#arm(this.#clock.monotonic() + delayMs);
  }

  #arm(due: number): void {
    this.#cancel?.();
    this.#due = due;
    this.#cancel = this.#clock.timer(Math.max(0, due - this.#clock.monotonic()), () => {
      // Armed again before firing, from the due time rather than from now: neither a late timer nor a failing trigger slows the rate.
      this.#arm(nextDue(this.#due, this.#clock.monotonic(), effectiveInterval(this.#timing)));
      this.#fire();
    });
  }
}
