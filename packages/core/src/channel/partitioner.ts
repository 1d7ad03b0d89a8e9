import type { KeyColumn } from '../element/key-column.js';
import { keyGroupOf, subtaskOfKeyGroup } from '../element/key-group.js';
import type { Key, KeyOf } from '../element/key.js';
import type { RecordBatch } from '../element/element.js';

/** How records find their subtask on the other side of an exchange. Control elements go to every channel. */
export type Partitioning =
  /** Subtask i to subtask i. With `column` the records are keyed: where the numbers of subtasks differ they go by their keys. */
  | { readonly kind: 'forward'; readonly column?: KeyColumn | undefined }
  /** One after the other in turn. */
  | { readonly kind: 'rebalance' }
  /** Every record to everybody. */
  | { readonly kind: 'broadcast' }
  /** By the key group of the record's key, which travels with it behind the edge if `column` is read. */
  | { readonly kind: 'hash'; readonly keyOf: KeyOf<never, Key>; readonly column?: KeyColumn | undefined };

export type HashPartitioning = Extract<Partitioning, { readonly kind: 'hash' }>;

/** Gives the channel of a record, 0 to `channels` - 1. */
export type Partitioner = (record: unknown) => number;
/** Gives the channel of a key, 0 to `channels` - 1. */
export type KeyPartitioner = (key: Key) => number;

/** Flink: KeyGroupStreamPartitioner. */
export function keyPartitioner(channels: number, maxParallelism: number): KeyPartitioner {
  const channelOfGroup = new Uint16Array(maxParallelism);
  for (let group = 0; group < maxParallelism; group++)
    channelOfGroup[group] = subtaskOfKeyGroup(group, channels, maxParallelism);
  return (key) => channelOfGroup[keyGroupOf(key, maxParallelism)] as number;
}

export function rebalancePartitioner(channels: number, start: number): Partitioner {
  let next = start % channels;
  return () => {
    const channel = next;
    next = next + 1 === channels ? 0 : next + 1;
    return channel;
  };
}

/** The keys of a batch that go by their hash. Undefined: they were to travel with its records, and have not come. */
export function keysFor(
  { keyOf }: HashPartitioning,
  { records, keys }: RecordBatch<unknown>,
): readonly Key[] | undefined {
  return keyOf === undefined ? keys : records.map((record) => keyOf(record as never));
}

/** Nobody but the batches knows the keys. */
export function goesByTravellingKeys(partitioning: Partitioning): boolean {
  return partitioning.kind === 'hash' && partitioning.keyOf === undefined;
}
