import { keyBy, keyedProcess, valueState, type Emit, type Key, type StreamOperator } from '@weir/core/operators';

export interface Count<K> {
  readonly key: K;
  readonly count: number;
}

/** How often each key has come up, once more for every record. */
export function countBy<T, K extends Key>(keyOf: (record: T) => K, uid: string): StreamOperator<T, Count<K>> {
  return (stream) =>
    stream.pipe(
      keyBy(keyOf),
      keyedProcess({
        uid,
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(_record, { key, state: { count } }, emit: Emit<Count<K>>) {
          count.update(count.value() + 1);
          emit({ key, count: count.value() });
        },
      }),
    );
}
