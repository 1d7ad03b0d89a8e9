import type { Random } from '@weir/core/contracts';
import { CrashPlan } from './crash-plan.js';
import { noFaults, type FaultClass, type FaultCounts } from './fault-classes.js';
import type { ChanceFault, FaultProfile } from './fault-profile.js';
import type { SimulatedClock } from './simulated-clock.js';
import { SimulatedFault } from './simulated-fault.js';
import type { Trace } from './trace.js';

/** The outside that is asked for something and answers. */
export type Outside = 'storage' | 'commit';

/** What happens to a message on its way: undefined is at once, and once. */
export interface MessageFate {
  readonly lateMs: number | undefined;
  readonly againMs: number | undefined;
}

/** Everything that happens to the job of one run, over all of its processes. With `profile` undefined nothing does. */
export class Faults {
  readonly #random: Random;
  readonly #profile: FaultProfile | undefined;
  readonly #counts = noFaults();
  readonly #crashes: CrashPlan;
  #clock: SimulatedClock | undefined;
  #trace: Trace;
  #isCalm: boolean;
  #subtaskDies = false;

  constructor(random: Random, profile: FaultProfile | undefined, trace: Trace) {
    this.#random = random;
    this.#profile = profile;
    this.#isCalm = profile === undefined;
    this.#trace = trace;
    this.#crashes = new CrashPlan(random, {
      process: profile?.processCrashes ?? 0,
      subtask: profile?.subtaskCrashes ?? 0,
    });
  }

  get counts(): FaultCounts {
    return this.#counts;
  }
  get random(): Random {
    return this.#random;
  }
  /** Nothing goes wrong, or not any more. */
  get isCalm(): boolean {
    return this.#isCalm;
  }

  /** A process begins; `steps` is what it takes without faults. */
  begin(clock: SimulatedClock, trace: Trace, steps: number): void {
    this.#clock = clock;
    this.#trace = trace;
    this.#subtaskDies = false;
    if (!this.#isCalm) this.#crashes.begun(steps);
  }
  /** From now on everything goes well. */
  calm(): void {
    this.#isCalm = true;
  }

  /** A step is over. True: the process dies. */
  stepped(): boolean {
    if (this.#isCalm) return false;
    switch (this.#crashes.stepped()) {
      case undefined:
        return false;
      case 'subtask':
        this.#subtaskDies = true;
        return false;
      case 'process':
        this.count('process-crash', 'the process dies');
        return true;
    }
  }

  checkpointCompleted(isFinal: boolean): void {
    if (!this.#isCalm) this.#crashes.completed(isFinal);
  }
  restored(): void {
    this.#crashes.restored();
  }
  /** Something has happened that a crash might tear apart. */
  provoked(probability: number): void {
    if (!this.#isCalm) this.#crashes.provoked(probability);
  }

  /** A place in a subtask where its code may fail. */
  visit(place: string): void {
    if (!this.#subtaskDies || this.#isCalm) return;
    this.#subtaskDies = false;
    this.count('subtask-crash', place);
    throw new SimulatedFault(`crash in ${place}`);
  }

  /** Asks the outside for something. It takes its time, may fail before or after it has done it, and each moment is a step of the run. */
  async ask<T>(outside: Outside, what: string, act: () => Promise<T>): Promise<T> {
    if (this.strikes('never-answers', what)) return this.#hang(act);
    await this.wait(this.#latency(outside, what));
    if (this.strikes(`${outside}-failure`, what)) throw new SimulatedFault(`${what} failed`);
    const result = await act();
    this.#trace.add(() => `${outside}: ${what}`);
    this.provoked(outside === 'commit' || what.startsWith('publish') ? 0.15 : 0.01);
    await this.wait(this.#random());
    if (this.strikes(`${outside}-lost-answer`, what)) throw new SimulatedFault(`the answer to ${what} was lost`);
    return result;
  }

  /** Calls something that opens or closes nothing by itself; it may hang instead. */
  async call<T>(what: string, act: () => T | PromiseLike<T>): Promise<T> {
    return this.strikes('never-answers', what) ? never() : act();
  }

  /** Half of the time it is done all the same. */
  async #hang<T>(act: () => Promise<T>): Promise<T> {
    if (this.#random() < 0.5) await act().catch(() => undefined);
    return never();
  }

  /** For how long `place` lets the others wait, if it does. */
  slowness(place: string): number | undefined {
    return this.strikes('slow-channel', place) ? 1 + this.#random() * 30 : undefined;
  }

  message(what: string): MessageFate {
    const lateMs = this.strikes('late-message', what) ? this.#farAway() : undefined;
    const againMs = this.strikes('duplicate-message', what) ? this.#farAway() : undefined;
    return { lateMs, againMs };
  }

  /** Whether a fault strikes now; counts it. */
  strikes(fault: ChanceFault, what: string): boolean {
    if (this.#profile === undefined || this.#isCalm) return false;
    if (this.#counts[fault] >= this.#profile.most[fault] || this.#random() >= this.#profile.rates[fault]) return false;
    this.count(fault, what);
    return true;
  }

  count(fault: FaultClass, what: string): void {
    this.#counts[fault]++;
    this.#trace.add(() => `FAULT ${fault}: ${what}`);
  }

  /** Settles when that much time has passed in the process that runs now. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        cancel?.();
        reject(signal?.reason as Error);
      };
      const cancel = this.#clock?.later(ms, () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      });
      if (signal?.aborted === true) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Runs an action of the world later, unless the process is over by then. */
  later(ms: number, action: () => void): void {
    this.#clock?.later(ms, action);
  }

  #latency(outside: Outside, what: string): number {
    if (this.strikes(`${outside}-delay`, what)) return 10 * 100 ** this.#random();
    return this.#random();
  }

  /** Mostly a few steps, sometimes longer than an attempt or a process lives. */
  #farAway(): number {
    return 0.5 * 2000 ** this.#random();
  }
}

/** The answer of somebody who hangs. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
