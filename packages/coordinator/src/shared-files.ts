import {
  WeirError,
  type CheckpointId,
  type CheckpointMetadata,
  type JobStorage,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { mapShared, sharedBlobsIn } from './shared-blobs.js';
import { SharedStateRegistry } from './shared-state-registry.js';

/** Not referred to by anybody. */
const NOBODY: CheckpointId = Infinity;

/**
 * The files that checkpoints of a job have in common, from the first use to the deletion. One is deleted once no checkpoint that is there uses it
 * (its `_metadata` is gone, durably), and none that is pending can: what a subtask captures may be made of the checkpoint that it was last told is
 * complete. What a crash leaves is found at the next start.
 */
export class SharedFiles {
  readonly #storage: Pick<JobStorage, 'deleteShared'>;
  readonly #registry = new SharedStateRegistry();
  /** Checkpoints of the job that are, or may be, in its directory, by pointer. */
  readonly #present = new Map<string, CheckpointId>();
  /** The oldest checkpoint that a pending one can be made of. */
  readonly #bases = new Map<CheckpointId, CheckpointId>();
  /** The newest checkpoint that every subtask knows to be complete. */
  #known: CheckpointId = NOBODY;
  /** To be deleted. */
  readonly #unused = new Set<string>();
  /** Of these, the ones that the storage has been asked for and has not answered. */
  readonly #asked = new Set<string>();

  constructor(storage: Pick<JobStorage, 'deleteShared'>) {
    this.#storage = storage;
  }

  /** A complete checkpoint that the job has found in its directory and made its own; oldest first. */
  found({ pointer }: StoredCheckpoint, metadata: CheckpointMetadata): void {
    const { checkpointId } = metadata;
    for (const blob of sharedBlobsIn(metadata)) this.#registry.restored(blob, checkpointId);
    this.#present.set(pointer, checkpointId);
  }

  /** Never to be deleted by this run: files of checkpoints that are not the job's, or of which it is not known whose they are. */
  pin(paths: Iterable<string>): void {
    this.#registry.pin(paths);
  }

  /** Files that no checkpoint has. */
  orphaned(paths: Iterable<string>): void {
    for (const path of paths) this.#unused.add(path);
  }

  /** An attempt starts from this checkpoint; 0: from none. Nothing of an earlier attempt is pending any more. */
  attemptBegins(restored: CheckpointId): void {
    this.#bases.clear();
    this.#known = restored;
  }

  /** No attempt follows. */
  attemptsOver(): void {
    this.#bases.clear();
    this.#known = NOBODY;
  }

  triggered(checkpointId: CheckpointId): void {
    this.#bases.set(checkpointId, this.#known);
  }

  /**
   * The metadata of a checkpoint that everybody has acknowledged, with the files that it is to refer to. Fails as {@link SharedStateRegistry.register},
   * and for a savepoint that would need files of the job's.
   */
  register(metadata: CheckpointMetadata, written: ReadonlySet<string>): CheckpointMetadata {
    const { checkpointId, kind, selfContained } = metadata;
    if (kind === 'savepoint' && !selfContained) {
      const message = `Savepoint ${String(checkpointId)} has files in common with checkpoints, and they are not the user's: its capture had to be a full one.`;
      throw new WeirError('PROTOCOL_VIOLATION', message);
    }
    return mapShared(metadata, (blob) => this.#registry.register(blob, { checkpointId, written }));
  }

  /** `_metadata` is durable. Files written for it that it does not refer to are nobody's: a subtask has uploaded what another checkpoint had. */
  completed(stored: StoredCheckpoint, metadata: CheckpointMetadata, written: ReadonlySet<string>): void {
    this.#registry.checkpointCompleted(metadata.checkpointId);
    this.#present.set(stored.pointer, metadata.checkpointId);
    const used = new Set(sharedBlobsIn(metadata).map(({ path }) => path));
    this.orphaned([...written].filter((path) => !used.has(path)));
  }

  /** It is not known whether its `_metadata` is there. */
  mayBeComplete({ pointer, id }: StoredCheckpoint): void {
    this.#present.set(pointer, id);
  }

  /** It is pending no more, whatever has become of it. */
  ended(checkpointId: CheckpointId): void {
    this.#bases.delete(checkpointId);
  }

  /** Every subtask has been told that it is complete: what is captured from now on is made of this one or a newer. */
  acknowledged(checkpointId: CheckpointId): void {
    this.#known = Math.max(this.#known, checkpointId);
  }

  /** Its `_metadata` is gone, durably. */
  deleted({ pointer }: StoredCheckpoint): void {
    this.#present.delete(pointer);
  }

  /** Gathers what nobody uses any more: there is something to delete. */
  hasUnused(): boolean {
    const lowest = Math.min(this.#known, ...this.#present.values(), ...this.#bases.values());
    this.orphaned(this.#registry.unregisterUnused(lowest));
    return this.#unused.size > this.#asked.size;
  }

  /** Deletes what nobody uses any more. What cannot be deleted is tried again with the next call, and keeps nothing else from being deleted. */
  async deleteUnused(): Promise<void> {
    if (!this.hasUnused()) return;
    const failures: unknown[] = [];
    for (const path of this.#unused) {
      if (this.#asked.has(path)) continue;
      this.#asked.add(path);
      try {
        await this.#storage.deleteShared?.(path);
        this.#unused.delete(path);
      } catch (error) {
        failures.push(error);
      } finally {
        this.#asked.delete(path);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
