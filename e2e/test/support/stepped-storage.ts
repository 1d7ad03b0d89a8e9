import type { CheckpointId, CheckpointLocation, CheckpointStorage, JobStorage } from '@weir/core/contracts';

/** `written`: a blob is about to be durable. `publish` and `published`: before and after `_metadata` is. `committed`: before the mark that output is. */
export type StorageStep = 'create' | 'written' | 'publish' | 'published' | 'committed' | 'delete';
/** Called at each step of each checkpoint; a promise holds it up there, and what is thrown fails it. */
export type AtStep = (step: StorageStep, checkpointId: CheckpointId) => void | Promise<void>;

/** A checkpoint storage that can be held up or made to fail at any step of any checkpoint. */
export function steppedStorage(storage: CheckpointStorage, at: AtStep): CheckpointStorage {
  return {
    type: storage.type,
    capabilities: storage.capabilities,
    open: async (scope) => steppedJob(await storage.open(scope), at),
  };
}

function steppedJob(job: JobStorage, at: AtStep): JobStorage {
  return {
    lock: (options) => job.lock(options),
    list: () => job.list(),
    resolve: (pointer) => job.resolve(pointer),
    async create(checkpointId) {
      await at('create', checkpointId);
      return steppedLocation(await job.create(checkpointId), at);
    },
    readMetadata: (checkpoint) => job.readMetadata(checkpoint),
    read: (checkpoint, blob) => job.read(checkpoint, blob),
    async delete(checkpoint) {
      await at('delete', checkpoint.id);
      await job.delete(checkpoint);
    },
    readCommitted: (checkpoint) => job.readCommitted(checkpoint),
    async writeCommitted(checkpoint, bytes) {
      await at('committed', checkpoint.id);
      await job.writeCommitted(checkpoint, bytes);
    },
    readFinished: () => job.readFinished(),
    writeFinished: (bytes) => job.writeFinished(bytes),
    clearFinished: () => job.clearFinished(),
    close: () => job.close(),
  };
}

function steppedLocation(location: CheckpointLocation, at: AtStep): CheckpointLocation {
  return {
    id: location.id,
    pointer: location.pointer,
    get complete() {
      return location.complete;
    },
    createBlob() {
      const blob = location.createBlob();
      return {
        write: (chunk) => blob.write(chunk),
        async finish() {
          await at('written', location.id);
          return blob.finish();
        },
        abort: () => blob.abort(),
      };
    },
    async publish(metadata) {
      await at('publish', location.id);
      await location.publish(metadata);
      await at('published', location.id);
    },
    discard: () => location.discard(),
  };
}
