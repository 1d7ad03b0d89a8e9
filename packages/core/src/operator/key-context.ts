import type { Handles, States } from '../state/descriptors.js';
import type { TimeDomain, Timers } from '../time/timers.js';

export type Emit<in O> = (value: O) => void;
/** Handlers are synchronous; plain `void` would accept an async function. */
export type Sync = void | undefined;
/** What a handler works with. The same object for every record: neither it nor what its states give may be kept after the handler returns. */
export interface KeyContext<out K, out S extends States> {
  readonly key: K;
  readonly state: Handles<S>;
  /** Event time of the record or event-time timer, epoch ms: that of what is emitted. */
  readonly timestamp: number | undefined;
  /** Registering needs an `onTimer` (PROTOCOL_VIOLATION without). */
  readonly timers: Timers;
}
/** What `onTimer` works with. */
export interface TimerContext<out K, out S extends States> extends KeyContext<K, S> {
  readonly domain: TimeDomain;
}
export type KeyedHandler<in T, K, S extends States, O> = (record: T, context: KeyContext<K, S>, emit: Emit<O>) => Sync;
export type TimerHandler<K, S extends States, O> = (time: number, context: TimerContext<K, S>, emit: Emit<O>) => Sync;
