import type { Key } from '../element/key.js';
import { declarations, type States } from '../state/descriptors.js';
import type { KeyedHandler, TimerHandler } from './key-context.js';
import { perKeyedRecord, type KeyedHandlers, type OpenClose } from './keyed-handler.js';
import { KeyedState } from './keyed-state.js';
import { KeyedTimers, TIMER_STATES } from './keyed-timers.js';
import type { Operator, OperatorContext } from './operator.js';

export interface KeyedProcessDefinition<T, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly keyOf: (record: T) => K;
  /** The keyBy in front, for messages. */
  readonly keyedAt?: string | undefined;
  /** The `this` of the handlers. */
  readonly self?: unknown;
  readonly onRecord: KeyedHandler<T, K, S, O>;
  readonly onTimer?: TimerHandler<K, S, O> | undefined;
}

/** Calls `onRecord` for every record with the state of the record's key (Flink: KeyedProcessFunction). */
export function keyedProcessOperator<T, K extends Key, S extends States, O>(
  context: OperatorContext,
  definition: KeyedProcessDefinition<T, K, S, O>,
): Operator<T, O> {
  const handlers = keyedHandlers(context, definition);
  return {
    ...keyedLife(handlers, definition),
    connect: (source) =>
      source.pipe(perKeyedRecord(handlers, definition.keyOf, definition.onRecord, definition.keyedAt)),
  };
}

/** State and timers for the handlers of an operator. */
export function keyedHandlers<K extends Key, S extends States, O>(
  context: OperatorContext,
  definition: {
    readonly state: S;
    readonly self?: unknown;
    readonly onTimer?: TimerHandler<K, S, O> | undefined;
  },
): KeyedHandlers<O> {
  const { state, self, onTimer } = definition;
  const keyed = new KeyedState(context, [
    ...declarations(context.uid, state, context.clock),
    ...(onTimer === undefined ? [] : TIMER_STATES),
  ]);
  return { context, keyed, self, timers: new KeyedTimers<O>(context, keyed, onTimer, self) };
}

/** State first, then the user's hooks, then timers that are overdue; closed the other way round. */
export function keyedLife<O>(
  { context, keyed, timers }: KeyedHandlers<O>,
  hooks: OpenClose,
): Omit<Operator, 'connect'> {
  return {
    ...keyed.life,
    async open() {
      await keyed.open();
      await hooks.open?.(context);
      timers.open();
    },
    async close() {
      timers.close();
      try {
        await hooks.close?.();
      } finally {
        await keyed.close();
      }
    },
  };
}
