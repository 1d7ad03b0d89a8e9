import { crc32 } from 'node:zlib';
import type {
  BlobWriter,
  CheckpointLocation,
  CheckpointStorage,
  JobStorage,
} from '../../src/contracts/checkpoint-storage.js';
import type { BlobHandle } from '../../src/contracts/snapshot.js';
import { WeirError } from '../../src/errors.js';

export interface SavepointStorageOptions {
  /** Storages need not be able to read a part of a blob. Default true. */
  readonly readsParts?: boolean;
  readonly savepointDirectory?: string;
}
export interface SavepointStorage extends CheckpointStorage {
  /** The bytes of every file, `_metadata` included, by pointer and name. */
  readonly files: Map<string, Uint8Array>;
  /** Files that were read, in whole or in part. */
  readonly reads: string[];
}

/** Savepoints in a map, all of their state in files. It has no checkpoints. */
export function savepointStorage({
  readsParts = true,
  savepointDirectory,
}: SavepointStorageOptions = {}): SavepointStorage {
  const files = new Map<string, Uint8Array>();
  const reads: string[] = [];
  const bytesAt = (path: string): Uint8Array => {
    reads.push(path);
    const bytes = files.get(path);
    if (bytes === undefined) throw new WeirError('CHECKPOINT_UNREADABLE', `${path} is missing.`);
    return bytes;
  };
  const job: Partial<JobStorage> = {
    savepointDirectory,
    async resolve(pointer) {
      if (!files.has(`${pointer}/_metadata`)) throw new WeirError('CHECKPOINT_NONE', `There is nothing at ${pointer}.`);
      return { id: 0, pointer, complete: true };
    },
    async createSavepoint(id, directory) {
      let number = 1;
      while ([...files.keys()].some((path) => path.startsWith(`${directory}/sp-${String(number)}/`))) number++;
      return location(id, `${directory}/sp-${String(number)}`, files);
    },
    readMetadata: async ({ pointer }) => bytesAt(`${pointer}/_metadata`),
    read: async ({ pointer }, blob) => (blob.kind === 'inline' ? blob.bytes : bytesAt(`${pointer}/${blob.path}`)),
    close: async () => undefined,
  };
  const parts: Pick<JobStorage, 'readPart'> = {
    readPart: async ({ pointer }, { path }, { offset, length }) =>
      bytesAt(`${pointer}/${path}`).subarray(offset, offset + length),
  };
  return {
    type: 'map',
    capabilities: { durable: false, locks: false, savepoints: true },
    // What no test calls is not there.
    open: async () => ({ ...job, ...(readsParts ? parts : {}) }) as JobStorage,
    files,
    reads,
  };
}

function location(id: number, pointer: string, files: Map<string, Uint8Array>): CheckpointLocation {
  let count = 0;
  return {
    id,
    pointer,
    complete: false,
    createBlob(): BlobWriter {
      const path = `blob-${String(count++)}`;
      const chunks: Uint8Array[] = [];
      return {
        write: (chunk) => void chunks.push(Buffer.from(chunk)),
        async finish(): Promise<BlobHandle> {
          const bytes = Buffer.concat(chunks);
          files.set(`${pointer}/${path}`, bytes);
          return { kind: 'blob', path, length: bytes.length, algorithm: 'crc32', checksum: crc32(bytes) };
        },
        abort: async () => void files.delete(`${pointer}/${path}`),
      };
    },
    publish: async (metadata) => void files.set(`${pointer}/_metadata`, metadata.slice()),
    async discard() {
      for (const path of files.keys()) if (path.startsWith(`${pointer}/`)) files.delete(path);
    },
  };
}
