import { sliceOf, type RecordBatch } from '../element/element.js';

/** The records from `from` to before `to`: the batch itself if that is all of them. */
export function part(batch: RecordBatch<unknown>, from: number, to: number): RecordBatch<unknown> {
  if (from === 0 && to >= batch.records.length) return batch;
  return sliceOf(batch, from, to);
}
