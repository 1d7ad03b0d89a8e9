import path from 'node:path';
import type { CheckpointRef, CommitMark, FileSystem, Lineage } from '@weir/core/contracts';
import { encodePart } from '../file-names.js';
import { MARKER, putFile, readFields } from './marker-files.js';

const PREFIX = 'mark-';
const FORMAT = 'weir-mark';
const VERSION = 1;
/** Lineages kept in mind for each sink. There is one for each start from anything but the newest checkpoint. */
const MOST_LINEAGES = 100;

export interface StoredMark extends CommitMark {
  /** Of the names of its files. */
  readonly prefix: string;
  /** Epoch ms at which the lineage came here first. */
  readonly since: number;
  /** Its job has finished: nobody goes on from it. */
  readonly finished?: boolean | undefined;
}

/** How far commits of one sink have come in a folder, lineage by lineage. Each lineage has a file of its own, which only its owner writes. */
export class FolderMarks {
  readonly #fileSystem: FileSystem;
  readonly #folder: string;
  readonly #uid: string;
  readonly #prefix: string;
  readonly #nonce: string;
  #marks = new Map<Lineage, StoredMark>();
  #writing: Promise<void> = Promise.resolve();

  constructor(
    fileSystem: FileSystem,
    dir: string,
    { uid, prefix, nonce }: { readonly uid: string; readonly prefix: string; readonly nonce: string },
  ) {
    this.#fileSystem = fileSystem;
    this.#folder = path.join(dir, MARKER);
    this.#uid = uid;
    this.#prefix = prefix;
    this.#nonce = nonce;
  }

  get all(): readonly CommitMark[] {
    return this.stored.map(({ lineage, checkpointId, from }) => ({ lineage, checkpointId, ...(from && { from }) }));
  }
  get stored(): readonly StoredMark[] {
    return [...this.#marks.values()];
  }

  of(lineage: Lineage): number {
    return this.#marks.get(lineage)?.checkpointId ?? 0;
  }

  async read(): Promise<void> {
    this.#marks = new Map();
    for (const { name } of await this.#fileSystem.readDirectory(this.#folder)) {
      if (!name.startsWith(PREFIX) || name.endsWith('.tmp')) continue;
      const mark = markIn(await readFields(this.#fileSystem, path.join(this.#folder, name)), this.#uid);
      if (mark !== undefined) this.#marks.set(mark.lineage, mark);
    }
    // Who wrote them may have died before the names were durable; what is relied on now must not be gone after a crash.
    await this.#fileSystem.syncDirectory(this.#folder);
  }

  /** Notes where a lineage comes from, if it is not known here, and that it goes on. */
  async register(lineage: Lineage, from: CheckpointRef | undefined, now: number): Promise<void> {
    const known = this.#marks.get(lineage);
    if (known !== undefined) {
      const { finished, ...mark } = known;
      if (finished === true) await this.#write(mark);
      return;
    }
    const origin = from === undefined || from.lineage === lineage ? {} : { from };
    await this.#write({ lineage, checkpointId: 0, prefix: this.#prefix, since: now, ...origin });
    const old = [...this.#marks.values()].toSorted((a, b) => b.since - a.since).slice(MOST_LINEAGES);
    for (const mark of old.filter((each) => each.lineage !== lineage)) {
      this.#marks.delete(mark.lineage);
      await this.#fileSystem.remove(path.join(this.#folder, nameOf(mark.lineage, this.#uid)));
    }
  }

  /** Durably: commits of this checkpoint have begun. One write for all subtasks that ask for the same. */
  begin({ lineage, checkpointId }: CheckpointRef): Promise<void> {
    const next = this.#writing.then(async () => {
      const mark = this.#marks.get(lineage) ?? { lineage, checkpointId: 0, prefix: this.#prefix, since: 0 };
      if (mark.checkpointId < checkpointId) await this.#write({ ...mark, checkpointId });
    });
    this.#writing = next.catch(() => undefined);
    return next;
  }

  /** Durably: the job of this lineage has finished. */
  async finish(lineage: Lineage): Promise<void> {
    await this.#writing;
    const mark = this.#marks.get(lineage);
    if (mark !== undefined) await this.#write({ ...mark, finished: true });
  }

  async #write(mark: StoredMark): Promise<void> {
    const content = { format: FORMAT, version: VERSION, uid: this.#uid, ...mark };
    const name = nameOf(mark.lineage, this.#uid);
    await putFile(this.#fileSystem, { folder: this.#folder, name, content, nonce: this.#nonce });
    await this.#fileSystem.syncDirectory(this.#folder);
    this.#marks.set(mark.lineage, mark);
  }
}

function nameOf(lineage: Lineage, uid: string): string {
  return `${PREFIX}${encodePart(lineage)}.${encodePart(uid)}`;
}

function markIn(fields: Readonly<Record<string, unknown>>, uid: string): StoredMark | undefined {
  const { format, version, lineage, checkpointId, prefix, since, from, finished } = fields;
  if (format !== FORMAT || version !== VERSION || fields['uid'] !== uid) return undefined;
  if (typeof lineage !== 'string' || typeof checkpointId !== 'number' || typeof since !== 'number') return undefined;
  if (typeof prefix !== 'string') return undefined;
  return {
    lineage,
    checkpointId,
    prefix,
    since,
    ...(from === undefined ? {} : { from: from as CheckpointRef }),
    ...(finished === true && { finished }),
  };
}
