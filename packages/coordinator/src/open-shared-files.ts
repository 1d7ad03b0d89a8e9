import {
  decodeMetadata,
  decodeReference,
  type CheckpointMetadata,
  type CoordinatorContext,
  type JobStorage,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import { warn } from './job.js';
import type { OpenStorage, StartingPoint } from './opening.js';
import { sharedBlobsIn } from './shared-blobs.js';
import { SharedFiles } from './shared-files.js';

/**
 * Looks at which shared files there are, before any checkpoint is taken or removed: those of the job's own checkpoints are registered, those of others
 * in its directory are out of its reach, and the rest are remains of a crash, for the owner of the lock to remove. While one checkpoint cannot be
 * read, nobody knows what it needs, and every file that is there stays.
 */
export async function openSharedFiles(
  context: CoordinatorContext,
  { storage, lock }: OpenStorage,
  { completed, leftOver, present }: StartingPoint,
): Promise<SharedFiles> {
  const shared = new SharedFiles(storage);
  const names = (await storage.listShared?.()) ?? [];
  if (names.length === 0) return shared;
  const own = new Set(
    [...completed.filter((c) => c.owner === 'job').map((c) => c.stored), ...leftOver].map((c) => c.pointer),
  );
  const used = new Set<string>();
  let isKnown = true;
  for (const stored of present) {
    try {
      const metadata = await metadataOf(stored, storage);
      if (metadata === undefined) continue;
      const paths = sharedBlobsIn(metadata).map(({ path }) => path);
      for (const path of paths) used.add(path);
      if (own.has(stored.pointer)) shared.found(stored, metadata);
      else shared.pin(paths);
    } catch (error) {
      isKnown = false;
      const message = `The checkpoint at ${stored.pointer} cannot be read; no shared file that is there now is removed before it can, or is gone.`;
      warn(context, message, error);
    }
  }
  if (!isKnown) shared.pin(names);
  else if (lock !== undefined) shared.orphaned(names.filter((name) => !used.has(name)));
  return shared;
}

/** Undefined: a reference to a savepoint, which shares nothing. */
async function metadataOf(stored: StoredCheckpoint, storage: JobStorage): Promise<CheckpointMetadata | undefined> {
  const bytes = await storage.readMetadata(stored);
  return decodeReference(bytes, stored.pointer) === undefined ? decodeMetadata(bytes, stored.pointer) : undefined;
}
