import type { RecordBatch } from '../element/element.js';

/** The records from `from` to before `to`: the batch itself if that is all of them. */
export function part(batch: RecordBatch<unknown>, from: number, to: number): RecordBatch<unknown> {
  const { records, timestamps } = batch;
  if (from === 0 && to >= records.length) return batch;
  return timestamps === undefined
    ? { kind: 'batch', records: records.slice(from, to) }
    : { kind: 'batch', records: records.slice(from, to), timestamps: timestamps.slice(from, to) };
}
