import {
  keyBy,
  keyedProcess,
  valueState,
  type Duration,
  type Emit,
  type Key,
  type StreamOperator,
} from '@weir/core/operators';

/** Of records with equal keys only the first, until none has come for so long. What is remembered of a key goes with its time. */
export function firstWithin<T>(after: Duration, keyOf: (record: T) => Key, uid: string): StreamOperator<T, T> {
  return (records) =>
    records.pipe(
      keyBy(keyOf),
      keyedProcess({
        uid,
        state: { isKnown: valueState<true>({ ttl: { after, update: 'on-read-and-write' } }) },
        onRecord(record: T, { state: { isKnown } }, emit: Emit<T>) {
          if (isKnown.value() !== undefined) return;
          isKnown.update(true);
          emit(record);
        },
      }),
    );
}
