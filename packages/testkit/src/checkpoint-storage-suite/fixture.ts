import assert from 'node:assert/strict';
import {
  SILENT,
  isWeirError,
  type Awaitable,
  type BlobHandle,
  type CheckpointId,
  type CheckpointLocation,
  type CheckpointStorage,
  type ErrorCode,
  type FileBlob,
  type JobName,
  type JobStorage,
  type SharedBlob,
  type StorageCapabilities,
  type StoredCheckpoint,
} from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import { VirtualClock } from '../virtual-clock.js';

export interface CheckpointStorageSuiteOptions {
  /** What the storage declares; tests of what it does not claim are left out. */
  readonly capabilities: StorageCapabilities;
  /** Storage without content, new for each test. */
  create(): Awaitable<CheckpointStorageFixture>;
}
export interface CheckpointStorageFixture {
  /** As the first process sees it. */
  readonly storage: CheckpointStorage;
  /** The same stored bytes as another process sees them while the first one lives. Needed if the storage is durable or locks. */
  anotherProcess?(): Awaitable<CheckpointStorage>;
  /** The first process dies without a word. Needed if the storage locks. */
  killFirst?(): Awaitable<void>;
  /** Harms the stored bytes of a blob behind the storage's back. Without it the storage is not asked to notice. */
  damage?(checkpoint: StoredCheckpoint, blob: FileBlob | SharedBlob, damage: Damage): Awaitable<void>;
  /**
   * Needed if the storage has savepoints: a directory of the user's, and what a user does who moves a savepoint out of it; gives the new pointer.
   * Without `move` nobody can.
   */
  readonly savepoints?: { readonly directory: string; readonly move?: (pointer: string) => Awaitable<string> };
  /** Cleans up after the test. */
  dispose?(): Awaitable<void>;
}
export type Damage = 'changed' | 'shortened' | 'lengthened' | 'removed';

/** What a test has at hand. */
export interface Bench {
  readonly fixture: CheckpointStorageFixture;
  readonly clock: VirtualClock;
  /** The job in the first process, or in `storage`. */
  readonly open: (job?: JobName, storage?: CheckpointStorage) => Promise<JobStorage>;
  /** The job in another process. */
  readonly openInAnotherProcess: (job?: JobName) => Promise<JobStorage>;
}

export type Check = (title: string, body: (bench: Bench) => Promise<void>) => void;

export function checksOf(test: TestFunction, options: CheckpointStorageSuiteOptions): Check {
  return (title, body) => {
    test(title, async () => {
      const fixture = await options.create();
      const clock = new VirtualClock(1_000_000);
      const open = (job: JobName = 'orders', storage: CheckpointStorage = fixture.storage): Promise<JobStorage> =>
        storage.open({ job, clock, logger: SILENT });
      const openInAnotherProcess = async (job?: JobName): Promise<JobStorage> => {
        const storage = await fixture.anotherProcess?.();
        assert(storage, 'the fixture needs anotherProcess for a storage that is durable or locks');
        return open(job, storage);
      };
      try {
        await body({ fixture, clock, open, openInAnotherProcess });
      } finally {
        await fixture.dispose?.();
      }
    });
  };
}

/** Bytes that differ by position and seed. */
export function content(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + (i >> 8) * 7 + seed * 101;
  return bytes;
}

export async function writeBlob(
  location: Pick<CheckpointLocation, 'createBlob'>,
  bytes: Uint8Array,
  chunkSize = 8192,
): Promise<BlobHandle> {
  const blob = location.createBlob();
  for (let at = 0; at < bytes.length; at += chunkSize) await blob.write(bytes.slice(at, at + chunkSize));
  return blob.finish();
}

/** A completed checkpoint with blobs of the given bytes; its metadata is one byte, the id. */
export async function writeCheckpoint(
  job: JobStorage,
  id: CheckpointId,
  blobs: readonly Uint8Array[] = [content(100_000, id)],
): Promise<readonly BlobHandle[]> {
  const location = await job.create(id);
  const handles: BlobHandle[] = [];
  for (const bytes of blobs) handles.push(await writeBlob(location, bytes));
  await location.publish(Uint8Array.of(id));
  return handles;
}

export async function find(job: JobStorage, id: CheckpointId): Promise<StoredCheckpoint> {
  const found = (await job.list()).find((checkpoint) => checkpoint.id === id);
  assert(found, `checkpoint ${String(id)} is not listed`);
  return found;
}

/** What is listed, as `id` or, if incomplete, `id?`. */
export async function listed(job: JobStorage): Promise<readonly string[]> {
  return (await job.list()).map(({ id, complete }) => `${String(id)}${complete ? '' : '?'}`);
}

export function equalBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length, 'number of bytes');
  assert.equal(Buffer.compare(actual, expected), 0, 'the bytes differ');
}

/** The call fails with the code, thrown or rejected. */
export async function failsWith(code: ErrorCode, call: () => unknown): Promise<Error> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    assert(isWeirError(error, code), `fails with ${code}, not with ${String(error)}`);
    return error;
  }
  assert.fail(`fails with ${code}, not with the answer ${String(answer)}`);
}

/** The outcome of a call that waits on the clock, however long. */
export async function afterWaiting<T>(clock: VirtualClock, waiting: Promise<T>): Promise<T> {
  const progress = { settled: false };
  const done = (): void => {
    progress.settled = true;
  };
  waiting.then(done, done);
  while (!progress.settled) await clock.advance(100);
  return waiting;
}
