import path from 'node:path';
import { WeirError, makeDurableFolder, type FileSystem, type SinkContext } from '@weir/core/contracts';
import type { FileNaming } from './file-names.js';

/** What happens to finished files of other lineages that are in the folder when a job starts afresh. */
export type Occupied = 'refuse' | 'append' | 'overwrite';

/**
 * Makes the folder ready before any writer opens: it exists, what dead attempts of this sink were writing is gone, and a fresh start does not mix
 * its output with that of others unnoticed. Fails with SINK_DIRECTORY_OCCUPIED.
 */
export async function prepareFolder(
  fileSystem: FileSystem,
  dir: string,
  naming: FileNaming,
  occupied: Occupied,
  { job, uid, restored }: SinkContext,
): Promise<void> {
  await makeDurableFolder(fileSystem, dir);
  const names = (await fileSystem.readDirectory(dir)).map(({ name }) => name);
  for (const name of names) {
    if (naming.isInProgressOfThisSink(name)) await fileSystem.remove(path.join(dir, name));
  }
  // A restored job goes on with output that earlier lineages have published.
  if (restored || occupied === 'append') return;
  const foreign = names.filter((name) => {
    const identity = naming.readFinal(name);
    return identity !== undefined && !naming.isOfThisLineage(identity);
  });
  if (foreign.length === 0) return;
  if (occupied === 'refuse') {
    throw new WeirError(
      'SINK_DIRECTORY_OCCUPIED',
      `Sink ${uid} of job ${job} starts afresh, but ${dir} holds the output of an earlier run (${String(foreign.length)} files, ` +
        `such as ${String(foreign[0])}). Empty the folder or name another one, or set append: true to keep the files or overwrite: true to delete them.`,
      { recoverable: false },
    );
  }
  for (const name of foreign) await fileSystem.remove(path.join(dir, name));
}
