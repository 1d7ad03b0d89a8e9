import type { Key } from '../element/key.js';
import type { Serializer } from '../contracts/serializer.js';
import { valueState, type StateDescriptor } from '../state/descriptors.js';
import type { ValueState } from '../contracts/state-backend.js';
import { keyedProcessOperator } from './keyed-process.js';
import type { Operator, OperatorContext } from './operator.js';

/** Rolling reduce per key: emits the new accumulator for every record (Flink: KeyedStream.reduce; RxJS: scan). */
export function scanOperator<T, A, K extends Key>(
  context: OperatorContext,
  definition: {
    readonly keyOf: (record: T) => K;
    readonly keyedAt?: string | undefined;
    readonly accumulate: (accumulator: A, value: T, key: K) => A;
    readonly seed: () => A;
    readonly serializer?: Serializer<A> | undefined;
  },
): Operator<T, A> {
  const state: { readonly accumulator: StateDescriptor<ValueState<A, never>> } = {
    accumulator: valueState<A>({ initial: definition.seed, serializer: definition.serializer }),
  };
  return keyedProcessOperator<T, K, typeof state, A>(context, {
    keyOf: definition.keyOf,
    keyedAt: definition.keyedAt,
    state,
    onRecord(record, { key, state: { accumulator } }, emit) {
      const next = definition.accumulate(accumulator.value(), record, key);
      accumulator.update(next);
      emit(next);
    },
  });
}
