import type { OperatorFunction } from 'rxjs';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import { BATCH_SIZE, type StreamElement } from '../element/element.js';
import type { Key, KeyOf } from '../element/key.js';
import type { Handles, States } from '../state/descriptors.js';
import type { Declared } from '../state/state-match.js';
import type { Timers } from '../time/timers.js';
import type { BatchBuffer } from './batch-buffer.js';
import { refuseLate, refusePromise } from './handler-misuse.js';
import type { KeyedHandler } from './key-context.js';
import type { KeyedState } from './keyed-state.js';
import type { KeyedTimers } from './keyed-timers.js';
import type { OperatorContext } from './operator.js';
import type { OneAtATime } from './one-at-a-time.js';
import { inLoops, type RecordLoop } from './per-batch.js';

/** Where a handler runs: for `open` and `close`. */
export interface RuntimeContext {
  readonly subtask: number;
  readonly parallelism: number;
  readonly attempt: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}
export interface OpenClose {
  /** Before the first record of an attempt, after state was restored. */
  readonly open?: ((context: RuntimeContext) => Awaitable<void>) | undefined;
  /** At the end of an attempt, however it ends. */
  readonly close?: (() => Awaitable<void>) | undefined;
}

/** What the handlers of one operator have in common. */
export interface KeyedHandlers<O> {
  readonly context: OperatorContext;
  readonly declared: { readonly operator: Declared<never> };
  readonly keyed: KeyedState;
  /** The `this` of the handlers: what `bind` makes is dearer to call. */
  readonly self: unknown;
  readonly timers: KeyedTimers<O>;
  /** Of all inputs: one record or watermark after the other. */
  readonly work: OneAtATime;
  /** What a handler emits has the key that it ran for. */
  readonly keepsKeys: boolean;
}

/** Runs a handler for each record, with the state of the record's key and without an allocation of ours. The first input brings event time too. */
export function perKeyedRecord<T, K extends Key, S extends States, O>(
  handlers: KeyedHandlers<O>,
  keyOf: KeyOf<T, K>,
  handler: KeyedHandler<T, K, S, O>,
  keyedAt?: string,
  input: 'first' | 'second' = 'first',
): OperatorFunction<StreamElement<T>, StreamElement<O>> {
  const { context, timers, work } = handlers;
  return inLoops(
    context,
    (output) => {
      if (handlers.keepsKeys) output.keepKeys();
      if (input === 'first') timers.attach(output);
      return keyedLoop(handlers, keyOf, handler, output, keyedAt);
    },
    input === 'first' ? timers : undefined,
    work,
  );
}

function keyedLoop<T, K extends Key, S extends States, O>(
  { context, keyed, keepsKeys, self, timers }: KeyedHandlers<O>,
  keyOf: KeyOf<T, K>,
  handler: KeyedHandler<T, K, S, O>,
  output: BatchBuffer<O>,
  keyedAt: string | undefined,
): RecordLoop<T> {
  let current:
    { key: K; timestamp: number | undefined; readonly state: Handles<S>; readonly timers: Timers } | undefined;
  let eventTime: number | undefined;
  let isInHandler = false;
  const { held, hasStates } = keyed;
  // Of this call: where its first object is among what was emitted. Without states nothing is both kept and emitted.
  let firstObject = -1;
  const emit = (value: O): void => {
    if (!isInHandler) {
      refuseLate(context, 'emit');
      return;
    }
    if (firstObject < 0 && hasStates && typeof value === 'object') firstObject = output.count;
    if (eventTime === undefined) output.add(value);
    else output.addAt(value, eventTime);
    if (output.count >= BATCH_SIZE) firstObject = held.makeRoom(output, firstObject);
  };
  const keyNow = (): K | undefined => (isInHandler ? current?.key : undefined);
  return (batch, from, to) => {
    const keys = keyed.keysOf(batch, keyOf, keyedAt);
    const store = keyed.hasStates ? keyed.store : undefined;
    const { records, timestamps } = batch;
    const { sent } = output;
    // The handles of the backend are exactly those that the descriptors of S declare.
    current ??= {
      key: keys[from] as K,
      timestamp: undefined,
      state: keyed.handles as unknown as Handles<S>,
      timers: timers.of(keyNow),
    };
    current.timestamp = eventTime = undefined;
    isInHandler = true;
    try {
      for (let i = from; i < to; i++) {
        const key = keys[i] as K;
        store?.setCurrentKey(key, i);
        current.key = key;
        if (keepsKeys) output.key = key;
        if (timestamps !== undefined) current.timestamp = eventTime = timestamps[i];
        const returned: unknown = handler.call(self, records[i] as T, current, emit);
        if (returned !== undefined) refusePromise(context, returned);
        if (firstObject >= 0) {
          held.settle(output, firstObject);
          firstObject = -1;
        }
        if (held.hasNotes) held.forget();
        if (output.sent !== sent) return i + 1;
      }
    } finally {
      isInHandler = false;
    }
    return to;
  };
}
