import {
  subtaskName,
  type Acknowledgement,
  type CheckpointId,
  type CheckpointLocation,
  type EnumeratorSnapshot,
  type SubtaskId,
} from '@weir/core/contracts';
import type { SavepointWish } from './savepoint.js';
import type { CheckpointRequest } from './trigger.js';

/**
 * `setting-up`: no barrier has been sent. `collecting`: subtasks report. `publishing`: its metadata is on the way to the storage, and what is
 * on the way cannot be taken back, only given up. `completed` and `aborted` are final.
 */
export type PendingPhase = 'setting-up' | 'collecting' | 'publishing' | 'completed' | 'aborted';
export type AckAnswer = 'accepted' | 'duplicate' | 'unknown' | 'late';

/** A checkpoint between its trigger and its end: who has to report, and who has (Flink: PendingCheckpoint). */
export class PendingCheckpoint {
  readonly id: CheckpointId;
  readonly trigger: CheckpointRequest['trigger'];
  /** Undefined: it is a checkpoint. */
  readonly savepoint: SavepointWish | undefined;
  /** Epoch ms, the timestamp of its barriers. */
  readonly triggeredAt: number;
  /** Monotonic ms. */
  readonly startedAt: number;
  phase: PendingPhase = 'setting-up';
  location: CheckpointLocation | undefined;
  /** The storage has its metadata, or may have. */
  isHandedOver = false;
  enumerators: readonly EnumeratorSnapshot[] = [];
  /** Names of subtasks that had finished when the barriers left, and so do not report. */
  finished: ReadonlySet<string> = new Set();
  readonly #awaited: Set<string>;
  readonly #acks = new Map<string, Acknowledgement>();

  /** Those who have to report are fixed (see `exempt`) before the first barrier is sent, so a checkpoint cannot look complete for want of participants. */
  constructor(parts: {
    id: CheckpointId;
    trigger: CheckpointRequest['trigger'];
    savepoint?: SavepointWish | undefined;
    triggeredAt: number;
    startedAt: number;
    subtasks: readonly SubtaskId[];
  }) {
    this.id = parts.id;
    this.trigger = parts.trigger;
    this.savepoint = parts.savepoint;
    this.triggeredAt = parts.triggeredAt;
    this.startedAt = parts.startedAt;
    this.#awaited = new Set(parts.subtasks.map(subtaskName));
  }

  get acks(): readonly Acknowledgement[] {
    return [...this.#acks.values()];
  }
  /** Names of those who have to report and have not. */
  get awaited(): readonly string[] {
    return [...this.#awaited];
  }
  get expected(): number {
    return this.#awaited.size + this.#acks.size;
  }
  get isFullyAcknowledged(): boolean {
    return this.phase === 'collecting' && this.#awaited.size === 0;
  }
  /** It can be given up without a trace. */
  isOpen(): boolean {
    return this.phase === 'setting-up' || this.phase === 'collecting';
  }
  isPublishing(): boolean {
    return this.phase === 'publishing';
  }
  /** Something may still come of it. */
  isUnderWay(): boolean {
    return this.isOpen() || this.isPublishing();
  }

  /** The last moment at which it can change who has to report: barriers leave right behind it. */
  exempt(finished: ReadonlySet<string>): void {
    this.finished = new Set(finished);
    for (const subtask of finished) this.#awaited.delete(subtask);
  }

  acknowledge(ack: Acknowledgement): AckAnswer {
    if (!this.isOpen()) return 'late';
    const subtask = subtaskName(ack.subtask);
    if (this.#acks.has(subtask)) return 'duplicate';
    if (!this.#awaited.delete(subtask)) return 'unknown';
    this.#acks.set(subtask, ack);
    return 'accepted';
  }

  /** Drops what the parts hold in memory, at once rather than when the last reference to this goes. */
  release(): void {
    this.#acks.clear();
    this.enumerators = [];
  }
}
