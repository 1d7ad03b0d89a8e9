import { merge, type Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import type { Key } from '../element/key.js';
import { declarations, type States } from '../state/descriptors.js';
import { perKeyedRecord, type KeyedHandler, type OpenClose } from './keyed-handler.js';
import { keyedLife } from './keyed-process.js';
import { KeyedState } from './keyed-state.js';
import type { Operator, OperatorContext } from './operator.js';

export interface CoProcessDefinition<T, U, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly firstKeyOf: (record: T) => K;
  readonly secondKeyOf: (record: U) => K;
  /** The \`this\` of the handlers. */
  readonly self?: unknown;
  readonly onFirst: KeyedHandler<T, K, S, O>;
  readonly onSecond: KeyedHandler<U, K, S, O>;
}

/** Two inputs keyed alike that share one state (Flink: KeyedCoProcessFunction). */
export function coProcessOperator<T, U, K extends Key, S extends States, O>(
  context: OperatorContext,
  definition: CoProcessDefinition<T, U, K, S, O>,
): Operator<T | U, O> {
  const keyed = new KeyedState(context, declarations(context.uid, definition.state));
  return {
    ...keyedLife(context, keyed, definition),
    connect: (...inputs) => {
      // The graph connects T to the first input and U to the second.
      const [first, second] = inputs as readonly [Observable<StreamElement<T>>, Observable<StreamElement<U>>];
      return merge(
        first.pipe(perKeyedRecord(context, keyed, definition.firstKeyOf, definition.onFirst, definition.self)),
        second.pipe(perKeyedRecord(context, keyed, definition.secondKeyOf, definition.onSecond, definition.self)),
      );
    },
  };
}
