import { isPromiseLike } from '../contracts/awaitable.js';
import type { Clock } from '../contracts/clock.js';
import type { JobEventBody } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import type { Counter, Metrics } from '../contracts/metrics.js';
import type { JobName } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { CALLS, timeoutOf, type Call, type CallName, type CallTimeouts } from './calls.js';

/** Calls to plugins, which may hang. */
export interface CallBounds {
  /**
   * What `act` returns. A promise is waited for no longer than the call may take: then this rejects with CALL_TIMED_OUT, or, if the call was to close
   * something, settles and says so. `of`: who is called, as it reads in a message.
   */
  run<R>(call: CallName, of: string, act: () => R, options?: CallOptions<Awaited<R>>): R;
}
export interface CallOptions<T> {
  /** Gives back what came too late. */
  readonly late?: ((answer: T) => unknown) | undefined;
  /** For what the call is told to wait for itself, or for as many bytes as it moves. */
  readonly extraMs?: number | undefined;
  /** Another value than before: the call moves. Counts for calls that are bounded without progress. */
  readonly progress?: (() => unknown) | undefined;
}

export interface BoundedCallsOptions {
  readonly job: JobName;
  readonly timeouts: CallTimeouts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly emit: (event: JobEventBody) => void;
}

/** After so much of its time a call that has not answered is told of. */
const STALLED_SHARE = 0.25;

/** The calls of one job to its storage, sources, sinks and state, each of which answers, or is given up after its time. */
export class BoundedCalls implements CallBounds {
  readonly #options: BoundedCallsOptions;
  readonly #timedOut: Counter;
  readonly #hideGauge: () => void;
  /** Each stops the time of a call that has not answered. */
  readonly #underWay = new Set<() => void>();
  #stalled = 0;
  #isOver = false;

  constructor(options: BoundedCallsOptions) {
    const { job, metrics } = options;
    this.#options = options;
    this.#timedOut = metrics.counter('weir.calls.timed_out', { job });
    this.#hideGauge = metrics.gauge('weir.calls.stalled', () => this.#stalled, { job });
  }

  run<R>(call: CallName, of: string, act: () => R, options: CallOptions<Awaited<R>> = {}): R {
    const answer = act();
    if (!isPromiseLike(answer) || this.#isOver) return answer;
    // The same type: an answer that can be awaited is replaced by a promise of the same value.
    return this.#inTime(call, of, Promise.resolve(answer as PromiseLike<Awaited<R>>), options) as R;
  }

  /** The job is over: no time runs any more. */
  close(): void {
    this.#isOver = true;
    for (const stop of [...this.#underWay]) stop();
    this.#hideGauge();
  }

  #inTime<T>(call: CallName, of: string, answer: Promise<T>, options: CallOptions<T>): Promise<T> {
    const { clock, timeouts } = this.#options;
    const { bound }: Call = CALLS[call];
    const timeoutMs = timeoutOf(call, timeouts) + (options.extraMs ?? 0);
    const stalledMs = timeoutMs * STALLED_SHARE;
    const progress = bound === 'without progress' ? options.progress : undefined;
    return new Promise((resolve, reject) => {
      let seen = progress?.();
      let isStalled = false;
      const moves = (): boolean => {
        const before = seen;
        seen = progress?.();
        return !Object.is(before, seen);
      };
      const begin = (): (() => void) => clock.timer(stalledMs, onStalled);
      const stop = (): void => {
        cancel();
        this.#underWay.delete(stop);
        if (isStalled) this.#stalled--;
        isStalled = false;
      };
      const onStalled = (): void => {
        if (moves()) {
          cancel = begin();
          return;
        }
        isStalled = true;
        this.#stalled++;
        this.#options.emit({ kind: 'call-stalled', call, of, waitedMs: stalledMs, timeoutMs });
        // A process that was suspended finds this timer due before it has read any answer: then the rest of the time is still to come.
        cancel = clock.timer(timeoutMs - stalledMs, onTimeout);
      };
      const onTimeout = (): void => {
        if (moves()) {
          this.#stalled--;
          isStalled = false;
          cancel = begin();
          return;
        }
        stop();
        this.#timedOut.add(1);
        void this.#giveBack(call, of, answer, options.late);
        const error = this.#timeout(call, of, timeoutMs);
        if (bound !== 'closing') reject(error);
        else {
          this.#options.emit({ kind: 'warning', message: `${error.message} It is left behind.` });
          // Whoever closes something gets nothing from it.
          resolve(undefined as T);
        }
      };
      let cancel = begin();
      this.#underWay.add(stop);
      answer.finally(stop).then(resolve, reject);
    });
  }

  /** Nobody waits for the answer any more: what comes with it is given back, and that it fails is no news. */
  async #giveBack<T>(call: CallName, of: string, answer: Promise<T>, late: CallOptions<T>['late']): Promise<void> {
    try {
      await late?.(await answer);
    } catch (err) {
      this.#options.logger.debug({ call, of, err }, 'a call that was given up has failed');
    }
  }

  #timeout(call: CallName, of: string, timeoutMs: number): WeirError {
    const { contract, bound }: Call = CALLS[call];
    const [, name] = call.split('.');
    const how = bound === 'without progress' ? ' without any progress' : '';
    return new WeirError(
      'CALL_TIMED_OUT',
      `The ${of} of job ${this.#options.job} has not answered ${String(name)} for ${String(timeoutMs)} ms${how}. Look at what is behind it; if it may ` +
        `take that long, raise callTimeouts.${contract} (weir.call-timeout.${contract}).`,
    );
  }
}
