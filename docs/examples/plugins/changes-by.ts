import { defaultSerializer, withErrorContext, type StateDeclaration } from '@weir/core/contracts';
import {
  keyBy,
  KeyedState,
  perRecord,
  transform,
  type Key,
  type OperatorOptions,
  type StreamOperator,
  type ValueState,
} from '@weir/core/operators';

/** Lets a record through only if its value is not that of the record of the same key before it. */
export function changesBy<T, K extends Key, V extends string | number>(
  keyOf: (record: T) => K,
  valueOf: (record: T) => V,
  options: OperatorOptions = {},
): StreamOperator<T, T> {
  return (stream) =>
    transform(
      [stream.pipe(keyBy(keyOf))],
      {
        name: 'changesBy',
        isStateful: true,
        create(context) {
          const last: StateDeclaration = {
            name: 'last',
            kind: 'value',
            serializer: withErrorContext(defaultSerializer, context.uid, 'last'),
          };
          const keyed = new KeyedState(context, [last]);
          return {
            // restore, capture, completed and aborted are the state's own.
            ...keyed.life,
            open: () => keyed.open(),
            connect: (input) =>
              input.pipe(
                perRecord<T, T>(context, (output) => (record, timestamp) => {
                  keyed.store.setCurrentKey(keyOf(record));
                  const state = keyed.handles['last'] as ValueState<V>;
                  const value = valueOf(record);
                  if (state.value() === value) return;
                  state.update(value);
                  output.pushAt(record, timestamp);
                }),
              ),
            close: () => keyed.close(),
          };
        },
      },
      options,
    );
}
