import { merge, type Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import type { Key, KeyOf } from '../element/key.js';
import type { KeyType } from '../element/key-type.js';
import type { States } from '../state/descriptors.js';
import type { KeyedHandler, TimerHandler } from './key-context.js';
import { perKeyedRecord, type OpenClose } from './keyed-handler.js';
import { keyedHandlers, keyedLife } from './keyed-process.js';
import type { Operator, OperatorContext } from './operator.js';

export interface CoProcessDefinition<T, U, K extends Key, S extends States, O> extends OpenClose {
  readonly state: S;
  readonly firstKeyOf: KeyOf<T, K>;
  readonly secondKeyOf: KeyOf<U, K>;
  /** The keyBys in front, for messages. */
  readonly firstKeyedAt?: string | undefined;
  readonly secondKeyedAt?: string | undefined;
  /** What keys may be, where that is declared. */
  readonly keyTypes?: readonly KeyType[] | undefined;
  /** What a handler emits has the key that it ran for. Default false. */
  readonly keepsKeys?: boolean | undefined;
  /** The `this` of the handlers. */
  readonly self?: unknown;
  readonly onFirst: KeyedHandler<T, K, S, O>;
  readonly onSecond: KeyedHandler<U, K, S, O>;
  readonly onTimer?: TimerHandler<K, S, O> | undefined;
}

/** Two inputs keyed alike that share one state (Flink: KeyedCoProcessFunction). */
export function coProcessOperator<T, U, K extends Key, S extends States, O>(
  context: OperatorContext,
  definition: CoProcessDefinition<T, U, K, S, O>,
): Operator<T | U, O> {
  const handlers = keyedHandlers(context, definition);
  return {
    ...keyedLife(handlers, definition),
    connect: (...inputs) => {
      // The graph connects T to the first input and U to the second.
      const [first, second] = inputs as readonly [Observable<StreamElement<T>>, Observable<StreamElement<U>>];
      return merge(
        first.pipe(perKeyedRecord(handlers, definition.firstKeyOf, definition.onFirst, definition.firstKeyedAt)),
        second.pipe(
          perKeyedRecord(handlers, definition.secondKeyOf, definition.onSecond, definition.secondKeyedAt, 'second'),
        ),
      );
    },
  };
}
