import path from 'node:path';
import {
  WeirError,
  type CheckpointRef,
  type FileSystem,
  type JobEnding,
  type SinkContext,
  type SinkDestination,
  type SnapshotKind,
} from '@weir/core/contracts';
import { FileNaming } from './file-names.js';
import {
  FolderClaims,
  isLater,
  objectionTo,
  conflictOf,
  type Claim,
  type Objection,
  type Owner,
} from './marker/claims.js';
import { identityOf } from './marker/identity.js';
import { MARKER, putFile } from './marker/marker-files.js';
import { FolderMarks } from './marker/marks.js';

/** What happens to finished files of other lineages that are in the folder when a job starts afresh. */
export type Occupied = 'refuse' | 'append' | 'overwrite';

export interface OutputFolderOptions {
  readonly fileSystem: FileSystem;
  readonly dir: string;
  readonly prefix: string;
  readonly extension: string;
  readonly occupied: Occupied;
}

const KEPT = 'kept-';
const LOST = 'lost-';

/** The folder of a sink, as one attempt has it: whose it is, what is remembered in it, and what may be removed from it. */
export class OutputFolder {
  readonly #options: OutputFolderOptions;
  /** Apart from the lineage, which may become another one before anything is written. */
  readonly #context: SinkContext;
  readonly #nonce: string;
  readonly #claims: FolderClaims;
  readonly #marks: FolderMarks;
  /** How far commits had come when the attempt began. */
  #begun: ReadonlyMap<string, number> = new Map();
  #lost: ReadonlySet<string> = new Set();
  #claim: Claim | undefined;
  #naming: FileNaming;
  #kept: Promise<void> | undefined;
  #swept: Promise<void> | undefined;

  constructor(options: OutputFolderOptions, context: SinkContext) {
    const { fileSystem, dir, prefix, extension } = options;
    this.#options = options;
    this.#context = context;
    this.#nonce = textOf(context.random, 10);
    this.#claims = new FolderClaims(fileSystem, dir);
    this.#marks = new FolderMarks(fileSystem, dir, { uid: context.uid, prefix, nonce: this.#nonce });
    this.#naming = new FileNaming(prefix, extension, context, this.#nonce);
  }

  get naming(): FileNaming {
    return this.#naming;
  }

  async open(): Promise<SinkDestination> {
    const { fileSystem, dir } = this.#options;
    const mint = (): string => textOf(this.#context.random, 25);
    const id = await identityOf(fileSystem, dir, this.#nonce, mint, this.#context);
    await this.#marks.read();
    this.#begun = new Map(this.#marks.all.map(({ lineage, checkpointId }) => [lineage, checkpointId]));
    const notes = (await fileSystem.readDirectory(this.#path(MARKER))).map(({ name }) => name);
    this.#lost = new Set(notes.filter((name) => name.startsWith(LOST)).map((name) => name.slice(LOST.length)));
    return { id, name: dir, committed: this.#marks.all };
  }

  /**
   * Makes the folder this attempt's: nothing in it is touched before it is. Then what dead attempts of this sink were writing is removed, and a
   * fresh start does not mix its output with that of others unnoticed. Fails with SINK_DIRECTORY_OCCUPIED.
   */
  async prepare(context: SinkContext): Promise<void> {
    const { prefix, extension, occupied } = this.#options;
    const { job, uid, lineage, restoredFrom, clock } = context;
    this.#naming = new FileNaming(prefix, extension, context, this.#nonce);
    const mine = { job, uid, prefix, lineage, nonce: this.#nonce, append: occupied === 'append' };
    const foreign = await this.#foreignFiles(context);
    if (foreign.length > 0 && occupied === 'refuse') throw this.#occupied(context, filesOf(foreign));
    await this.#takeOver(mine, context);
    await this.#marks.register(lineage, restoredFrom, clock.now());
    await this.#removeUnfinished();
    for (const name of foreign) if (occupied === 'overwrite') await this.#options.fileSystem.remove(this.#path(name));
  }

  /** A commit of the checkpoint had begun before this attempt did. */
  hadBegun({ lineage, checkpointId }: CheckpointRef, final: string): boolean {
    return checkpointId > 0 && (this.#begun.get(lineage) ?? 0) >= checkpointId && !this.#lost.has(final);
  }

  /**
   * Durably notes that commits of these checkpoints begin, and then makes sure that the folder still is this attempt's: of two that do so, at least
   * one sees the other. Fails with SINK_DIRECTORY_OCCUPIED, or COMMIT_FAILED if the folder was replaced.
   */
  async begin(checkpoints: readonly CheckpointRef[]): Promise<void> {
    for (const checkpoint of checkpoints) if (checkpoint.checkpointId > 0) await this.#marks.begin(checkpoint);
    await this.verify();
  }

  /** Fails if the folder is not this attempt's any more. */
  async verify(): Promise<void> {
    const { uid, job } = this.#context;
    const overruling = this.#claim && (await this.#claims.overruling(this.#claim));
    if (overruling === undefined) return;
    if (overruling !== 'gone') throw this.#occupied(this.#context, ownerIn(overruling));
    throw new WeirError(
      'COMMIT_FAILED',
      `Sink ${uid} of job ${job} does not find its claim in ${this.#path(MARKER)}: the folder was emptied or replaced while the job ran.`,
    );
  }

  /** Durably notes that a file is lost, so that nobody takes it for published later on. */
  async noteLost(final: string): Promise<void> {
    await this.#note(`${LOST}${final}`);
  }

  /** Before a barrier leaves: what is prepared by then may be the user's from now on; and what dead attempts had prepared is nobody's any more. */
  async beforeBarrier(kind: SnapshotKind): Promise<void> {
    if (kind === 'savepoint') await (this.#kept ??= this.#note(`${KEPT}${this.#nonce}`));
    await (this.#swept ??= this.#sweep());
  }

  /** The job has ended: others may write here. One that has finished is not gone on with, so that a fresh start repeats nothing of it. */
  async release(ending: JobEnding): Promise<void> {
    const claim = this.#claim;
    this.#claim = undefined;
    if (claim === undefined) return;
    if (ending.kind === 'finished') await this.#marks.finish(claim.lineage);
    await this.#claims.remove(claim);
  }

  async #takeOver(mine: Owner, context: SinkContext): Promise<void> {
    const { occupied } = this.#options;
    const may = { restored: context.restoredFrom !== undefined, overwrite: occupied === 'overwrite' };
    const before = await this.#claims.read();
    this.#refuseIf(objectionTo(mine, before, this.#marks.stored, may), context);
    const claim = await this.#claims.attempt(mine, before);
    // Somebody else may have done the same meanwhile, or published: of two, at least one sees the other.
    await this.#marks.read();
    const earlier = (await this.#claims.read()).filter((other) => isLater(claim, other));
    const objection = objectionTo(mine, earlier, this.#marks.stored, may);
    if (objection !== undefined) await this.#claims.remove(claim);
    this.#refuseIf(objection, context);
    if (!(await this.#claims.confirm(claim)))
      throw this.#occupied(context, 'was just published to by another run of it');
    this.#claim = claim;
  }

  /**
   * Whoever has claimed the folder later is alive, and so are its files. All others of this sink are of dead attempts, or of some that can publish
   * nothing any more. The files are listed first: who writes one has claimed the folder before.
   */
  async #removeUnfinished(): Promise<void> {
    const hidden = await this.#hidden('inprogress');
    const claims = (await this.#claims.read()).filter((claim) => this.#isSame(claim));
    const living = this.#livingIn(claims);
    for (const { name, nonce } of hidden) if (!living.has(nonce)) await this.#remove(name);
    for (const claim of claims) if (!living.has(claim.nonce)) await this.#claims.remove(claim);
  }

  /**
   * By the time of the first barrier all that the restored checkpoint holds is committed, and nothing newer is complete. So nobody asks for what dead
   * attempts of this lineage have prepared, unless there is a savepoint of theirs.
   */
  async #sweep(): Promise<void> {
    const { logger, lineage, uid } = { ...this.#context, lineage: this.#claim?.lineage };
    try {
      const hidden = (await this.#hidden('pending')).filter((file) => file.lineage === lineage);
      if (hidden.length === 0) return;
      const living = this.#livingIn((await this.#claims.read()).filter((claim) => this.#isSame(claim)));
      const notes = new Set((await this.#options.fileSystem.readDirectory(this.#path(MARKER))).map(({ name }) => name));
      const nobodys = hidden.filter(({ nonce }) => !living.has(nonce) && !notes.has(`${KEPT}${nonce}`));
      for (const { name } of nobodys) await this.#remove(name);
    } catch (error) {
      logger.warn({ err: error, sink: uid, dir: this.#options.dir }, 'prepared files of dead attempts stay behind');
    }
  }

  #livingIn(claims: readonly Claim[]): ReadonlySet<string> {
    const mine = this.#claim;
    const later = claims.filter((claim) => mine === undefined || isLater(claim, mine));
    return new Set([this.#nonce, ...later.map(({ nonce }) => nonce)]);
  }

  #isSame(claim: Claim): boolean {
    return this.#claim !== undefined && conflictOf(this.#claim, claim) === 'same';
  }

  async #hidden(state: 'inprogress' | 'pending') {
    const entries = await this.#options.fileSystem.readDirectory(this.#options.dir);
    return entries.flatMap(({ name }) => {
      const file = this.#naming.readHidden(name);
      return file?.state === state ? [{ name, ...file }] : [];
    });
  }

  /** Finished files of others in the way of a fresh start. A restored job goes on with output that earlier lineages have published. */
  async #foreignFiles({ restoredFrom }: SinkContext): Promise<readonly string[]> {
    const { fileSystem, dir, occupied } = this.#options;
    if (restoredFrom !== undefined || occupied === 'append') return [];
    return (await fileSystem.readDirectory(dir))
      .map(({ name }) => name)
      .filter((name) => {
        const identity = this.#naming.readFinal(name);
        return identity !== undefined && !this.#naming.isOfThisLineage(identity);
      });
  }

  #refuseIf(objection: Objection | undefined, context: SinkContext): void {
    if (objection?.kind === 'owned') throw this.#occupied(context, ownerIn(objection.by));
    if (objection?.kind === 'taken') throw this.#occupied(context, takenFrom(objection.mark.checkpointId));
  }

  #occupied({ job, uid, restoredFrom }: SinkContext, why: string): WeirError {
    const { dir } = this.#options;
    const starts = restoredFrom === undefined ? 'starts afresh, but' : 'cannot write, for';
    return new WeirError(
      'SINK_DIRECTORY_OCCUPIED',
      `Sink ${uid} of job ${job} ${starts} ${dir} ${why}. Empty the folder (with ${MARKER} in it) or name another one, ` +
        'or set append: true to keep the files or overwrite: true to delete them.',
      { recoverable: false },
    );
  }

  async #note(name: string): Promise<void> {
    const { fileSystem } = this.#options;
    await putFile(fileSystem, { folder: this.#path(MARKER), name, content: {}, nonce: this.#nonce });
    await fileSystem.syncDirectory(this.#path(MARKER));
  }

  #remove(name: string): Promise<void> {
    return this.#options.fileSystem.remove(this.#path(name));
  }

  #path(name: string): string {
    return path.join(this.#options.dir, name);
  }
}

function filesOf(foreign: readonly string[]): string {
  return `holds the output of an earlier run (${String(foreign.length)} files, such as ${String(foreign[0])})`;
}

function takenFrom(checkpointId: number): string {
  return `holds the output of another run of it up to checkpoint ${String(checkpointId)}, which has not finished; its files were taken away`;
}

function ownerIn({ job, uid, number }: Claim): string {
  return `is written to by sink ${uid} of job ${job}, or was until that was killed (claim ${String(number)})`;
}

const SIGNS = 'abcdefghijklmnopqrstuvwxyz0123456789';

function textOf(random: () => number, length: number): string {
  return Array.from({ length }, () => SIGNS[Math.floor(random() * SIGNS.length)]).join('');
}
