import { WeirError, type CheckpointId, type SharedBlob } from '@weir/core/contracts';

interface Entry {
  readonly blob: SharedBlob;
  lastUsed: CheckpointId;
  /** A checkpoint that has it is complete. */
  isConfirmed: boolean;
}

/** What is registered, and for whom. */
export interface Registration {
  readonly checkpointId: CheckpointId;
  /** Names of the files that were written for this checkpoint. */
  readonly written: ReadonlySet<string>;
}

/**
 * Which shared files the checkpoints of a job are made of, by the keys that state backends know them by (Flink: SharedStateRegistryImpl). References
 * are not counted: a file is needed until every checkpoint up to the last that used it is gone, so a checkpoint that is lost leaves no count wrong.
 */
export class SharedStateRegistry {
  readonly #entries = new Map<string, Entry>();
  /** Files whose key has gone over to another. */
  readonly #replaced: { readonly path: string; readonly lastUsed: CheckpointId }[] = [];
  /** Files of checkpoints that are not the job's to remove. */
  readonly #pinned = new Set<string>();

  /**
   * The blob that the checkpoint is to refer to: of one key there is one file, the first that a complete checkpoint had. Fails with
   * PROTOCOL_VIOLATION if there is no such file, or if the key stands for other bytes already: the checkpoint could not be restored.
   */
  register(blob: SharedBlob, { checkpointId, written }: Registration): SharedBlob {
    const entry = this.#entries.get(blob.key);
    if (entry !== undefined && (entry.isConfirmed || entry.blob.path === blob.path)) {
      if (!isSame(entry.blob, blob)) throw contradicts(blob, entry.blob, checkpointId);
      entry.lastUsed = Math.max(entry.lastUsed, checkpointId);
      return entry.blob;
    }
    if (!written.has(blob.path)) throw unknown(blob, checkpointId);
    // If there was one, its checkpoint did not complete, and its writer has started over: the key means what is written now.
    this.#put(blob, checkpointId, false);
    return blob;
  }

  /** What a checkpoint that is complete uses, in the order of their ids: if a key has had two files, the newer one counts. */
  restored(blob: SharedBlob, checkpointId: CheckpointId): void {
    const entry = this.#entries.get(blob.key);
    if (entry?.blob.path === blob.path) entry.lastUsed = Math.max(entry.lastUsed, checkpointId);
    else this.#put(blob, checkpointId, true);
  }

  /** What it uses cannot be replaced any more. */
  checkpointCompleted(checkpointId: CheckpointId): void {
    for (const entry of this.#entries.values()) if (entry.lastUsed === checkpointId) entry.isConfirmed = true;
  }

  /** Somebody else's checkpoint uses these: they are never given back by {@link unregisterUnused}. */
  pin(paths: Iterable<string>): void {
    for (const path of paths) this.#pinned.add(path);
  }

  /** Forgets the files that no checkpoint from `lowest` on has used, and gives back the names of those to delete. */
  unregisterUnused(lowest: CheckpointId): readonly string[] {
    const unused: string[] = [];
    for (const [key, { blob, lastUsed }] of this.#entries) {
      if (lastUsed >= lowest) continue;
      this.#entries.delete(key);
      unused.push(blob.path);
    }
    const kept = this.#replaced.filter(({ lastUsed }) => lastUsed >= lowest);
    unused.push(...this.#replaced.filter(({ lastUsed }) => lastUsed < lowest).map(({ path }) => path));
    this.#replaced.splice(0, this.#replaced.length, ...kept);
    return unused.filter((path) => !this.#pinned.has(path));
  }

  #put(blob: SharedBlob, lastUsed: CheckpointId, isConfirmed: boolean): void {
    const entry = this.#entries.get(blob.key);
    if (entry !== undefined) this.#replaced.push({ path: entry.blob.path, lastUsed: entry.lastUsed });
    this.#entries.set(blob.key, { blob, lastUsed, isConfirmed });
  }
}

function isSame(a: SharedBlob, b: SharedBlob): boolean {
  return a.length === b.length && a.checksum === b.checksum;
}

function contradicts({ key, path }: SharedBlob, known: SharedBlob, checkpointId: CheckpointId): WeirError {
  return new WeirError(
    'PROTOCOL_VIOLATION',
    `Checkpoint ${String(checkpointId)} has a shared file ${path} for key '${key}', which stands for the other bytes of ${known.path}: ` +
      'the state backend has to give a new key to a new content.',
  );
}

function unknown({ key, path }: SharedBlob, checkpointId: CheckpointId): WeirError {
  return new WeirError(
    'PROTOCOL_VIOLATION',
    `Checkpoint ${String(checkpointId)} refers to shared file ${path} (key '${key}'), which no checkpoint that is left has and nobody has ` +
      'written for it: the state backend may refer to files of the last completed checkpoint only.',
  );
}
