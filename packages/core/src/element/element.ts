import type { CheckpointId } from './ids.js';
import type { Key } from './key.js';

/** Records in order. A batch handed to several consumers is read-only. */
export interface RecordBatch<out T> {
  readonly kind: 'batch';
  readonly records: readonly T[];
  /** Event times in epoch milliseconds, one per record; only where event time is used. */
  readonly timestamps?: readonly number[] | undefined;
  /** What each record is keyed by; only where an operator reads it that is not right behind the `keyBy`. */
  readonly keys?: readonly Key[] | undefined;
}
/** No record with an event time at or below `time` (epoch ms) is to be expected any more. */
export interface Watermark {
  readonly kind: 'watermark';
  readonly time: number;
}
/** The last one: whatever event time still waits for has come. A source that has ended sends it, unless it was only suspended. */
export const FINAL_WATERMARK: Watermark = { kind: 'watermark', time: Number.POSITIVE_INFINITY };
/** An idle channel does not hold back the watermark of its consumer. */
export interface IdleFlag {
  readonly kind: 'idle';
  readonly idle: boolean;
}
/** What kind of snapshot a barrier asks for. */
export type SnapshotKind = 'checkpoint' | 'savepoint';
/** Divides the stream: everything before it belongs to the checkpoint. */
export interface Barrier {
  readonly kind: 'barrier';
  readonly checkpointId: CheckpointId;
  /** When the coordinator triggered the checkpoint, epoch ms. */
  readonly timestamp: number;
  readonly snapshot: SnapshotKind;
  /** The job is to stop with this savepoint: no record moves behind it before its fate is known. With `drain` data ends in front of it. */
  readonly stop?: 'drain' | 'suspend' | undefined;
  /** Ms after `timestamp` from which it may overtake records that wait in a channel, 0: at once. Absent: it never does. */
  readonly overtakesAfter?: number | undefined;
  /** It may not overtake on the edge that it came over; behind the subtask that aligns it it may again. */
  readonly isForcedAligned?: boolean | undefined;
  /** Keyed state may be captured as what has changed. Absent: all of it is. */
  readonly isIncremental?: boolean | undefined;
}
/** The sender gave the checkpoint up; its barrier will not come. */
export interface CancelMarker {
  readonly kind: 'cancel';
  readonly checkpointId: CheckpointId;
}
/** No more records; barriers still follow. With `drain` operators run `finish` (nothing will ever follow). */
export interface EndOfData {
  readonly kind: 'end-of-data';
  readonly drain: boolean;
  /** A later run may go on from here, as after a stop: what ends by it does not count as finished. */
  readonly resumable?: boolean | undefined;
}
/** Nothing follows. */
export interface EndOfChannel {
  readonly kind: 'end-of-channel';
}

export type ControlElement = Watermark | IdleFlag | Barrier | CancelMarker | EndOfData | EndOfChannel;
/** Anything in a channel. */
export type StreamElement<T> = RecordBatch<T> | ControlElement;

/** Records that a full batch holds. */
export const BATCH_SIZE = 1024;

/** A batch with the columns that there are. Few shapes keep what reads batches fast. */
export function batchOf<T>(
  records: readonly T[],
  timestamps: readonly number[] | undefined,
  keys: readonly Key[] | undefined,
): RecordBatch<T> {
  if (keys !== undefined) return { kind: 'batch', records, timestamps, keys };
  return timestamps === undefined ? { kind: 'batch', records } : { kind: 'batch', records, timestamps };
}

/** The records from `from` to before `to`, with their columns. */
export function sliceOf<T>({ records, timestamps, keys }: RecordBatch<T>, from: number, to: number): RecordBatch<T> {
  return batchOf(records.slice(from, to), timestamps?.slice(from, to), keys?.slice(from, to));
}
export function batch<T>(records: readonly T[]): RecordBatch<T> {
  return { kind: 'batch', records };
}
export function barrier(
  checkpointId: CheckpointId,
  timestamp = 0,
  snapshot: SnapshotKind = 'checkpoint',
  stop?: Barrier['stop'],
): Barrier {
  return { kind: 'barrier', checkpointId, timestamp, snapshot, ...(stop === undefined ? {} : { stop }) };
}
export function cancelMarker(checkpointId: CheckpointId): CancelMarker {
  return { kind: 'cancel', checkpointId };
}
export const END_OF_DATA: EndOfData = { kind: 'end-of-data', drain: true };
export const END_OF_CHANNEL: EndOfChannel = { kind: 'end-of-channel' };
