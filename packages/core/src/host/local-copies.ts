import { join } from 'node:path';
import type { BlobWriter, CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { RestorePlan } from '../contracts/coordinator.js';
import type { FileSystem } from '../contracts/file-system.js';
import type { BlobHandle, FileBlob, SharedBlob } from '../contracts/snapshot.js';
import type { CheckpointId, JobName } from '../element/ids.js';
import { hasCode, messageOf } from '../errors.js';
import { LocalFile } from './local-file.js';
import { readVerified, verifiedPart } from './verified-file.js';

export interface LocalCopiesOptions {
  readonly job: JobName;
  /** Subtasks are dealt out to them in turn. */
  readonly dirs: readonly string[];
  readonly fileSystem: FileSystem;
  /** Copies are made of what checkpoints write. */
  readonly areMade: boolean;
  /** A restore reads them in place of what they are copies of. */
  readonly areUsed: boolean;
  readonly newId: () => string;
  /** They help to restore sooner, so it is worth a word if there are none, and no more. */
  readonly warn: (message: string) => void;
}
/** Bytes of keyed state that a restore has read, by where they lay. */
export interface RestoredBytes {
  readonly localBytes: number;
  readonly remoteBytes: number;
}
type KeyedLocation = Pick<CheckpointLocation, 'createBlob' | 'createSharedBlob'>;
type KeyedBytes = Pick<RestorePlan, 'read' | 'readPart' | 'isOwned'>;
type File = FileBlob | SharedBlob;

const CHECKPOINT = 'chk-';
const SHARED = 'shared';
const TEMPORARY = 'tmp-';

/**
 * Second copies of keyed state on a disk of the machine, for a restore that need not wait for the checkpoint storage (Flink:
 * TaskLocalStateStoreImpl). The storage alone counts: a copy is used if its length and checksum are those of the handle, whoever wrote it, and no
 * failure here fails anything.
 *
 *   <dir>/<job>/chk-<id>/<path of the blob>   <dir>/<job>/shared/<path of the blob>   <dir>/<job>/tmp-<random>
 */
export class LocalCopies {
  readonly #options: LocalCopiesOptions;
  readonly #folders: readonly string[];
  /** Shared files that checkpoints under way, and the newest completed one, are made of. */
  readonly #shared = new Map<CheckpointId, Set<string>>();
  readonly #temporary = new Set<string>();
  #completed: CheckpointId = 0;
  /** Younger than the completed one. */
  readonly #aborted = new Set<CheckpointId>();
  #cleaning: Promise<void> = Promise.resolve();
  #hasWarned = false;

  constructor(options: LocalCopiesOptions) {
    this.#options = options;
    this.#folders = options.dirs.map((dir) => join(dir, safeName(options.job)));
  }

  /** The same location, for keyed state: what is written to it is copied. */
  copied(location: CheckpointLocation, subtask: number): KeyedLocation {
    if (!this.#options.areMade) return location;
    const createSharedBlob = location.createSharedBlob?.bind(location);
    return {
      createBlob: () => this.#copying(location.createBlob(), location.id, subtask),
      ...(createSharedBlob !== undefined && {
        createSharedBlob: (key: string) => this.#copying(createSharedBlob(key), location.id, subtask),
      }),
    };
  }

  /** The checkpoint is made of these blobs. */
  refersTo(checkpointId: CheckpointId, blobs: readonly BlobHandle[]): void {
    for (const blob of blobs) if (blob.kind === 'shared') this.#sharedOf(checkpointId).add(safeName(blob.path));
  }

  /** Copies that belong to older checkpoints are superfluous. */
  completed(checkpointId: CheckpointId): void {
    this.#completed = Math.max(this.#completed, checkpointId);
    for (const id of this.#aborted) if (id < checkpointId) this.#aborted.delete(id);
    for (const id of this.#shared.keys()) if (id < checkpointId) this.#shared.delete(id);
    this.#clean((folder) => this.#prune(folder, checkpointId));
  }
  /** It will never be restored. */
  superfluous(checkpointId: CheckpointId): void {
    this.#aborted.add(checkpointId);
    this.#shared.delete(checkpointId);
    this.#clean((folder) => this.#options.fileSystem.removeTree(join(folder, checkpointFolder(checkpointId))));
  }

  /** What a restore reads keyed state from, and what it has read so far. */
  reading(restore: RestorePlan): { readonly from: KeyedBytes; readonly bytes: () => RestoredBytes } {
    const bytes = { localBytes: 0, remoteBytes: 0 };
    if (!this.#options.areUsed) return { from: restore, bytes: () => bytes };
    const { readPart, checkpointId } = restore;
    const verified = new Map<string, Promise<boolean>>();
    const from: KeyedBytes = {
      isOwned: restore.isOwned,
      read: async (blob) => {
        if (blob.kind === 'inline') return restore.read(blob);
        const local = await this.#first(checkpointId, blob, (path) =>
          readVerified(this.#options.fileSystem, path, blob),
        );
        bytes[local === undefined ? 'remoteBytes' : 'localBytes'] += blob.length;
        return local ?? restore.read(blob);
      },
      readPart:
        readPart &&
        (async (blob, part) => {
          const read = (path: string): Promise<Uint8Array | undefined> =>
            verifiedPart(this.#options.fileSystem, path, blob, part, verified);
          const local = await this.#first(checkpointId, blob, read);
          bytes[local === undefined ? 'remoteBytes' : 'localBytes'] += part.length;
          return local ?? readPart(blob, part);
        }),
    };
    return { from, bytes: () => bytes };
  }

  /** Settles when nothing is done any more. `isOver`: nobody will restore the job, so nothing is left. */
  async end(isOver: boolean): Promise<void> {
    if (isOver) this.#clean((folder) => this.#options.fileSystem.removeTree(folder));
    await this.#cleaning;
  }

  #copying(primary: BlobWriter, checkpointId: CheckpointId, subtask: number): BlobWriter {
    const folder = this.#folders[subtask % this.#folders.length] as string;
    const name = TEMPORARY + this.#options.newId();
    const copy = new LocalFile(this.#options.fileSystem, join(folder, name), (error) => {
      // Its folder has been removed as superfluous between two steps: nobody needs the copy.
      if (!this.#isNeeded(checkpointId) && hasCode(error, 'ENOENT')) return;
      this.#failed('written', folder, error);
    });
    this.#temporary.add(name);
    const drop = async (): Promise<void> => {
      await copy.drop();
      this.#temporary.delete(name);
    };
    return {
      write(chunk) {
        const written = primary.write(chunk);
        const copied = copy.write(chunk);
        if (written === undefined) return copied;
        return copied === undefined ? written : Promise.all([written, copied]).then(() => undefined);
      },
      finish: async () => {
        const handle = await primary.finish();
        if (handle.kind !== 'inline' && this.#isNeeded(checkpointId)) {
          this.refersTo(checkpointId, [handle]);
          await copy.publish(join(folder, placeOf(checkpointId, handle)));
        }
        await drop();
        return handle;
      },
      abort: async () => {
        await Promise.all([primary.abort(), drop()]);
      },
    };
  }

  /** Would a restore read it? */
  #isNeeded(checkpointId: CheckpointId): boolean {
    return checkpointId >= this.#completed && !this.#aborted.has(checkpointId);
  }

  /** What the first folder gives that has a copy. A copy that is damaged, or that cannot be read, is none. */
  async #first<T>(
    checkpointId: CheckpointId,
    blob: File,
    read: (path: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (const folder of this.#folders) {
      try {
        const found = await read(join(folder, placeOf(checkpointId, blob)));
        if (found !== undefined) return found;
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) this.#failed('read', folder, error);
      }
    }
    return undefined;
  }

  #sharedOf(checkpointId: CheckpointId): Set<string> {
    const known = this.#shared.get(checkpointId) ?? new Set<string>();
    this.#shared.set(checkpointId, known);
    return known;
  }

  async #prune(folder: string, completed: CheckpointId): Promise<void> {
    const { fileSystem } = this.#options;
    for (const { name } of await fileSystem.readDirectory(folder)) {
      const path = join(folder, name);
      if (name.startsWith(TEMPORARY)) {
        if (!this.#temporary.has(name)) await fileSystem.remove(path);
      } else if (name.startsWith(CHECKPOINT) && Number(name.slice(CHECKPOINT.length)) < completed) {
        await fileSystem.removeTree(path);
      } else if (name === SHARED) {
        const needed = new Set([...this.#shared.values()].flatMap((names) => [...names]));
        for (const file of await fileSystem.readDirectory(path))
          if (!needed.has(file.name)) await fileSystem.remove(join(path, file.name));
      }
    }
  }

  /** One after the other, in every folder. */
  #clean(action: (folder: string) => Promise<void>): void {
    this.#cleaning = this.#cleaning.then(async () => {
      for (const folder of this.#folders) {
        try {
          await action(folder);
        } catch (error) {
          if (!hasCode(error, 'ENOENT')) this.#failed('removed', folder, error);
        }
      }
    });
  }

  #failed(what: string, folder: string, error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(
      `Local copies of state in ${folder} cannot all be ${what}: ${messageOf(error)}. What has none is restored from the checkpoint storage. ` +
        'This is said once.',
    );
  }
}

function checkpointFolder(checkpointId: CheckpointId): string {
  return CHECKPOINT + String(checkpointId);
}

function placeOf(checkpointId: CheckpointId, blob: File): string {
  return join(blob.kind === 'shared' ? SHARED : checkpointFolder(checkpointId), safeName(blob.path));
}

/** One name of a file, whatever the text. */
function safeName(text: string): string {
  return `_${encodeURIComponent(text)}`;
}
