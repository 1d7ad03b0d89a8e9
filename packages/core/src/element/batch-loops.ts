import type { RecordBatch } from './element.js';

/** A batch of what `project` makes of each record; timestamps stay. */
export function mapBatch<A, B>(batch: RecordBatch<A>, project: (value: A) => B): RecordBatch<B> {
  const { records, timestamps } = batch;
  const { length } = records;
  const projected = new Array<B>(length);
  for (let i = 0; i < length; i++) projected[i] = project(records[i] as A);
  return timestamps === undefined
    ? { kind: 'batch', records: projected }
    : { kind: 'batch', records: projected, timestamps };
}

/** The records for which `predicate` holds, with their timestamps; the same batch if it holds for all, undefined if for none. */
export function filterBatch<A>(batch: RecordBatch<A>, predicate: (value: A) => boolean): RecordBatch<A> | undefined {
  const { records, timestamps } = batch;
  const { length } = records;
  const kept = new Array<A>(length);
  const keptTimestamps = timestamps === undefined ? undefined : new Array<number>(length);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const record = records[i] as A;
    if (!predicate(record)) continue;
    kept[count] = record;
    if (keptTimestamps !== undefined) keptTimestamps[count] = timestamps?.[i] as number;
    count++;
  }
  if (count === 0) return undefined;
  if (count === length) return batch;
  kept.length = count;
  if (keptTimestamps !== undefined) keptTimestamps.length = count;
  return keptTimestamps === undefined
    ? { kind: 'batch', records: kept }
    : { kind: 'batch', records: kept, timestamps: keptTimestamps };
}
