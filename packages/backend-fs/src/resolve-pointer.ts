import { basename, dirname, join } from 'node:path';
import { hasCode, WeirError, type FileKind, type FileSystem, type StoredCheckpoint } from '@weir/core/contracts';
import { storageFailed } from './failure.js';
import { listCheckpoints } from './list-checkpoints.js';
import { METADATA, checkpointIdOf, isSavepointName, pathOf } from './layout.js';
import { kindAt } from './plain-file.js';

/** How many checkpoints an error offers instead. */
const OFFERED = 3;

/** The completed checkpoint that a path names: its folder or its `_metadata` file. CHECKPOINT_NONE, naming what is near, if there is none. */
export async function resolvePointer(fs: FileSystem, pointer: string): Promise<StoredCheckpoint> {
  const path = pathOf(pointer, 'The path of a checkpoint');
  try {
    // Whatever stands in the place of `_metadata`: that it is no file is for its reader to say.
    if (basename(path) === METADATA && (await isThere(fs, path))) return found(dirname(path));
    const kind = await kindOf(fs, path);
    if (kind === 'directory' && (await isThere(fs, join(path, METADATA)))) return found(path);
    throw new WeirError('CHECKPOINT_NONE', `${await whyNot(fs, path, kind)}${await offer(fs, path)}`);
  } catch (cause) {
    throw storageFailed(`Looking for a checkpoint at ${path}`, cause);
  }
}

/** A folder that is not named like a checkpoint (a copy under another name) does not tell the id: it is 0, and `_metadata` has it. */
function found(folder: string): StoredCheckpoint {
  return { id: checkpointIdOf(basename(folder)) ?? 0, pointer: folder, complete: true };
}

async function whyNot(fs: FileSystem, path: string, kind: Kind): Promise<string> {
  switch (kind) {
    case 'absent':
      return `There is no checkpoint at ${path}: the path does not exist.`;
    case 'file':
    case 'other':
      return `There is no checkpoint at ${path}: it is no folder. Give the folder of a checkpoint, or its ${METADATA} file.`;
    case 'directory': {
      if ((await fs.readDirectory(path)).length === 0) return `There is no checkpoint at ${path}: the folder is empty.`;
      const name = basename(path);
      const isOurs = checkpointIdOf(name) !== undefined || isSavepointName(name);
      const why = isOurs ? ' It was never completed, or is being deleted.' : '';
      return `There is no checkpoint at ${path}: the folder has no ${METADATA}.${why}`;
    }
  }
}

/** Completed checkpoints in the folder, else in its folders, else beside it. */
async function offer(fs: FileSystem, path: string): Promise<string> {
  let near = await completedIn(fs, path);
  if (near.length === 0) near = await completedInFolders(fs, path);
  if (near.length === 0) near = await completedIn(fs, dirname(path));
  if (near.length === 0) return '';
  const newest = near.slice(0, OFFERED).map((checkpoint) => checkpoint.pointer);
  return ` Complete ones near it, newest first: ${newest.join(', ')}${near.length > OFFERED ? ', ...' : ''}. Name one of them.`;
}

async function completedIn(fs: FileSystem, folder: string): Promise<readonly StoredCheckpoint[]> {
  if ((await kindOf(fs, folder)) !== 'directory') return [];
  const checkpoints = await listCheckpoints(fs, folder);
  return [...checkpoints.filter(({ complete }) => complete).reverse(), ...(await savepointsIn(fs, folder))];
}

async function savepointsIn(fs: FileSystem, folder: string): Promise<readonly StoredCheckpoint[]> {
  const names = (await fs.readDirectory(folder)).map(({ name }) => name).filter(isSavepointName);
  const complete: StoredCheckpoint[] = [];
  for (const name of names.sort()) {
    const pointer = join(folder, name);
    if ((await kindAt(fs, join(pointer, METADATA))) === 'file') complete.push(found(pointer));
  }
  return complete;
}

async function completedInFolders(fs: FileSystem, path: string): Promise<readonly StoredCheckpoint[]> {
  if ((await kindOf(fs, path)) !== 'directory') return [];
  const folders = (await fs.readDirectory(path)).filter((entry) => entry.kind === 'directory');
  const names = folders.map(({ name }) => name).sort();
  const found: StoredCheckpoint[] = [];
  // The newest of each: the folders may belong to different jobs.
  for (const name of names) found.push(...(await completedIn(fs, join(path, name))).slice(0, 1));
  return found;
}

async function isThere(fs: FileSystem, path: string): Promise<boolean> {
  return (await kindAt(fs, path)) !== 'absent';
}

type Kind = FileKind | 'absent';

/** Of what a link leads to: a user's path may be one. */
async function kindOf(fs: FileSystem, path: string): Promise<Kind> {
  try {
    return (await fs.stat(path)).kind;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'absent';
    throw error;
  }
}
