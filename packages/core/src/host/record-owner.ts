import { keyPartitioner, keysFor, type Partitioning } from '../channel/partitioner.js';
import type { ChannelStateHandle } from '../contracts/snapshot.js';
import type { RecordBatch } from '../element/element.js';
import { WeirError } from '../errors.js';
import { batchesOf } from '../snapshot/channel-state.js';

/** A subtask that takes over records of a channel. */
export interface Taker {
  readonly subtask: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
}

/**
 * Those records of a batch that are the taker's by now: of its keys or, on an edge without keys, all that went to the subtask whose place it takes.
 * With their keys where somebody reads them. CHECKPOINT_INCOMPATIBLE if the edge goes by keys that were not stored.
 */
export function recordsOf(
  partitioning: Partitioning,
  { toSubtask, edge }: Pick<ChannelStateHandle, 'toSubtask' | 'edge'>,
  { subtask, parallelism, maxParallelism }: Taker,
): (batch: RecordBatch<unknown>) => readonly RecordBatch<unknown>[] {
  if (partitioning.kind !== 'hash') {
    const isMine = toSubtask % parallelism === subtask;
    return (batch) => (isMine ? [batch] : []);
  }
  const ownerOf = keyPartitioner(parallelism, maxParallelism);
  const keysAreRead = partitioning.keyOf === undefined || partitioning.column?.isRead === true;
  return (batch) => {
    const keys = keysFor(partitioning, batch);
    if (keys === undefined)
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `The checkpoint holds records from operator '${edge.producer}' to '${edge.consumer}' without their keys, by which they go in the program that is there now. ` +
          'Restore it with the program that took it, or from a savepoint, which holds none.',
        { recoverable: false },
      );
    const mine = keys.map((key) => ownerOf(key) === subtask);
    return batchesOf(
      batch.records.filter((_, i) => mine[i]),
      batch.timestamps?.filter((_, i) => mine[i]),
      keysAreRead ? keys.filter((_, i) => mine[i]) : undefined,
    );
  };
}
