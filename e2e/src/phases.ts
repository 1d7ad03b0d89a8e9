import { writeSync } from 'node:fs';

/** What a process is doing when it is killed. */
export const PHASES = ['start', 'restore', 'run', 'capture', 'write', 'publish', 'commit', 'stop', 'finish'] as const;
export type Phase = (typeof PHASES)[number];
/** Exit code of a process whose job was stopped before it was killed. */
export const STOPPED = 10;
/** What the child tells its parent: the phase it is in, or that a checkpoint is complete. */
export type Signal = Phase | 'checkpoint' | `stopped ${string}`;

/** Stop in the `nth` occurrence of `phase` for `lingerMs`, so that even the shortest phase can be hit. */
export interface Target {
  readonly phase: Phase;
  readonly nth: number;
  readonly lingerMs: number;
}

/** The pipe to the parent. Written synchronously: what was said is said, whatever happens next. */
const PARENT = 3;

/** Announces phases to the parent. */
export class PhaseTeller {
  readonly #target: Target;
  readonly #clock = new Int32Array(new SharedArrayBuffer(4));
  #base: Phase = 'start';
  #occurrences = 0;

  constructor(target: Target) {
    this.#target = target;
    this.enter('start');
  }

  /** A phase of the process as a whole. */
  base(phase: Phase): void {
    this.#base = phase;
    this.enter(phase);
  }
  enter(phase: Phase): void {
    this.say(phase);
    if (phase !== this.#target.phase || ++this.#occurrences !== this.#target.nth) return;
    // Blocks the process as a whole: the kill hits this very point.
    Atomics.wait(this.#clock, 0, 0, this.#target.lingerMs);
  }
  leave(): void {
    this.say(this.#base);
  }
  /** Where the savepoint is. */
  stopped(pointer: string): void {
    this.say(`stopped ${pointer}`);
  }
  say(signal: Signal): void {
    writeSync(PARENT, `${signal}\n`);
  }

  async during<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    this.enter(phase);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}
