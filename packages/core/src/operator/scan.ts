import type { Key, KeyOf } from '../element/key.js';
import type { KeyType } from '../element/key-type.js';
import { valueState, type StateDescriptor, type StateOptions } from '../state/descriptors.js';
import type { ValueState } from '../contracts/state-backend.js';
import { refusePromise } from './handler-misuse.js';
import { keyedProcessOperator } from './keyed-process.js';
import type { Operator, OperatorContext } from './operator.js';

interface ScanAccumulator<A> {
  readonly seed: () => A;
  readonly accumulator?: Omit<StateOptions<A>, 'renamedFrom'> | undefined;
}

/** The one state of a scan. */
export function scanStates<A>({ seed, accumulator }: ScanAccumulator<A>): {
  readonly accumulator: StateDescriptor<ValueState<A, never>>;
} {
  const { serializer, version, migrate, schema } = accumulator ?? {};
  return { accumulator: valueState<A>({ initial: seed, serializer, version, migrate, schema }) };
}

/** Rolling reduce per key: emits the new accumulator for every record (Flink: KeyedStream.reduce; RxJS: scan). */
export function scanOperator<T, A, K extends Key>(
  context: OperatorContext,
  definition: ScanAccumulator<A> & {
    readonly keyOf: KeyOf<T, K>;
    readonly keyedAt?: string | undefined;
    readonly keyTypes?: readonly KeyType[] | undefined;
    readonly keepsKeys?: boolean | undefined;
    readonly accumulate: (accumulator: A, value: T, key: K) => A;
  },
): Operator<T, A> {
  const state = scanStates(definition);
  // An async function gives a promise the first time, too.
  let wasLookedAt = false;
  return keyedProcessOperator<T, K, typeof state, A>(context, {
    keyOf: definition.keyOf,
    keyedAt: definition.keyedAt,
    keyTypes: definition.keyTypes,
    keepsKeys: definition.keepsKeys,
    state,
    onRecord(record, { key, state: { accumulator } }, emit) {
      const next = definition.accumulate(accumulator.value(), record, key);
      if (!wasLookedAt) {
        refusePromise(context, next, 'the function given to scan');
        wasLookedAt = true;
      }
      accumulator.update(next);
      emit(next);
    },
  });
}
