import { hashPartitioner, type Partitioning } from '../channel/partitioner.js';
import type { ChannelStateHandle } from '../contracts/snapshot.js';
import type { RecordBatch } from '../element/element.js';
import { batchesOf } from '../snapshot/channel-state.js';

/** A subtask that takes over records of a channel. */
export interface Taker {
  readonly subtask: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
}

/** Which records of a channel are the taker's by now: those of its keys or, on an edge without keys, all that went to the subtask whose place it takes. */
export function ownership(
  partitioning: Partitioning,
  { toSubtask }: Pick<ChannelStateHandle, 'toSubtask'>,
  { subtask, parallelism, maxParallelism }: Taker,
): (record: unknown) => boolean {
  if (partitioning.kind === 'hash') {
    const ownerOf = hashPartitioner(partitioning.keyOf, parallelism, maxParallelism);
    return (record) => ownerOf(record) === subtask;
  }
  const isMine = toSubtask % parallelism === subtask;
  return () => isMine;
}

export function onlyThose(
  { records, timestamps }: RecordBatch<unknown>,
  isMine: (record: unknown) => boolean,
): readonly RecordBatch<unknown>[] {
  const mine = records.map(isMine);
  return batchesOf(
    records.filter((_, i) => mine[i]),
    timestamps?.filter((_, i) => mine[i]),
  );
}
