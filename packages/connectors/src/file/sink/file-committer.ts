import path from 'node:path';
import { WeirError, type Committable, type CommitOutcome, type Committer, type FileSystem } from '@weir/core/contracts';
import { sizeOf } from '../size-of.js';
import type { OutputFolder } from './output-folder.js';
import { decidePublication, type PreparedFile, type Publication } from './prepared-file.js';
import { sameBytes } from './same-bytes.js';

type Prepared = Committable<PreparedFile>;

/** Publishes prepared files by giving them their final names. */
export class FileCommitter implements Committer<PreparedFile> {
  readonly #fileSystem: FileSystem;
  readonly #dir: string;
  readonly #folder: OutputFolder;
  /** Final names of files that were there when a commit of them began in this attempt, and may be published. */
  readonly #begun = new Set<string>();

  constructor(fileSystem: FileSystem, dir: string, folder: OutputFolder) {
    this.#fileSystem = fileSystem;
    this.#dir = dir;
    this.#folder = folder;
  }

  async commit(committables: readonly Prepared[]): Promise<readonly CommitOutcome[]> {
    // What is lost has to be known before anything says that commits of its checkpoint have begun.
    const publications: (Publication | CommitOutcome)[] = [];
    for (const committable of committables) publications.push(await this.#decide(committable));
    const begun = committables.filter((_, i) => isUnderWay(publications[i]!));
    if (begun.length > 0) {
      try {
        await this.#folder.begin(newestOf(begun));
      } catch (error) {
        const kind = error instanceof WeirError ? 'failed' : 'retry';
        return committables.map(() => ({ kind, error }));
      }
    }
    const outcomes: CommitOutcome[] = [];
    for (const [i, committable] of committables.entries())
      outcomes.push(await this.#publish(committable, publications[i]!));
    // Also for files that were renamed before: the process that did it may have died before the new name was durable.
    if (outcomes.some(isIn)) await this.#fileSystem.syncDirectory(this.#dir);
    for (const [i, { payload }] of committables.entries()) if (isIn(outcomes[i]!)) this.#begun.delete(payload.final);
    return outcomes;
  }

  async #decide({ identity, payload }: Prepared): Promise<Publication | CommitOutcome> {
    try {
      const [from, to] = [this.#path(payload.pending), this.#path(payload.final)];
      const hasBegun = this.#begun.has(payload.final) || this.#folder.hadBegun(identity, payload.final);
      const sizes = [await sizeOf(this.#fileSystem, from), await sizeOf(this.#fileSystem, to)] as const;
      const publication = decidePublication(payload, ...sizes, hasBegun);
      if (publication.kind === 'impossible') return await this.#lost(identity, payload, publication.reason);
      if (publication.kind !== 'compare') return publication;
      if (await sameBytes(this.#fileSystem, from, to)) return { kind: 'published' };
      return await this.#lost(
        identity,
        payload,
        `${payload.pending} and ${payload.final} are both there, and not the same`,
      );
    } catch (error) {
      return { kind: 'retry', error };
    }
  }

  async #publish({ payload }: Prepared, publication: Publication | CommitOutcome): Promise<CommitOutcome> {
    switch (publication.kind) {
      case 'rename':
        this.#begun.add(payload.final);
        try {
          await this.#fileSystem.rename(this.#path(payload.pending), this.#path(payload.final));
          return { kind: 'committed' };
        } catch (error) {
          return { kind: 'retry', error };
        }
      case 'published':
      case 'taken':
        return { kind: 'already-committed' };
      case 'compare':
      case 'impossible':
        throw new WeirError('PROTOCOL_VIOLATION', `What becomes of ${payload.final} was not decided.`);
      default:
        return publication;
    }
  }

  async #lost({ sink, job, checkpointId }: Prepared['identity'], payload: PreparedFile, reason: string) {
    await this.#folder.noteLost(payload.final);
    const error = new WeirError(
      'COMMIT_FAILED',
      `Output of sink ${sink} of job ${job} that belongs to checkpoint ${String(checkpointId)} is gone from ${this.#dir}: ` +
        `${reason}. Put the file back; or restore from an older checkpoint with allowDuplicates; or let dir name an empty folder, to go on without it.`,
      { recoverable: false },
    );
    return { kind: 'failed', error } as const;
  }

  #path(name: string): string {
    return path.join(this.#dir, name);
  }
}

function isUnderWay({ kind }: Publication | CommitOutcome): boolean {
  return kind === 'rename' || kind === 'published' || kind === 'taken';
}

function isIn({ kind }: CommitOutcome): boolean {
  return kind === 'committed' || kind === 'already-committed';
}

/** The newest checkpoint of each lineage. */
function newestOf(committables: readonly Prepared[]): readonly Prepared['identity'][] {
  const newest = new Map<string, Prepared['identity']>();
  for (const { identity } of committables) {
    const known = newest.get(identity.lineage);
    if (known === undefined || known.checkpointId < identity.checkpointId) newest.set(identity.lineage, identity);
  }
  return [...newest.values()];
}
