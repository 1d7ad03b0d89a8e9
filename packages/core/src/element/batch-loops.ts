import { batchOf, type RecordBatch } from './element.js';
import type { Key } from './key.js';

/** A batch of what `project` makes of each record; timestamps and keys stay. `look` sees the first result, before the function is called again. */
export function mapBatch<A, B>(
  batch: RecordBatch<A>,
  project: (value: A) => B,
  look?: (first: B) => void,
): RecordBatch<B> {
  const { records, timestamps, keys } = batch;
  const { length } = records;
  const projected = new Array<B>(length);
  if (length > 0) {
    const first = project(records[0] as A);
    look?.(first);
    projected[0] = first;
  }
  for (let i = 1; i < length; i++) projected[i] = project(records[i] as A);
  return batchOf(projected, timestamps, keys);
}

/**
 * The records for which `predicate` holds, with their timestamps and keys; the same batch if it holds for all, undefined if for none. `look` sees what it gives
 * that holds and is not `true`.
 */
export function filterBatch<A>(
  batch: RecordBatch<A>,
  predicate: (value: A) => unknown,
  look?: (verdict: unknown) => void,
): RecordBatch<A> | undefined {
  const { records, timestamps, keys } = batch;
  const { length } = records;
  const kept = new Array<A>(length);
  const keptTimestamps = timestamps === undefined ? undefined : new Array<number>(length);
  const keptKeys = keys === undefined ? undefined : new Array<Key>(length);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const record = records[i] as A;
    const verdict = predicate(record);
    if (verdict !== true) {
      if (!verdict) continue;
      look?.(verdict);
    }
    kept[count] = record;
    if (keptTimestamps !== undefined) keptTimestamps[count] = timestamps?.[i] as number;
    if (keptKeys !== undefined) keptKeys[count] = keys?.[i] as Key;
    count++;
  }
  if (count === 0) return undefined;
  if (count === length) return batch;
  kept.length = count;
  if (keptTimestamps !== undefined) keptTimestamps.length = count;
  if (keptKeys !== undefined) keptKeys.length = count;
  return batchOf(kept, keptTimestamps, keptKeys);
}
