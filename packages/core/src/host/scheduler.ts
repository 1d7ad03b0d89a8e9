import type { Clock } from '../contracts/clock.js';
import type { Slice } from '../contracts/state-backend.js';
import { WeirError } from '../errors.js';

/** One event-loop turn's share for subtasks; timers, I/O and other code of the process run between two turns. */
const TURN_MS = 4;
/** A subtask's share of a turn while others wait. */
const SUBTASK_MS = 1;
/** A turn's share for work in the background, after the subtasks': as much as theirs, since what is captured costs the more the longer it is open. */
const BACKGROUND_MS = 4;

/** Something that works in slices: `run` says whether there is more to do right now. */
export interface Runnable {
  run(slice: Pick<Slice, 'isOver'>): boolean;
}

/**
 * Shares one thread fairly: in every turn of the event loop the ready subtasks run in rounds, then work in the background (writing captures) gets
 * a slice of its own, so that neither starves the other.
 */
export class Scheduler {
  readonly #clock: Clock;
  #ready: Runnable[] = [];
  readonly #queued = new Set<Runnable>();
  readonly #background: BackgroundSlice[] = [];
  #cancelTurn: (() => void) | undefined;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has `runnable` run soon; once, however often it is called. */
  wake(runnable: Runnable): void {
    if (this.#stopped || this.#queued.has(runnable)) return;
    this.#queued.add(runnable);
    this.#ready.push(runnable);
    this.#scheduleTurn();
  }

  /** A slice for one piece of background work; `next` rejects once `signal` aborts, or the scheduler stops. */
  backgroundSlice(signal: AbortSignal): Slice {
    const slice: BackgroundSlice = { end: 0, waiter: undefined };
    return {
      isOver: () => this.#clock.monotonic() >= slice.end,
      next: () =>
        new Promise((resolve, reject) => {
          const leave = (): void => {
            slice.waiter = undefined;
            signal.removeEventListener('abort', onAbort);
          };
          const refuse = (reason: Error): void => {
            leave();
            reject(reason);
          };
          const onAbort = (): void => {
            refuse(signal.reason as Error);
          };
          if (signal.aborted) onAbort();
          else if (this.#stopped) refuse(stopped());
          else {
            signal.addEventListener('abort', onAbort, { once: true });
            const grant = (): void => {
              leave();
              resolve();
            };
            slice.waiter = { grant, refuse };
            this.#background.push(slice);
            this.#scheduleTurn();
          }
        }),
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#ready = [];
    this.#queued.clear();
    this.#cancelTurn?.();
    this.#cancelTurn = undefined;
    for (const { waiter } of this.#background.splice(0)) waiter?.refuse(stopped());
  }

  #scheduleTurn(): void {
    this.#cancelTurn ??= this.#clock.nextTurn(() => {
      this.#cancelTurn = undefined;
      this.#turn();
    });
  }

  #turn(): void {
    const end = this.#clock.monotonic() + TURN_MS;
    for (let runnable = this.#ready.shift(); runnable !== undefined; runnable = this.#ready.shift()) {
      this.#queued.delete(runnable);
      const sliceEnd = this.#ready.length === 0 ? end : Math.min(end, this.#clock.monotonic() + SUBTASK_MS);
      let isOver = false;
      const more = runnable.run({ isOver: () => (isOver ||= this.#clock.monotonic() >= sliceEnd) });
      if (more) this.wake(runnable);
      if (this.#clock.monotonic() >= end) break;
    }
    this.#grantBackground();
    if (this.#ready.length > 0 || this.#background.length > 0) this.#scheduleTurn();
  }

  /** The work goes on in a microtask, right after this turn: one piece per turn, the longest waiting first. */
  #grantBackground(): void {
    for (let slice = this.#background.shift(); slice !== undefined; slice = this.#background.shift()) {
      if (slice.waiter === undefined) continue;
      slice.end = this.#clock.monotonic() + BACKGROUND_MS;
      slice.waiter.grant();
      return;
    }
  }
}

interface BackgroundSlice {
  end: number;
  /** Undefined while nobody waits for the next slice. */
  waiter: { readonly grant: () => void; readonly refuse: (reason: Error) => void } | undefined;
}

function stopped(): WeirError {
  return new WeirError('JOB_NOT_RUNNING', 'Nothing is scheduled any more: the attempt has ended.');
}
