import {
  type AbortReason,
  type Acknowledgement,
  type AttemptGateway,
  type AttemptNumber,
  type Barrier,
  type CheckpointCoordinator,
  type CheckpointId,
  type CheckpointLocation,
  type EnumeratorSnapshot,
  type SubtaskId,
} from '@weir/core/contracts';
import { type DiskLocation } from './disk.js';
import { OUT, SOURCE, snapshotOf } from './plan.js';

/** A running attempt whose subtasks answer when the test says so. `log` tells what the coordinator asked, in order. */
export class FakeGateway implements AttemptGateway {
  readonly attempt: AttemptNumber;
  /** Replace for another plan. */
  subtasks: readonly SubtaskId[] = [SOURCE, OUT];
  /** Names of those that have finished. */
  readonly finished = new Set<string>();
  readonly log: string[] = [];
  readonly barriers: Barrier[] = [];
  readonly locations = new Map<CheckpointId, CheckpointLocation>();
  /** Replace to fail or to hang. */
  enumerate: (id: CheckpointId) => Promise<readonly EnumeratorSnapshot[]> = async () => [];
  /** Replace to make commits slow or fail. */
  commit: (id: CheckpointId) => Promise<void> = async () => undefined;
  onTrigger: (id: CheckpointId) => void = () => undefined;
  readonly #coordinator: CheckpointCoordinator;

  constructor(coordinator: CheckpointCoordinator, attempt: AttemptNumber) {
    this.#coordinator = coordinator;
    this.attempt = attempt;
  }

  snapshotEnumerators(id: CheckpointId): Promise<readonly EnumeratorSnapshot[]> {
    this.log.push(`enumerators ${String(id)}`);
    return this.enumerate(id);
  }
  trigger(barrier: Barrier, location: CheckpointLocation): void {
    this.log.push(`trigger ${String(barrier.checkpointId)}`);
    this.barriers.push(barrier);
    this.locations.set(barrier.checkpointId, location);
    this.onTrigger(barrier.checkpointId);
  }
  completed(id: CheckpointId): Promise<void> {
    this.log.push(`completed ${String(id)}`);
    return this.commit(id);
  }
  released(id: CheckpointId): void {
    this.log.push(`released ${String(id)}`);
  }
  aborted(id: CheckpointId, latestCompleted: CheckpointId): void {
    this.log.push(`aborted ${String(id)} after ${String(latestCompleted)}`);
  }

  get triggered(): readonly CheckpointId[] {
    return this.barriers.map((b) => b.checkpointId);
  }

  /** What `subtask` reports once its part is durable. */
  ackOf(id: CheckpointId, subtask: SubtaskId, parts: Partial<Acknowledgement> = {}): Acknowledgement {
    return {
      kind: 'ack',
      attempt: this.attempt,
      subtask,
      checkpointId: id,
      snapshot: { subtask, operators: [snapshotOf(subtask, id)] },
      stateBytes: 10,
      writtenBytes: 10,
      alignmentMs: 1,
      syncMs: 1,
      asyncMs: 1,
      ...parts,
    };
  }
  ack(id: CheckpointId, subtask: SubtaskId, parts: Partial<Acknowledgement> = {}): void {
    // A location that is discarded already refuses the part, as a real one does; the subtask may report all the same.
    try {
      (this.locations.get(id) as DiskLocation | undefined)?.writePart(subtask.stage);
    } catch {
      // late
    }
    this.#coordinator.receive(this.ackOf(id, subtask, parts));
  }
  ackAll(id: CheckpointId): void {
    for (const subtask of this.subtasks) this.ack(id, subtask);
  }
  decline(id: CheckpointId, subtask: SubtaskId, reason: AbortReason = 'CHECKPOINT_DECLINED'): void {
    const { attempt } = this;
    this.#coordinator.receive({ kind: 'decline', attempt, subtask, checkpointId: id, reason, error: new Error('no') });
  }
}
