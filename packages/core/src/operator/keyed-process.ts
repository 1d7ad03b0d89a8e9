import { closeInTurn } from '../contracts/all-of.js';
import type { Clock } from '../contracts/clock.js';
import type { OperatorUid } from '../element/ids.js';
import type { Key, KeyOf } from '../element/key.js';
import type { KeyType } from '../element/key-type.js';
import { declarations, type DeclaredState, type States } from '../state/descriptors.js';
import { droppedNames } from '../state/dropped.js';
import type { Declared } from '../state/state-match.js';
import type { KeyedHandler, TimerHandler } from './key-context.js';
import { perKeyedRecord, type KeyedHandlers, type OpenClose } from './keyed-handler.js';
import { KeyedState } from './keyed-state.js';
import { OneAtATime } from './one-at-a-time.js';
import { KeyedTimers, TIMER_STATES } from './keyed-timers.js';
import type { DeclaredStates, Operator, OperatorContext } from './operator.js';
import { storedNames } from './stored-names.js';

export interface KeyedProcessDefinition<T, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly keyOf: KeyOf<T, K>;
  /** The keyBy in front, for messages. */
  readonly keyedAt?: string | undefined;
  /** What keys may be, where that is declared. */
  readonly keyTypes?: readonly KeyType[] | undefined;
  /** What a handler emits has the key that it ran for. Default false. */
  readonly keepsKeys?: boolean | undefined;
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
    readonly keyTypes?: readonly KeyType[] | undefined;
    readonly keepsKeys?: boolean | undefined;
  },
): KeyedHandlers<O> {
  const { state, self, onTimer, keyTypes, keepsKeys = false } = definition;
  const declared = keyedStates(context.uid, state, onTimer !== undefined, context.clock);
  const keyed = new KeyedState(context, declared.keyed.states, { dropped: declared.keyed.dropped, keyTypes });
  const timers = new KeyedTimers<O>(context, keyed, onTimer, self);
  return { context, declared, keyed, self, timers, work: new OneAtATime(context.flow), keepsKeys };
}

/** Everything that an operator of keyed handlers keeps in checkpoints. */
export function keyedStates(
  uid: OperatorUid,
  states: States,
  hasTimers: boolean,
  clock: Clock,
): DeclaredStates & { readonly keyed: Declared<DeclaredState>; readonly operator: Declared<never> } {
  const dropped = droppedNames(states);
  return {
    keyed: { states: [...declarations(uid, states, clock), ...(hasTimers ? TIMER_STATES : [])], dropped },
    operator: { states: [], dropped },
  };
}

/** State first, then the user's hooks, then timers that are overdue; closed the other way round. */
export function keyedLife<O>(
  { context, declared, keyed, timers }: KeyedHandlers<O>,
  hooks: OpenClose,
): Omit<Operator, 'connect'> {
  return {
    ...keyed.life,
    restore(state) {
      storedNames(context, declared.operator, state);
      return keyed.life.restore?.(state);
    },
    async open() {
      await keyed.open();
      await hooks.open?.(context);
      timers.open();
    },
    async close() {
      timers.close();
      await closeInTurn([() => hooks.close?.(), () => keyed.close()]);
    },
  };
}
