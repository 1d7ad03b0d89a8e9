import { keyGroupOf, subtaskOfKeyGroup } from '../element/key-group.js';
import type { Key } from '../element/key.js';

/** How records find their subtask on the other side of an exchange. Control elements go to every channel. */
export type Partitioning =
  /** Subtask i to subtask i. */
  | { readonly kind: 'forward' }
  /** One after the other in turn. */
  | { readonly kind: 'rebalance' }
  /** Every record to everybody. */
  | { readonly kind: 'broadcast' }
  /** By the key group of the record's key. */
  | { readonly kind: 'hash'; readonly keyOf: (record: never) => Key };

/** Gives the channel of a record, 0 to `channels` - 1. */
export type Partitioner = (record: unknown) => number;

/** Flink: KeyGroupStreamPartitioner. */
export function hashPartitioner(keyOf: (record: never) => Key, channels: number, maxParallelism: number): Partitioner {
  const channelOfGroup = new Uint16Array(maxParallelism);
  for (let group = 0; group < maxParallelism; group++)
    channelOfGroup[group] = subtaskOfKeyGroup(group, channels, maxParallelism);
  return (record) => channelOfGroup[keyGroupOf(keyOf(record as never), maxParallelism)] as number;
}

export function rebalancePartitioner(channels: number, start: number): Partitioner {
  let next = start % channels;
  return () => {
    const channel = next;
    next = next + 1 === channels ? 0 : next + 1;
    return channel;
  };
}
