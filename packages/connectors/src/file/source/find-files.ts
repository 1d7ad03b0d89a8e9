import path from 'node:path';
import { hasCode, WeirError, type FileSystem, type SourceContext } from '@weir/core/contracts';
import type { default as Picomatch } from 'picomatch';

/** Where the files of a source lie: `root` is the folder that their names are relative to. */
export type Place =
  | { readonly kind: 'file'; readonly root: string; readonly name: string }
  | { readonly kind: 'folder'; readonly root: string; readonly matches: (name: string) => boolean };

/** What a path means: a file, a folder with all below it, or, if there is nothing of that name, a glob. */
export async function locate(fileSystem: FileSystem, given: string): Promise<Place> {
  const kind = await kindOf(fileSystem, given);
  if (kind === 'directory') return { kind: 'folder', root: path.normalize(given), matches: () => true };
  if (kind === undefined) {
    // Loaded here: most sources read a file or a folder.
    const { default: picomatch } = (await import('picomatch')) as { default: typeof Picomatch };
    const { base, glob, isGlob } = picomatch.scan(given);
    if (isGlob) return { kind: 'folder', root: path.normalize(base), matches: picomatch(glob) };
  }
  const file = path.normalize(given);
  return { kind: 'file', root: path.dirname(file), name: path.basename(file) };
}

/**
 * Names of the files, relative to the root and with `/`, in the order of their characters' codes. Links are followed. One that leads nowhere, or to
 * a folder that it lies in, is SOURCE_FAILED; what is neither a file nor a folder is passed over with a warning.
 */
export async function listFiles(
  fileSystem: FileSystem,
  place: Place,
  context: SourceContext,
): Promise<readonly string[]> {
  const names = await new Listing(fileSystem, place, context).names();
  return names.toSorted();
}

/** Not input: hidden names, names that begin with `_`, and those that programs give to files they have not finished yet. */
const IGNORED = /^[._]|\.(?:inprogress|part|partial|tmp)$/i;

class Listing {
  readonly #fileSystem: FileSystem;
  readonly #place: Place;
  readonly #context: SourceContext;
  readonly #names: string[] = [];

  constructor(fileSystem: FileSystem, place: Place, context: SourceContext) {
    this.#fileSystem = fileSystem;
    this.#place = place;
    this.#context = context;
  }

  async names(): Promise<readonly string[]> {
    const { root } = this.#place;
    if (this.#place.kind === 'file') {
      const file = path.join(root, this.#place.name);
      const kind = await kindOf(this.#fileSystem, file);
      if (kind === 'other') throw this.#failed(`${file} is neither a file nor a folder`);
      return kind === undefined ? [] : [this.#place.name];
    }
    if ((await kindOf(this.#fileSystem, root)) !== undefined) await this.#walk('', await this.#below(root, []));
    return this.#names;
  }

  /** `folders` are this one and those that it lies in, by the names that they have without links. */
  async #walk(below: string, folders: readonly string[]): Promise<void> {
    for (const { name: entry, kind } of await this.#fileSystem.readDirectory(path.join(this.#place.root, below))) {
      if (IGNORED.test(entry)) continue;
      const name = below === '' ? entry : `${below}/${entry}`;
      const full = path.join(this.#place.root, name);
      switch (kind === 'other' ? await kindOf(this.#fileSystem, full) : kind) {
        case 'file':
          if (this.#isMeant(name)) this.#names.push(name);
          break;
        case 'directory':
          await this.#walk(name, await this.#below(full, folders));
          break;
        case 'other':
          if (this.#isMeant(name)) this.#warn(full);
          break;
        case undefined:
          if (this.#isMeant(name)) throw this.#failed(`the link ${full} leads nowhere`);
      }
    }
  }

  async #below(folder: string, folders: readonly string[]): Promise<readonly string[]> {
    const real = await this.#fileSystem.realPath(folder);
    if (!folders.includes(real)) return [...folders, real];
    throw this.#failed(`${folder} is a link to ${real}, a folder that it lies in, so what is below it has no end`);
  }

  #isMeant(name: string): boolean {
    return this.#place.kind === 'folder' && this.#place.matches(name);
  }

  #warn(file: string): void {
    const { logger, uid } = this.#context;
    logger.warn({ uid, file }, 'what is neither a file nor a folder was passed over');
  }

  #failed(what: string): WeirError {
    const { job, uid } = this.#context;
    return new WeirError(
      'SOURCE_FAILED',
      `Source ${uid} of job ${job}: ${what}. Remove it, or give it a name that begins with '_', which is no input.`,
      { recoverable: false },
    );
  }
}

/** Undefined: there is nothing, or a link that leads nowhere. */
async function kindOf(fileSystem: FileSystem, name: string): Promise<'file' | 'directory' | 'other' | undefined> {
  try {
    return (await fileSystem.stat(name)).kind;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  }
}
