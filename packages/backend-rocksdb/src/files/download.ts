import { WeirError, allOf, isWeirError } from '@weir/core/contracts';
import type { NativeStateHandle, StoredBytes } from '@weir/core/contracts';
import { localFailure, makeDirectory, writeChunks } from '../adapters/local-files.js';

/** So many files at once. */
const PARALLEL = 4;

/** Copies the files of a handle into a new directory; each is verified on the way. */
export async function download(handle: NativeStateHandle, stored: StoredBytes, directory: string): Promise<void> {
  await makeDirectory(directory);
  const rest = [...handle.files];
  const take = async (): Promise<void> => {
    for (let file = rest.shift(); file !== undefined; file = rest.shift()) {
      await copyTo(`${directory}/${plainName(file.name)}`, stored.open(file.blob));
    }
  };
  await allOf(Array.from({ length: PARALLEL }, take));
}

async function copyTo(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await writeChunks(path, chunks);
  } catch (error) {
    // What the storage says of its files is said already; the rest is about the local disk.
    throw isWeirError(error) ? error : localFailure(path, error);
  }
}

/** A name out of `_metadata` must not lead out of the directory. */
function plainName(name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new WeirError('CHECKPOINT_UNREADABLE', `'${name}' is no name of a file of RocksDB.`, { recoverable: false });
}
