import type { OperatorFunction } from 'rxjs';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type { StreamElement } from '../element/element.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import type { Handles, States } from '../state/descriptors.js';
import type { BatchBuffer } from './batch-buffer.js';
import type { KeyedState } from './keyed-state.js';
import type { OperatorContext } from './operator.js';
import { inLoops, type RecordLoop } from './per-batch.js';

export type Emit<in O> = (value: O) => void;
/** Handlers are synchronous; plain `void` would accept an async function. */
export type Sync = void | undefined;
/** What a handler works with. The same object for every record: neither it nor what its states give may be kept after the handler returns. */
export interface KeyContext<out K, out S extends States> {
  readonly key: K;
  readonly state: Handles<S>;
  /** Event time of the record, epoch ms. */
  readonly timestamp: number | undefined;
}
export type KeyedHandler<in T, K, S extends States, O> = (record: T, context: KeyContext<K, S>, emit: Emit<O>) => Sync;

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

/**
 * Runs a handler for each record, with the state of the record's key and without an allocation of ours. `self` is the `this` of
 * the handler: what `bind` makes is dearer to call.
 */
export function perKeyedRecord<T, K extends Key, S extends States, O>(
  context: OperatorContext,
  keyed: KeyedState,
  keyOf: (record: T) => K,
  handler: KeyedHandler<T, K, S, O>,
  self?: unknown,
): OperatorFunction<StreamElement<T>, StreamElement<O>> {
  return inLoops(context, (output) => keyedLoop(context, keyed, keyOf, handler, self, output));
}

function keyedLoop<T, K extends Key, S extends States, O>(
  context: Pick<OperatorContext, 'uid' | 'job' | 'runInMailbox'>,
  keyed: KeyedState,
  keyOf: (record: T) => K,
  handler: KeyedHandler<T, K, S, O>,
  self: unknown,
  output: BatchBuffer<O>,
): RecordLoop<T> {
  let current: { key: K; timestamp: number | undefined; readonly state: Handles<S> } | undefined;
  let eventTime: number | undefined;
  let isInHandler = false;
  const emit = (value: O): void => {
    if (!isInHandler) refuseLate(context);
    else if (eventTime === undefined) output.push(value);
    else output.pushAt(value, eventTime);
  };
  return (batch, from, to) => {
    const keys = keyed.keysOf(batch, keyOf);
    const store = keyed.hasStates ? keyed.store : undefined;
    const { records, timestamps } = batch;
    const { sent } = output;
    // The handles of the backend are exactly those that the descriptors of S declare.
    current ??= { key: keys[from] as K, timestamp: undefined, state: keyed.handles as unknown as Handles<S> };
    current.timestamp = eventTime = undefined;
    isInHandler = true;
    try {
      for (let i = from; i < to; i++) {
        const key = keys[i] as K;
        store?.setCurrentKey(key, i);
        current.key = key;
        if (timestamps !== undefined) current.timestamp = eventTime = timestamps[i];
        const returned: unknown = handler.call(self, records[i] as T, current, emit);
        if (returned !== undefined) refusePromise(context, returned);
        if (output.sent !== sent) return i + 1;
      }
    } finally {
      isInHandler = false;
    }
    return to;
  };
}

/** What is emitted from a timer or a promise belongs to no record, so no checkpoint could tell whether it was counted. */
function refuseLate({ uid, job, runInMailbox }: Pick<OperatorContext, 'uid' | 'job' | 'runInMailbox'>): void {
  runInMailbox(() => {
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `Operator ${uid} of job ${job} called emit after its handler had returned, from a timer or a promise. Emit while the handler runs.`,
      { recoverable: false },
    );
  });
}

/** What an asynchronous handler does after its first `await` belongs to no record: it would change the state of another key, or be lost. */
function refusePromise({ uid, job }: Pick<OperatorContext, 'uid' | 'job'>, returned: unknown): void {
  if (typeof (returned as Partial<PromiseLike<unknown>> | null)?.then !== 'function') return;
  // The failure below counts; that of the handler has nobody else to hear it.
  void Promise.resolve(returned).catch(() => undefined);
  throw new WeirError(
    'OPERATOR_FAILED',
    `Operator ${uid} of job ${job}: its handler returned a promise, but handlers are synchronous. Make it a plain function.`,
    { recoverable: false },
  );
}
