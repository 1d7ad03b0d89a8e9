import type { CheckpointLocation, CheckpointStats, Clock } from '@weir/core/contracts';
import type { PendingCheckpoint } from './pending-checkpoint.js';

/** What is known of a checkpoint that has just completed. */
export function statsOf(pending: PendingCheckpoint, location: CheckpointLocation, clock: Clock): CheckpointStats {
  return {
    checkpointId: pending.id,
    trigger: pending.trigger,
    triggeredAt: pending.triggeredAt,
    completedAt: clock.now(),
    durationMs: clock.monotonic() - pending.startedAt,
    stateBytes: pending.acks.reduce((sum, ack) => sum + ack.stateBytes, 0),
    writtenBytes: pending.acks.reduce((sum, ack) => sum + ack.writtenBytes, 0),
    alignmentMs: pending.acks.reduce((longest, ack) => Math.max(longest, ack.alignmentMs), 0),
    inFlightRecords: inFlightOf(pending),
    pointer: location.pointer,
  };
}

function inFlightOf(pending: PendingCheckpoint): number {
  return pending.acks
    .flatMap((ack) => ack.snapshot.operators)
    .flatMap(({ channels = [] }) => channels)
    .reduce((sum, { count }) => sum + count, 0);
}

/** Pieces of prepared output in it. */
export function committablesOf(pending: PendingCheckpoint): number {
  return pending.acks
    .flatMap((ack) => ack.snapshot.operators)
    .reduce((sum, operator) => sum + (operator.committables?.count ?? 0), 0);
}
