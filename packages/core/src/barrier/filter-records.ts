import type { OperatorFunction } from 'rxjs';
import { filter, map } from 'rxjs';
import type { RecordBatch, StreamElement } from '../element/element.js';
import { isWorthSending } from './empty-batch.js';

/** Keeps the records that satisfy the predicate, with their timestamps, and everything that is not a record. Empty batches are not emitted. */
export function filterRecords<A, B extends A>(
  predicate: (value: A) => value is B,
): OperatorFunction<StreamElement<A>, StreamElement<B>>;
export function filterRecords<A>(
  predicate: (value: A) => boolean,
): OperatorFunction<StreamElement<A>, StreamElement<A>>;
export function filterRecords<A>(
  predicate: (value: A) => boolean,
): OperatorFunction<StreamElement<A>, StreamElement<A>> {
  return (source) =>
    source.pipe(
      map((element) => (element.kind === 'batch' ? filterBatch(element, predicate) : element)),
      filter((element) => isWorthSending(element)),
    );
}

function filterBatch<A>(batch: RecordBatch<A>, predicate: (value: A) => boolean): RecordBatch<A> {
  const { records, timestamps } = batch;
  const kept: A[] = [];
  const keptTimestamps: number[] = [];
  for (let i = 0; i < records.length; i++) {
    const record = records[i] as A;
    if (!predicate(record)) continue;
    kept.push(record);
    if (timestamps !== undefined) keptTimestamps.push(timestamps[i]!);
  }
  return { kind: 'batch', records: kept, timestamps: timestamps === undefined ? undefined : keptTimestamps };
}
