import { merge, type Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import type { Key } from '../element/key.js';
import { declarations, type States } from '../state/descriptors.js';
import { withKey, type KeyedHandler, type OpenClose } from './keyed-handler.js';
import { keyedLife } from './keyed-process.js';
import { KeyedState } from './keyed-state.js';
import { lookAhead } from './look-ahead.js';
import type { Operator, OperatorContext } from './operator.js';
import { perRecord } from './per-batch.js';

export interface CoProcessDefinition<T, U, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly firstKeyOf: (record: T) => K;
  readonly secondKeyOf: (record: U) => K;
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
        first.pipe(
          lookAhead(context, keyed, definition.firstKeyOf),
          perRecord(context, withKey(context, keyed, definition.firstKeyOf, definition.onFirst)),
        ),
        second.pipe(
          lookAhead(context, keyed, definition.secondKeyOf),
          perRecord(context, withKey(context, keyed, definition.secondKeyOf, definition.onSecond)),
        ),
      );
    },
  };
}
