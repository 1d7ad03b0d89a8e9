import type { CheckpointId, Lineage, StoredCheckpoint } from '@weir/core/contracts';
import { subsume, type CompletedCheckpoint } from './retention.js';

/** What the job can fall back to and which id comes next: the coordinator's memory from one attempt to the next. */
export class CompletedCheckpoints {
  #lineage: Lineage;
  /** Older checkpoints of the lineage that are a user's, and stay. */
  readonly keptForUser: readonly CheckpointId[];
  readonly #numRetained: number;
  #nextId: CheckpointId;
  #completed: readonly CompletedCheckpoint[];
  #lastEndedAt: number | undefined;

  constructor(parts: {
    lineage: Lineage;
    keptForUser: readonly CheckpointId[];
    nextId: CheckpointId;
    /** Oldest first; the last is the one that is restored. */
    completed: readonly CompletedCheckpoint[];
    numRetained: number;
  }) {
    this.#lineage = parts.lineage;
    this.keptForUser = parts.keptForUser;
    this.#nextId = parts.nextId;
    this.#completed = parts.completed;
    this.#numRetained = parts.numRetained;
  }

  /** Of the checkpoints to come. */
  get lineage(): Lineage {
    return this.#lineage;
  }
  branch(lineage: Lineage): void {
    this.#lineage = lineage;
  }

  takeId(): CheckpointId {
    return this.#nextId++;
  }

  /** Everything the job can fall back to; the last is what the next attempt restores. */
  get completed(): readonly CompletedCheckpoint[] {
    return this.#completed;
  }
  /** 0 before there is one. */
  get newestId(): CheckpointId {
    return this.#completed.at(-1)?.checkpointId ?? 0;
  }
  /** Monotonic ms at which the last checkpoint or savepoint of this process completed or failed: the minimum pause starts here. */
  get lastEndedAt(): number | undefined {
    return this.#lastEndedAt;
  }

  add(stored: StoredCheckpoint): void {
    this.#completed = [...this.#completed, { checkpointId: stored.id, stored, owner: 'job' }];
  }

  stamp(endedAt: number): void {
    this.#lastEndedAt = endedAt;
  }

  /** The newest turned out not to be there any more. */
  forgetNewest(): void {
    this.#completed = this.#completed.slice(0, -1);
  }

  /** Forgets what the newest checkpoint makes superfluous, and gives back those whose files are the job's to remove. */
  subsume(): readonly StoredCheckpoint[] {
    const { retained, subsumed } = subsume(this.#completed, this.#numRetained);
    this.#completed = retained;
    return ownedByJob(subsumed);
  }

  /** Forgets everything, and gives back those whose files are the job's to remove. */
  clear(): readonly StoredCheckpoint[] {
    const forgotten = this.#completed;
    this.#completed = [];
    return ownedByJob(forgotten);
  }
}

function ownedByJob(completed: readonly CompletedCheckpoint[]): readonly StoredCheckpoint[] {
  return completed.filter((c) => c.owner === 'job').map((c) => c.stored);
}
