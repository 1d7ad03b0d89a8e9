import { dirname, join, resolve } from 'node:path';
import {
  WeirError,
  localPath,
  type CheckpointId,
  type FileBlob,
  type JobName,
  type SharedBlob,
} from '@weir/core/contracts';

// Every name below a checkpoint directory:
//
//   <dir>/<job>/                     the job's name, encoded
//     chk-<n>/                       one checkpoint: its private files
//       _metadata                    makes it complete
//       _committed                   all output that it covers is committed
//       blob-<random>                a blob
//     shared/                        files that several checkpoints are made of; there once one is incremental
//       <random>                     a blob, deleted when no _metadata that is left names it
//     _finished                      the job has finished
//     _lock/attempt-<n>.<owner>      who runs the job, and its latest attempt; one entry, see lock/lock-register.ts
//
// Every name in a directory for savepoints, which may be the same:
//
//   <dir>/savepoint-<job>-<random>/  one savepoint: as chk-<n>, and never with files in shared/
//
//   *.<random>.tmp, _lock.<random>/  not published yet, or left by a process that died on the way
//
// Blobs are named relative to chk-<n>: in it, or in ../shared. So a job's folder or the whole directory can be moved, and so can a checkpoint
// that shares nothing (`selfContained` in its _metadata).

export const METADATA = '_metadata';
export const COMMITTED = '_committed';
export const FINISHED = '_finished';
export const LOCK = '_lock';
const SHARED = 'shared';

export function checkpointFolder(jobFolder: string, checkpointId: CheckpointId): string {
  return join(jobFolder, `chk-${String(checkpointId)}`);
}

export function sharedFolder(jobFolder: string): string {
  return join(jobFolder, SHARED);
}

/** Where the bytes of a blob are. Undefined for a name that nobody here gives: it might lead to any file of the machine. */
export function blobFile(checkpointFolder: string, { kind, path }: FileBlob | SharedBlob): string | undefined {
  if (!isBlobName(path)) return undefined;
  return join(kind === 'shared' ? sharedFolder(dirname(checkpointFolder)) : checkpointFolder, path);
}

/** The name of a blob of one checkpoint, by which it is told from what a user has put beside it. */
export function privateBlob(random: string): string {
  return `blob-${random}`;
}

/** Whether a file of this name in the folder of a checkpoint belongs to it. */
export function isOfCheckpoint(name: string): boolean {
  return /^(blob-[\w-]+|_(metadata|committed)(\.[\w-]+\.tmp)?)$/.test(name);
}

export function isBlobName(name: string): boolean {
  return /^[\w-]+$/.test(name);
}

export function savepointFolder(directory: string, job: JobName, random: string): string {
  return join(directory, `savepoint-${jobFolderName(job)}-${random}`);
}

export function isSavepointName(folderName: string): boolean {
  return folderName.startsWith('savepoint-');
}

/** The id of a checkpoint's folder, or undefined for any other name (`chk-08` and `chk-8.tmp` too). */
export function checkpointIdOf(folderName: string): CheckpointId | undefined {
  const digits = /^chk-([1-9]\d*)$/.exec(folderName)?.[1];
  const id = Number(digits);
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The name under which a file is written before it takes its own. */
export function temporaryName(name: string, random: string): string {
  return `${name}.${random}.tmp`;
}
/** The name under which the lock's folder is prepared. */
export function temporaryLock(random: string): string {
  return `${LOCK}.${random}`;
}
/** A name in a job's folder that only counts while its writer lives. */
export function isTemporary(name: string): boolean {
  return name.startsWith(`${LOCK}.`) || (name.startsWith(`${FINISHED}.`) && name.endsWith('.tmp'));
}

const LONGEST_NAME = 200;

/**
 * A job's name as the name of a folder: small letters, digits, `_`, `-`, and dots inside stay; every other byte of its UTF-8 becomes `%` and
 * two hexadecimal digits. So no two names share a folder, also where the disk ignores case, and `decodeURIComponent` gives the name back.
 * Fails with CONFIG_INVALID if the name is empty, too long or not Unicode.
 */
export function jobFolderName(job: JobName): string {
  if (job === '')
    throw new WeirError(
      'CONFIG_INVALID',
      'The job has an empty name: name it, since its checkpoints are found by its name.',
    );
  let encoded: string;
  try {
    encoded = encodeURIComponent(job);
  } catch (cause) {
    throw new WeirError('CONFIG_INVALID', `The job's name ${JSON.stringify(job)} is not valid Unicode.`, { cause });
  }
  const folder = encoded
    .replace(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase())
    .replace(/[A-Z!'()*~]|^\.|\.$/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  if (folder.length > LONGEST_NAME) {
    throw new WeirError(
      'CONFIG_INVALID',
      `The job's name ${JSON.stringify(job)} is too long for a folder: ${String(folder.length)} bytes encoded, ${String(LONGEST_NAME)} are possible.`,
    );
  }
  return folder;
}

/** A path as users give it: absolute, relative to the working directory, or a `file:` URL. CONFIG_INVALID for what is none of them, naming `what`. */
export function pathOf(text: string, what: string): string {
  return resolve(localPath(text, what));
}
