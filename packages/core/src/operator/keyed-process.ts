import type { Key } from '../element/key.js';
import { declarations, type States } from '../state/descriptors.js';
import { perKeyedRecord, type KeyedHandler, type OpenClose } from './keyed-handler.js';
import { KeyedState } from './keyed-state.js';
import type { Operator, OperatorContext } from './operator.js';

export interface KeyedProcessDefinition<T, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly keyOf: (record: T) => K;
  /** The \`this\` of the handler. */
  readonly self?: unknown;
  readonly onRecord: KeyedHandler<T, K, S, O>;
}

/** Calls `onRecord` for every record with the state of the record's key (Flink: KeyedProcessFunction). */
export function keyedProcessOperator<T, K extends Key, S extends States, O>(
  context: OperatorContext,
  definition: KeyedProcessDefinition<T, K, S, O>,
): Operator<T, O> {
  const keyed = new KeyedState(context, declarations(context.uid, definition.state));
  return {
    ...keyedLife(context, keyed, definition),
    connect: (source) =>
      source.pipe(perKeyedRecord(context, keyed, definition.keyOf, definition.onRecord, definition.self)),
  };
}

/** State first, then the user's hooks; closed the other way round. */
export function keyedLife(context: OperatorContext, keyed: KeyedState, hooks: OpenClose): Omit<Operator, 'connect'> {
  return {
    ...keyed.life,
    async open() {
      await keyed.open();
      await hooks.open?.(context);
    },
    async close() {
      try {
        await hooks.close?.();
      } finally {
        await keyed.close();
      }
    },
  };
}
