import path from 'node:path';
import type { FileSystem } from '@weir/core/contracts';
import type { default as Picomatch } from 'picomatch';
import { isMissing } from './input-file.js';

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

/** Names of the files, relative to the root and with `/`, in the order of their characters' codes. */
export async function listFiles(fileSystem: FileSystem, place: Place): Promise<readonly string[]> {
  if (place.kind === 'file') {
    const kind = await kindOf(fileSystem, path.join(place.root, place.name));
    return kind === undefined ? [] : [place.name];
  }
  if ((await kindOf(fileSystem, place.root)) === undefined) return [];
  const names: string[] = [];
  await walk(fileSystem, place.root, '', names);
  return names.filter((name) => place.matches(name)).sort();
}

/** Not input: hidden names, names that begin with `_`, and those that programs give to files they have not finished yet. */
const IGNORED = /^[._]|\.(?:inprogress|part|partial|tmp)$/i;

async function walk(fileSystem: FileSystem, root: string, below: string, names: string[]): Promise<void> {
  for (const entry of await fileSystem.readDirectory(path.join(root, below))) {
    if (IGNORED.test(entry.name)) continue;
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    // A link may lead to a file; links to folders are not followed, they may lead around in a circle.
    const isLink = entry.kind === 'other';
    const isFile = entry.kind === 'file' || (isLink && (await kindOf(fileSystem, path.join(root, name))) === 'file');
    if (isFile) names.push(name);
    else if (!isLink) await walk(fileSystem, root, name, names);
  }
}

async function kindOf(fileSystem: FileSystem, name: string): Promise<'file' | 'directory' | 'other' | undefined> {
  try {
    return (await fileSystem.stat(name)).kind;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
