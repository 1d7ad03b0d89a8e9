import path from 'node:path';
import { WeirError, type Committable, type CommitOutcome, type Committer, type FileSystem } from '@weir/core/contracts';
import { sizeOf } from '../size-of.js';
import { decidePublication, type PreparedFile } from './prepared-file.js';

/** Publishes prepared files by giving them their final names. */
export class FileCommitter implements Committer<PreparedFile> {
  readonly #fileSystem: FileSystem;
  readonly #dir: string;

  constructor(fileSystem: FileSystem, dir: string) {
    this.#fileSystem = fileSystem;
    this.#dir = dir;
  }

  async commit(committables: readonly Committable<PreparedFile>[]): Promise<readonly CommitOutcome[]> {
    const outcomes: CommitOutcome[] = [];
    for (const committable of committables) outcomes.push(await this.#publish(committable));
    // Also for files that were renamed before: the process that did it may have died before the new name was durable.
    if (outcomes.some(isIn)) await this.#fileSystem.syncDirectory(this.#dir);
    return outcomes;
  }

  async #publish({ identity, payload }: Committable<PreparedFile>): Promise<CommitOutcome> {
    const from = path.join(this.#dir, payload.pending);
    const to = path.join(this.#dir, payload.final);
    try {
      const publication = decidePublication(
        payload,
        await sizeOf(this.#fileSystem, from),
        await sizeOf(this.#fileSystem, to),
      );
      switch (publication.kind) {
        case 'rename':
          await this.#fileSystem.rename(from, to);
          return { kind: 'committed' };
        case 'published':
          return { kind: 'already-committed' };
        case 'impossible':
          return { kind: 'failed', error: this.#lost(identity, publication.reason) };
      }
    } catch (error) {
      return { kind: 'retry', error };
    }
  }

  #lost({ sink, job, checkpointId }: Committable['identity'], reason: string): WeirError {
    return new WeirError(
      'COMMIT_FAILED',
      `Output of sink ${sink} of job ${job} that belongs to checkpoint ${String(checkpointId)} is gone from ${this.#dir}: ` +
        `${reason}. If the folder was moved, let dir name the new place; else restore from an older checkpoint.`,
      { recoverable: false },
    );
  }
}

function isIn({ kind }: CommitOutcome): boolean {
  return kind === 'committed' || kind === 'already-committed';
}
