import type {
  BlobWriter,
  CheckpointLocation,
  CheckpointStorage,
  JobStorage,
  StorageLock,
} from '../contracts/checkpoint-storage.js';
import { delegating } from '../contracts/delegating.js';
import type { CallBounds } from './bounded-calls.js';

/** A storage is expected to move this much in a millisecond; what a call has to move on top of its time-out. */
const BYTES_PER_MS = 1024;

/** The same storage, each call of which answers or fails in its time. What comes too late is closed, released or discarded. */
export function boundedStorage(storage: CheckpointStorage, calls: CallBounds): CheckpointStorage {
  const of = `checkpoint storage ${storage.type}`;
  return delegating(storage, {
    open: async (scope) => {
      const job = await calls.run('storage.open', of, () => storage.open(scope), { late: (late) => late.close() });
      return boundedJob(job, of, calls);
    },
  });
}

function boundedJob(job: JobStorage, of: string, calls: CallBounds): JobStorage {
  const late = (location: CheckpointLocation): Promise<void> => location.discard();
  const progress = (): unknown => job.moved;
  const createSavepoint = job.createSavepoint?.bind(job);
  const readPart = job.readPart?.bind(job);
  const listShared = job.listShared?.bind(job);
  const deleteShared = job.deleteShared?.bind(job);
  return delegating(job, {
    lock: async (options) => {
      const lock = await calls.run('storage.lock', of, () => job.lock(options), {
        extraMs: options.waitMs,
        late: (given) => given.release(),
      });
      return boundedLock(lock, of, calls);
    },
    list: () => calls.run('storage.list', of, () => job.list()),
    resolve: (pointer) => calls.run('storage.resolve', of, () => job.resolve(pointer)),
    create: async (id) =>
      boundedLocation(await calls.run('storage.create', of, () => job.create(id), { late }), of, calls),
    ...(createSavepoint !== undefined && {
      createSavepoint: async (id, directory) => {
        const made = (): Promise<CheckpointLocation> => createSavepoint(id, directory);
        return boundedLocation(await calls.run('storage.createSavepoint', of, made, { late }), of, calls);
      },
    }),
    readMetadata: (checkpoint) =>
      calls.run('storage.readMetadata', of, () => job.readMetadata(checkpoint), { progress }),
    read: (checkpoint, blob) =>
      calls.run('storage.read', of, () => job.read(checkpoint, blob), {
        progress,
        extraMs: (blob.kind === 'inline' ? 0 : blob.length) / BYTES_PER_MS,
      }),
    ...(readPart !== undefined && {
      readPart: (checkpoint, blob, part) =>
        calls.run('storage.readPart', of, () => readPart(checkpoint, blob, part), {
          progress,
          extraMs: part.length / BYTES_PER_MS,
        }),
    }),
    ...(listShared !== undefined && {
      listShared: () => calls.run('storage.listShared', of, () => listShared()),
    }),
    ...(deleteShared !== undefined && {
      deleteShared: (path) => calls.run('storage.deleteShared', of, () => deleteShared(path)),
    }),
    delete: (checkpoint) => calls.run('storage.delete', of, () => job.delete(checkpoint)),
    readCommitted: (checkpoint) => calls.run('storage.readCommitted', of, () => job.readCommitted(checkpoint)),
    writeCommitted: (checkpoint, bytes) =>
      calls.run('storage.writeCommitted', of, () => job.writeCommitted(checkpoint, bytes)),
    readFinished: () => calls.run('storage.readFinished', of, () => job.readFinished()),
    writeFinished: (bytes) => calls.run('storage.writeFinished', of, () => job.writeFinished(bytes)),
    clearFinished: () => calls.run('storage.clearFinished', of, () => job.clearFinished()),
    close: () => calls.run('storage.close', of, () => job.close()),
  });
}

function boundedLock(lock: StorageLock, of: string, calls: CallBounds): StorageLock {
  return delegating(lock, {
    recordAttempt: (attempt) => calls.run('storage.recordAttempt', of, () => lock.recordAttempt(attempt)),
    verify: () => calls.run('storage.verify', of, () => lock.verify()),
    release: () => calls.run('storage.release', of, () => lock.release()),
  });
}

function boundedLocation(location: CheckpointLocation, of: string, calls: CallBounds): CheckpointLocation {
  const createSharedBlob = location.createSharedBlob?.bind(location);
  return delegating(location, {
    createBlob: () => boundedBlob(location.createBlob(), of, calls),
    ...(createSharedBlob !== undefined && {
      createSharedBlob: (key) => boundedBlob(createSharedBlob(key), of, calls),
    }),
    publish: (metadata) =>
      calls.run('storage.publish', of, () => location.publish(metadata), { extraMs: metadata.length / BYTES_PER_MS }),
    discard: () => calls.run('storage.discard', of, () => location.discard()),
  });
}

function boundedBlob(blob: BlobWriter, of: string, calls: CallBounds): BlobWriter {
  const options = { progress: (): unknown => blob.moved };
  return delegating(blob, {
    write: (chunk) => calls.run('storage.write', of, () => blob.write(chunk), options),
    finish: () => calls.run('storage.finish', of, () => blob.finish(), options),
    abort: () => calls.run('storage.abort', of, () => blob.abort()),
  });
}
