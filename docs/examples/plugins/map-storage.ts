import { definePlugin, type PluginFactory } from '@weir/core';
import {
  ByteWriter,
  CheckpointStorageRole,
  WeirError,
  type AttemptNumber,
  type BlobWriter,
  type CheckpointId,
  type CheckpointLocation,
  type CheckpointStorage,
  type JobStorage,
  type StoredCheckpoint,
} from '@weir/core/contracts';

/** One job's checkpoints: undefined until they are published. All state is inline, so `_metadata` is all there is to store. */
interface Stored {
  readonly checkpoints: Map<CheckpointId, Uint8Array | undefined>;
  /** Of those whose output is committed. */
  readonly committed: Map<CheckpointId, Uint8Array>;
  finished: Uint8Array | undefined;
  attempt: AttemptNumber;
}

/** Keeps checkpoints in a Map for as long as the storage itself is kept. */
export function mapStorage(): CheckpointStorage {
  const jobs = new Map<string, Stored>();
  return {
    type: 'map',
    capabilities: { durable: false, locks: false },
    async open({ job }) {
      const stored = jobs.get(job) ?? { checkpoints: new Map(), committed: new Map(), finished: undefined, attempt: 0 };
      jobs.set(job, stored);
      return jobStorage(job, stored);
    },
  };
}

function jobStorage(job: string, stored: Stored): JobStorage {
  const { checkpoints, committed } = stored;
  const describe = (id: CheckpointId): StoredCheckpoint => ({
    id,
    pointer: `${encodeURIComponent(job)}/${String(id)}`,
    complete: checkpoints.get(id) !== undefined,
  });
  return {
    async lock() {
      return {
        previousAttempt: stored.attempt,
        recordAttempt: async (attempt) => void (stored.attempt = attempt),
        verify: async () => undefined,
        release: async () => undefined,
      };
    },
    list: async () => [...checkpoints.keys()].sort((a, b) => a - b).map(describe),
    async resolve(pointer) {
      const found = [...checkpoints.keys()].map(describe).find((c) => c.pointer === pointer && c.complete);
      if (found === undefined) throw new WeirError('CHECKPOINT_NONE', `There is no checkpoint at ${pointer}.`);
      return found;
    },
    async create(id) {
      if (checkpoints.has(id)) throw new WeirError('STORAGE_FAILED', `Checkpoint ${String(id)} of job ${job} exists.`);
      checkpoints.set(id, undefined);
      return location(describe(id), checkpoints);
    },
    async readMetadata({ id }) {
      const bytes = checkpoints.get(id);
      if (bytes === undefined) {
        throw new WeirError('CHECKPOINT_UNREADABLE', `Checkpoint ${String(id)} of job ${job} has no metadata.`);
      }
      return bytes;
    },
    async read({ id }, blob) {
      if (blob.kind === 'inline') return blob.bytes;
      throw new WeirError('CHECKPOINT_UNREADABLE', `Checkpoint ${String(id)} of job ${job} has no file ${blob.path}.`);
    },
    async delete({ id }) {
      checkpoints.delete(id);
      committed.delete(id);
    },
    readCommitted: async ({ id }) => committed.get(id),
    async writeCommitted({ id }, bytes) {
      if (checkpoints.get(id) === undefined)
        throw new WeirError('STORAGE_FAILED', `Checkpoint ${String(id)} of job ${job} is gone.`);
      committed.set(id, bytes.slice());
    },
    readFinished: async () => stored.finished,
    writeFinished: async (bytes) => void (stored.finished = bytes.slice()),
    clearFinished: async () => void (stored.finished = undefined),
    close: async () => undefined,
  };
}

function location(created: StoredCheckpoint, checkpoints: Stored['checkpoints']): CheckpointLocation {
  const { id, pointer } = created;
  let isDiscarded = false;
  const assertPending = (): void => {
    if (isDiscarded || checkpoints.get(id) !== undefined) {
      throw new WeirError('STORAGE_FAILED', `Checkpoint ${String(id)} is ${isDiscarded ? 'discarded' : 'published'}.`);
    }
  };
  return {
    id,
    pointer,
    get complete() {
      return checkpoints.get(id) !== undefined;
    },
    createBlob() {
      assertPending();
      return inlineBlob(assertPending);
    },
    async publish(metadata) {
      assertPending();
      checkpoints.set(id, metadata.slice());
    },
    async discard() {
      if (isDiscarded) return;
      assertPending();
      isDiscarded = true;
      checkpoints.delete(id);
    },
  };
}

function inlineBlob(assertPending: () => void): BlobWriter {
  const bytes = new ByteWriter();
  let isOpen = true;
  const assertOpen = (): void => {
    assertPending();
    if (!isOpen) throw new WeirError('STORAGE_FAILED', 'The blob is finished or aborted.');
  };
  return {
    write(chunk) {
      assertOpen();
      bytes.bytes(chunk);
    },
    async finish() {
      assertOpen();
      isOpen = false;
      return { kind: 'inline', bytes: bytes.toBytes() };
    },
    abort: async () => void (isOpen = false),
  };
}

// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a plugin without options
export const mapCheckpoints: PluginFactory<{}> = definePlugin({
  name: '@acme/weir-map-checkpoints',
  options: { type: 'object', properties: {} },
  install(binder) {
    binder.provide(CheckpointStorageRole, 'map', mapStorage);
  },
});
