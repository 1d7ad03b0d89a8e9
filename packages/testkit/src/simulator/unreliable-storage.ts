import {
  delegating,
  type BlobWriter,
  type CheckpointLocation,
  type CheckpointStorage,
  type JobStorage,
  type StorageLock,
} from '@weir/core/contracts';
import type { Faults } from './faults.js';
import type { Watch } from './watch.js';

/** How often writing a piece of a blob takes time; the rest is buffered at once. */
const SLOW_WRITES = 0.2;

/** The storage at the other end of a bad line, each answer of which is a step of its own. `watch` sees what really happens to checkpoints. */
export function unreliableStorage(storage: CheckpointStorage, faults: Faults, watch: Watch): CheckpointStorage {
  return {
    type: storage.type,
    // A run keeps it over its processes, so it is durable for them, and its lock keeps the former one out.
    capabilities: { ...storage.capabilities, durable: true, locks: true },
    open: (scope) => faults.ask('storage', 'open', async () => unreliableJob(await storage.open(scope), faults, watch)),
  };
}

function unreliableJob(job: JobStorage, faults: Faults, watch: Watch): JobStorage {
  return delegating(job, {
    lock: (options) => faults.ask('storage', 'lock', async () => unreliableLock(await job.lock(options), faults)),
    list: () => faults.ask('storage', 'list', () => job.list()),
    resolve: (pointer) => faults.ask('storage', `resolve ${pointer}`, () => job.resolve(pointer)),
    create: (checkpointId) =>
      faults.ask('storage', `create ${String(checkpointId)}`, async () =>
        unreliableLocation(await job.create(checkpointId), faults, watch),
      ),
    ...(job.createSavepoint === undefined
      ? {}
      : {
          createSavepoint: (checkpointId, directory) =>
            faults.ask('storage', `create savepoint ${String(checkpointId)}`, async () =>
              unreliableLocation(
                await (job.createSavepoint as NonNullable<typeof job.createSavepoint>)(checkpointId, directory),
                faults,
                undefined,
              ),
            ),
        }),
    readMetadata: (checkpoint) =>
      faults.ask('storage', `read _metadata of ${String(checkpoint.id)}`, () => job.readMetadata(checkpoint)),
    read: (checkpoint, blob) =>
      faults.ask('storage', `read from ${String(checkpoint.id)}`, () => job.read(checkpoint, blob)),
    delete: (checkpoint) =>
      faults.ask('storage', `delete ${String(checkpoint.id)}`, async () => {
        watch.deletes(checkpoint);
        await job.delete(checkpoint);
      }),
    ...(job.deleteShared === undefined
      ? {}
      : {
          deleteShared: (path) =>
            faults.ask('storage', `delete shared file ${path}`, () =>
              (job.deleteShared as NonNullable<typeof job.deleteShared>)(path),
            ),
        }),
    readCommitted: (checkpoint) =>
      faults.ask('storage', `read _committed of ${String(checkpoint.id)}`, () => job.readCommitted(checkpoint)),
    writeCommitted: (checkpoint, bytes) =>
      faults.ask('storage', `write _committed of ${String(checkpoint.id)}`, () =>
        job.writeCommitted(checkpoint, bytes),
      ),
    readFinished: () => faults.ask('storage', 'read _finished', () => job.readFinished()),
    writeFinished: (bytes) =>
      faults.ask('storage', 'write _finished', async () => {
        await job.writeFinished(bytes);
        watch.finished();
      }),
    clearFinished: () => faults.ask('storage', 'clear _finished', () => job.clearFinished()),
    close: () => faults.ask('storage', 'close', () => job.close()),
  });
}

function unreliableLock(lock: StorageLock, faults: Faults): StorageLock {
  return delegating(lock, {
    recordAttempt: (attempt) =>
      faults.ask('storage', `record attempt ${String(attempt)}`, () => lock.recordAttempt(attempt)),
    verify: () => faults.ask('storage', 'verify the lock', () => lock.verify()),
    release: () => faults.ask('storage', 'release the lock', () => lock.release()),
  });
}

/** `watch` is absent for savepoints: a job goes by what lies in its own directory. */
function unreliableLocation(
  location: CheckpointLocation,
  faults: Faults,
  watch: Watch | undefined,
): CheckpointLocation {
  const { id } = location;
  return delegating(location, {
    createBlob: () => unreliableBlob(location.createBlob(), `a blob of ${String(id)}`, faults),
    ...(location.createSharedBlob === undefined
      ? {}
      : {
          createSharedBlob: (key) =>
            unreliableBlob(
              (location.createSharedBlob as NonNullable<typeof location.createSharedBlob>)(key),
              `a shared file of ${String(id)}`,
              faults,
            ),
        }),
    publish: (metadata) =>
      faults.ask('storage', `publish ${String(id)}`, async () => {
        watch?.publishes(id);
        await location.publish(metadata);
      }),
    discard: () => faults.ask('storage', `discard ${String(id)}`, () => location.discard()),
  });
}

function unreliableBlob(blob: BlobWriter, name: string, faults: Faults): BlobWriter {
  return delegating(blob, {
    write(chunk) {
      if (faults.random() >= SLOW_WRITES) return blob.write(chunk);
      return faults.ask('storage', `write ${name}`, async () => blob.write(chunk));
    },
    finish: () => faults.ask('storage', `finish ${name}`, () => blob.finish()),
    abort: () => faults.call(`abort ${name}`, () => blob.abort()),
  });
}
