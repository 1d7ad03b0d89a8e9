import type { KeyedStateStore, MapState, StateDeclaration } from '../contracts/state-backend.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Handles, States } from '../state/descriptors.js';
import { TimerQueue, type Timer } from '../time/timer-queue.js';
import { TIMER_DOMAINS, timerStateOf } from '../time/timer-states.js';
import type { TimeDomain, Timers } from '../time/timers.js';
import { BATCH_SIZE } from '../element/element.js';
import type { BatchBuffer } from './batch-buffer.js';
import { refuseLate, refusePromise } from './handler-misuse.js';
import type { TimerContext, TimerHandler } from './key-context.js';
import type { KeyedState } from './keyed-state.js';
import type { OperatorContext } from './operator.js';
import { RECORDS_PER_LOOK, type EventTimeWork } from './per-batch.js';
import { operatorFailure } from './user-code.js';

export const TIMER_STATES: readonly StateDeclaration[] = TIMER_DOMAINS.map((domain) => ({
  name: timerStateOf(domain),
  kind: 'map',
  serializer: defaultSerializer,
}));

/**
 * The timers of one operator's keys, over its life. The state has them, the queues say which is next: these are built anew when state was restored
 * (Flink: InternalTimerServiceImpl).
 */
export class KeyedTimers<O> implements EventTimeWork {
  readonly #context: OperatorContext;
  readonly #keyed: KeyedState;
  readonly #call: ((timer: Timer, domain: TimeDomain) => void) | undefined;
  readonly #queues: Readonly<Record<TimeDomain, TimerQueue>> = {
    event: new TimerQueue(),
    processing: new TimerQueue(),
  };
  #times: Readonly<Record<TimeDomain, MapState<Key, unknown>>> | undefined;
  #output: BatchBuffer<O> | undefined;
  /** When the clock calls next. */
  #armed: { readonly time: number; readonly cancel: () => void } | undefined;

  /** Without `onTimer` there are none, and registering one is refused. */
  constructor(
    context: OperatorContext,
    keyed: KeyedState,
    onTimer: TimerHandler<never, never, O> | undefined,
    self: unknown,
  ) {
    this.#context = context;
    this.#keyed = keyed;
    if (onTimer !== undefined) this.#call = this.#caller(onTimer, self);
  }

  /** What handlers use; `keyNow` gives the key of the one that runs. */
  of(keyNow: () => Key | undefined): Timers {
    return {
      registerEventTime: (time) => {
        this.#register('event', keyNow(), time);
      },
      registerProcessingTime: (time) => {
        this.#register('processing', keyNow(), time);
      },
      deleteEventTime: (time) => {
        this.#delete('event', keyNow(), time);
      },
      deleteProcessingTime: (time) => {
        this.#delete('processing', keyNow(), time);
      },
      currentWatermark: () => this.#keyed.watermark,
      now: () => this.#context.clock.now(),
    };
  }

  /** Where timers emit. */
  attach(output: BatchBuffer<O>): void {
    this.#output = output;
  }

  /** After state was opened and restored. What fell due meanwhile is called as soon as the subtask runs. */
  open(): void {
    if (this.#call === undefined) return;
    const { store } = this.#keyed;
    this.#times = { event: timesOf(store, 'event'), processing: timesOf(store, 'processing') };
    for (const domain of TIMER_DOMAINS) {
      for (const entry of store.entries(timerStateOf(domain)))
        if (entry.kind === 'map') this.#queues[domain].add(entry.key, entry.mapKey as number);
    }
    this.#arm();
  }

  close(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
  }

  advance(watermark: number): boolean {
    return this.#keyed.advance(watermark) && this.#isDue('event', watermark);
  }

  step(): boolean {
    return this.#fire('event', this.#keyed.watermark);
  }

  #isDue(domain: TimeDomain, time: number): boolean {
    const { first } = this.#queues[domain];
    return first !== undefined && first.time <= time;
  }

  /** Calls a few of the timers that are due, up to a full batch; true if there are more. One is gone before it is called: it may register itself again. */
  #fire(domain: TimeDomain, now: number): boolean {
    const call = this.#call;
    const { sent } = this.#output as BatchBuffer<O>;
    for (let calls = 0; call !== undefined && this.#isDue(domain, now); calls++) {
      if (calls === RECORDS_PER_LOOK || this.#output?.sent !== sent) return true;
      const timer = this.#queues[domain].poll() as Timer;
      this.#keyed.store.setCurrentKey(timer.key);
      this.#times?.[domain].delete(timer.time);
      call(timer, domain);
    }
    return false;
  }

  readonly #onClock = (): void => {
    const { clock, flow } = this.#context;
    this.#armed = undefined;
    const now = clock.now();
    try {
      // What does not fit now is called in a turn of its own, so that barriers get in between.
      while (this.#fire('processing', now) && flow.isOpen());
      this.#output?.flush();
    } catch (error) {
      throw operatorFailure(this.#context, error);
    }
    this.#arm();
  };

  #arm(): void {
    const { first } = this.#queues.processing;
    if (first === undefined || (this.#armed !== undefined && this.#armed.time <= first.time)) return;
    this.#armed?.cancel();
    const { clock } = this.#context;
    this.#armed = {
      time: first.time,
      cancel: this.#context.timer(Math.max(0, first.time - clock.now()), this.#onClock),
    };
  }

  #register(domain: TimeDomain, key: Key | undefined, time: number): void {
    if (this.#call === undefined) throw this.#violation('registers a timer but has no onTimer. Give it one.');
    const checked = this.#check(key, time);
    if (checked === undefined || !this.#queues[domain].add(checked.key, checked.time)) return;
    this.#times?.[domain].set(checked.time, true);
    if (domain === 'processing') this.#arm();
  }

  #delete(domain: TimeDomain, key: Key | undefined, time: number): void {
    const checked = this.#check(key, time);
    if (checked === undefined || !this.#queues[domain].remove(checked.key, checked.time)) return;
    this.#times?.[domain].delete(checked.time);
  }

  #check(key: Key | undefined, time: number): Timer | undefined {
    if (!Number.isFinite(time))
      throw this.#violation(`uses a timer at ${String(time)}. A time is a finite number of milliseconds.`);
    if (key === undefined) {
      refuseLate(this.#context, 'timers');
      return undefined;
    }
    return { key, time };
  }

  #violation(what: string): WeirError {
    const { uid, job } = this.#context;
    return new WeirError('PROTOCOL_VIOLATION', `Operator ${uid} of job ${job} ${what}`, { recoverable: false });
  }

  /** As the loop over records, for one timer. */
  #caller(onTimer: TimerHandler<never, never, O>, self: unknown): (timer: Timer, domain: TimeDomain) => void {
    let current: Mutable<TimerContext<Key, States>> | undefined;
    let isInHandler = false;
    const { held } = this.#keyed;
    let firstObject = -1;
    const emit = (value: O): void => {
      if (!isInHandler) refuseLate(this.#context, 'emit');
      else if (this.#output !== undefined) {
        if (firstObject < 0 && typeof value === 'object') firstObject = this.#output.count;
        this.#output.addAt(value, current?.timestamp);
        if (this.#output.count >= BATCH_SIZE) firstObject = held.makeRoom(this.#output, firstObject);
      }
    };
    const timers = this.of(() => (isInHandler ? current?.key : undefined));
    return ({ key, time }, domain) => {
      current ??= {
        key,
        timestamp: undefined,
        domain,
        state: this.#keyed.handles as unknown as Handles<States>,
        timers,
      };
      current.key = key;
      if (this.#output !== undefined) this.#output.key = key;
      current.domain = domain;
      current.timestamp = domain === 'event' ? time : undefined;
      isInHandler = true;
      firstObject = -1;
      try {
        // Key and states are those that the handler's operator declares.
        const returned: unknown = onTimer.call(self, time, current as TimerContext<never, never>, emit);
        if (returned !== undefined) refusePromise(this.#context, returned);
        if (firstObject >= 0 && this.#output !== undefined) held.settle(this.#output, firstObject);
        if (held.hasNotes) held.forget();
      } finally {
        isInHandler = false;
      }
    };
  }
}

type Mutable<T> = { -readonly [N in keyof T]: T[N] };

function timesOf(store: KeyedStateStore, domain: TimeDomain): MapState<Key, unknown> {
  // It is declared as map state above.
  return store.handle(timerStateOf(domain)) as MapState<Key, unknown>;
}
