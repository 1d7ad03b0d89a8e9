import type { BlobWriter, CheckpointLocation, CheckpointStorage, Clock, JobStorage } from '@weir/core/contracts';
import { cut, FaultPlan, suffering, type StorageFault, type StorageOperation } from './fault.js';

export interface FaultyStorage extends CheckpointStorage {
  /** How often each operation was begun: a test should make sure that its fault was met. */
  readonly calls: Readonly<Record<StorageOperation, number>>;
}

/** A checkpoint storage in which chosen operations fail, are late or lose bytes; for the rest it is `storage`. */
export function faultyStorage(storage: CheckpointStorage, faults: readonly StorageFault[]): FaultyStorage {
  const plan = new FaultPlan(faults);
  return {
    type: storage.type,
    capabilities: storage.capabilities,
    calls: plan.calls,
    open: async (scope) => faultyJob(await storage.open(scope), plan, scope.clock),
  };
}

function faultyJob(job: JobStorage, plan: FaultPlan, clock: Clock): JobStorage {
  const readPart = job.readPart?.bind(job);
  const read = async (bytes: () => Promise<Uint8Array>): Promise<Uint8Array> => {
    const misfortune = plan.next('read');
    return cut(await suffering(misfortune, clock, bytes), misfortune);
  };
  const listShared = job.listShared?.bind(job);
  const deleteShared = job.deleteShared?.bind(job);
  const createSavepoint = job.createSavepoint?.bind(job);
  return {
    savepointDirectory: job.savepointDirectory,
    ...(createSavepoint === undefined
      ? {}
      : {
          createSavepoint: async (id, directory) => faultyLocation(await createSavepoint(id, directory), plan, clock),
        }),
    lock: (options) => job.lock(options),
    list: () => suffering(plan.next('list'), clock, () => job.list()),
    resolve: (pointer) => job.resolve(pointer),
    create: (checkpointId) =>
      suffering(plan.next('create'), clock, async () => faultyLocation(await job.create(checkpointId), plan, clock)),
    readMetadata: (checkpoint) => read(() => job.readMetadata(checkpoint)),
    read: (checkpoint, blob) => read(() => job.read(checkpoint, blob)),
    ...(readPart && { readPart: (checkpoint, blob, part) => read(() => readPart(checkpoint, blob, part)) }),
    ...(listShared && { listShared: () => suffering(plan.next('list-shared'), clock, listShared) }),
    ...(deleteShared && {
      deleteShared: (path) => suffering(plan.next('delete-shared'), clock, () => deleteShared(path)),
    }),
    delete: (checkpoint) => suffering(plan.next('delete'), clock, () => job.delete(checkpoint)),
    readCommitted: (checkpoint) => job.readCommitted(checkpoint),
    writeCommitted: (checkpoint, bytes) =>
      suffering(plan.next('write-committed'), clock, () => job.writeCommitted(checkpoint, bytes)),
    readFinished: () => job.readFinished(),
    writeFinished: (bytes) => job.writeFinished(bytes),
    clearFinished: () => job.clearFinished(),
    close: () => job.close(),
  };
}

function faultyLocation(location: CheckpointLocation, plan: FaultPlan, clock: Clock): CheckpointLocation {
  const createSharedBlob = location.createSharedBlob?.bind(location);
  return {
    id: location.id,
    pointer: location.pointer,
    get complete() {
      return location.complete;
    },
    createBlob: () => faultyBlob(location.createBlob(), plan, clock),
    ...(createSharedBlob && {
      createSharedBlob: (key) => faultyBlob(createSharedBlob(key), plan, clock),
      sharedFiles: location.sharedFiles,
    }),
    publish(metadata) {
      const misfortune = plan.next('publish');
      return suffering(misfortune, clock, () => location.publish(cut(metadata, misfortune)));
    },
    discard: () => location.discard(),
  };
}

function faultyBlob(blob: BlobWriter, plan: FaultPlan, clock: Clock): BlobWriter {
  return {
    write(chunk) {
      const misfortune = plan.next('write');
      if (misfortune === undefined) return blob.write(chunk);
      return suffering(misfortune, clock, () => blob.write(cut(chunk, misfortune)));
    },
    finish: () => blob.finish(),
    abort: () => blob.abort(),
  };
}
