import type { Serializer } from '../contracts/serializer.js';
import type { BlobHandle, ChannelStateHandle } from '../contracts/snapshot.js';
import type { RecordBatch } from '../element/element.js';
import { WeirError } from '../errors.js';
import { readChannelState } from '../snapshot/channel-state.js';
import type { FeedbackChannel } from './loop-head.js';
import { recordsOf, type Taker } from './record-owner.js';

export interface RestoreLoopOptions extends Taker {
  /** Of this subtask; none if it is no head of a loop. */
  readonly feedback: readonly FeedbackChannel[];
  readonly serializer: Serializer;
  /** Of kind `loop`: of this subtask alone, or of all of them where the parallelism has changed. */
  readonly handles: readonly ChannelStateHandle[];
  readonly read: (blob: BlobHandle) => Promise<Uint8Array>;
}

/**
 * What went round a loop and is this subtask's to replay, each record in exactly one of them. CHECKPOINT_INCOMPATIBLE if the job has no such loop
 * any more, or if each subtask had a copy of its own and there are more or fewer of them now.
 */
export async function restoreLoop(options: RestoreLoopOptions): Promise<readonly RecordBatch<unknown>[]> {
  const { feedback, serializer, handles, read, subtask } = options;
  const batches: RecordBatch<unknown>[] = [];
  for (const handle of handles) {
    const { producer, consumer, output } = handle.edge;
    const sameEdge = feedback.find(({ name }) => name.edge.producer === producer && name.edge.output === output);
    const partitioning = (sameEdge ?? feedback[0])?.partitioning;
    if (partitioning === undefined) throw incompatible(handle, 'the job has no such loop');
    if (partitioning.kind === 'broadcast' && handle.toSubtask !== subtask)
      throw incompatible(
        handle,
        'its feedback is broadcast, of which each subtask had come to a place of its own. Keep its parallelism',
      );
    const what = `what went round loop '${consumer}'`;
    const minesOf = recordsOf(partitioning, handle, options);
    for (const batch of readChannelState(handle, await read(handle.blob), serializer, what))
      batches.push(...(partitioning.kind === 'broadcast' ? [batch] : minesOf(batch)));
  }
  return batches;
}

function incompatible({ edge, count }: ChannelStateHandle, why: string): WeirError {
  return new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `The checkpoint holds ${String(count)} records that went round loop '${edge.consumer}', and ${why}.`,
    { recoverable: false },
  );
}
