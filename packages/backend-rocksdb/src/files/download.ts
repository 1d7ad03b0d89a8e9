import { WeirError } from '@weir/core/contracts';
import type { NativeStateHandle, StoredBytes } from '@weir/core/contracts';
import { makeDirectory, writeChunks } from '../adapters/local-files.js';

/** So many files at once. */
const PARALLEL = 4;

/** Copies the files of a handle into a new directory; each is verified on the way. */
export async function download(handle: NativeStateHandle, stored: StoredBytes, directory: string): Promise<void> {
  await makeDirectory(directory);
  const rest = [...handle.files];
  const take = async (): Promise<void> => {
    for (let file = rest.shift(); file !== undefined; file = rest.shift()) {
      await writeChunks(`${directory}/${plainName(file.name)}`, stored.open(file.blob));
    }
  };
  const results = await Promise.allSettled(Array.from({ length: PARALLEL }, take));
  for (const result of results) if (result.status === 'rejected') throw result.reason as Error;
}

/** A name out of `_metadata` must not lead out of the directory. */
function plainName(name: string): string {
  if (/^[A-Za-z0-9._-]+$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new WeirError('CHECKPOINT_UNREADABLE', `'${name}' is no name of a file of RocksDB.`, { recoverable: false });
}
