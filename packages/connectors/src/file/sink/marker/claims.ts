import path from 'node:path';
import { hasCode, type FileSystem } from '@weir/core/contracts';
import { MARKER, putFile, readFields } from './marker-files.js';
import type { StoredMark } from './marks.js';

const FORMAT = 'weir-owner';
const VERSION = 1;

/** Who writes to a folder. */
export interface Owner {
  readonly job: string;
  readonly uid: string;
  readonly prefix: string;
  readonly lineage: string;
  readonly nonce: string;
  /** It adds its files to those of others, and lets others do the same. */
  readonly append: boolean;
}
/**
 * Claims are in a total order, by number and then by nonce; a later one has the say over an earlier one that it conflicts with. It is made in two steps,
 * so that the earlier one, should it be about to publish, can still take it away: who looks for what was published, and who publishes, do not miss
 * each other, and one of the two goes on.
 */
export interface Claim extends Owner {
  readonly number: number;
}

/** `same`: another attempt or process of the very sink, of which only one may publish. `foreign`: another job whose files would mix with these. */
export function conflictOf(mine: Owner, other: Owner): 'same' | 'foreign' | undefined {
  if (mine.prefix !== other.prefix) return undefined;
  if (mine.job !== other.job) return mine.append || other.append ? undefined : 'foreign';
  return mine.uid === other.uid ? 'same' : undefined;
}

export function isLater(a: Claim, b: Claim): boolean {
  return a.number === b.number ? a.nonce > b.nonce : a.number > b.number;
}

/** What stands against writing here; undefined: nothing. */
export type Objection =
  { readonly kind: 'owned'; readonly by: Claim } | { readonly kind: 'taken'; readonly mark: StoredMark };

/**
 * Whether an attempt may write to a folder that others have claimed. Claims of the same sink are those of dead attempts, or of a process that must
 * not publish beside this one: a restored job takes over. A fresh one does so only while no run that somebody may go on with has published anything: who
 * loses the checkpoints of such a run, or puts older ones back, would repeat what a consumer has taken away.
 */
export function objectionTo(
  mine: Owner,
  claims: readonly Claim[],
  marks: readonly StoredMark[],
  { restored, overwrite }: { readonly restored: boolean; readonly overwrite: boolean },
): Objection | undefined {
  if (overwrite && !restored) return undefined;
  const by = claims.find((claim) => conflictOf(mine, claim) === 'foreign');
  if (by !== undefined) return { kind: 'owned', by };
  if (restored || mine.append) return undefined;
  const mark = marks.find(
    ({ lineage, checkpointId, prefix, finished }) =>
      checkpointId > 0 && finished !== true && prefix === mine.prefix && lineage !== mine.lineage,
  );
  return mark && { kind: 'taken', mark };
}

/** The claims in a folder. They keep processes apart that live: none needs to survive a crash of the machine. */
export class FolderClaims {
  readonly #fileSystem: FileSystem;
  readonly #folder: string;

  constructor(fileSystem: FileSystem, dir: string) {
    this.#fileSystem = fileSystem;
    this.#folder = path.join(dir, MARKER);
  }

  async read(): Promise<readonly Claim[]> {
    const claims: Claim[] = [];
    for (const { name } of await this.#fileSystem.readDirectory(this.#folder)) {
      const match = /^(?:owner|trying)-(\d+)-([a-z\d]+)$/.exec(name);
      if (match === null) continue;
      const owner = ownerIn(await readFields(this.#fileSystem, path.join(this.#folder, name)));
      if (owner !== undefined) claims.push({ ...owner, number: Number(match[1]), nonce: match[2]! });
    }
    return claims;
  }

  /** The first step of a claim later than all that are there. */
  async attempt(owner: Owner, others: readonly Claim[]): Promise<Claim> {
    const claim = { ...owner, number: 1 + Math.max(0, ...others.map(({ number }) => number)) };
    const content = { format: FORMAT, version: VERSION, ...owner };
    await putFile(this.#fileSystem, {
      folder: this.#folder,
      name: nameOf(claim, 'trying'),
      content,
      nonce: owner.nonce,
    });
    return claim;
  }

  /** The second step. False: somebody has taken it away, for it publishes. */
  async confirm(claim: Claim): Promise<boolean> {
    try {
      await this.#fileSystem.rename(this.#path(nameOf(claim, 'trying')), this.#path(nameOf(claim, 'owner')));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async remove(claim: Claim): Promise<void> {
    try {
      for (const step of ['owner', 'trying'] as const) await this.#fileSystem.remove(this.#path(nameOf(claim, step)));
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }

  /** The claim that has come after `mine` in its way; `gone` if the folder does not know `mine` any more. */
  async overruling(mine: Claim): Promise<Claim | 'gone' | undefined> {
    const names = await this.#names();
    // Claims are read only if there are others: as a rule there are none.
    const others = names.filter((name) => /^(?:owner|trying)-/.test(name) && !name.includes(mine.nonce));
    if (others.length > 0) {
      const later = (await this.read()).filter(
        (claim) => isLater(claim, mine) && conflictOf(mine, claim) !== undefined,
      );
      for (const claim of later) await this.#fileSystem.remove(this.#path(nameOf(claim, 'trying')));
      const confirmed = await this.#names();
      const by = later.find((claim) => confirmed.includes(nameOf(claim, 'owner')));
      if (by !== undefined) return by;
    }
    return names.includes(nameOf(mine, 'owner')) ? undefined : 'gone';
  }

  async #names(): Promise<readonly string[]> {
    return (await this.#fileSystem.readDirectory(this.#folder)).map(({ name }) => name);
  }

  #path(name: string): string {
    return path.join(this.#folder, name);
  }
}

function nameOf({ number, nonce }: Claim, step: 'trying' | 'owner'): string {
  return `${step}-${String(number).padStart(9, '0')}-${nonce}`;
}

function ownerIn(fields: Readonly<Record<string, unknown>>): Omit<Owner, 'nonce'> | undefined {
  const { format, version, job, uid, prefix, lineage, append } = fields;
  if (format !== FORMAT || version !== VERSION) return undefined;
  if (typeof job !== 'string' || typeof uid !== 'string' || typeof prefix !== 'string') return undefined;
  return typeof lineage === 'string' ? { job, uid, prefix, lineage, append: append === true } : undefined;
}
