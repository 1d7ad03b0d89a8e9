import type { CheckpointStorage, JobStorage, StoredCheckpoint } from '../contracts/checkpoint-storage.js';
import type { Clock } from '../contracts/clock.js';
import { SILENT } from '../contracts/logger.js';
import type { CheckpointMetadata } from '../contracts/metadata.js';
import type { Serializer } from '../contracts/serializer.js';
import type { BlobHandle } from '../contracts/snapshot.js';
import type { StateBackend } from '../contracts/state-backend.js';
import { systemClock } from '../adapters/system-clock.js';
import type { JobName, OperatorUid } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { decodeMetadata } from '../snapshot/metadata.js';
import { openBlob } from '../snapshot/open-blob.js';
import { decodeReference, isSame } from '../snapshot/savepoint-reference.js';
import { unreadable } from '../snapshot/unreadable.js';
import type { ReadingContext } from './keyed-contents.js';
import { KnownSerializers } from './known-serializers.js';
import { operatorReader, type OperatorReader } from './operator-reader.js';
import { summaryOf, type OperatorSummary } from './summary.js';

export interface OpenCheckpointOptions {
  /** Where it lies. Nothing is written, and no lock is taken. */
  readonly storage: CheckpointStorage;
  /** For storages that find checkpoints of one job only, as the one in memory. */
  readonly job?: JobName | undefined;
  /** Those that states were given, beside weir's own (msgpack, the default, and v8). Found by their ids. */
  readonly serializers?: readonly Serializer[] | undefined;
  /** For state in a backend's own format, such as incremental checkpoints of RocksDB. Savepoints need none. */
  readonly backends?: readonly StateBackend[] | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** A completed checkpoint or savepoint, as data. */
export interface CheckpointReader {
  /** Where it was found. */
  readonly pointer: string;
  /** All that `_metadata` says. */
  readonly metadata: CheckpointMetadata;
  /** In the order of the plan, also those without state. */
  readonly operators: readonly OperatorSummary[];
  /** STATE_UNKNOWN, naming those there are, if there is none of that uid. */
  operator(uid: OperatorUid): OperatorReader;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a checkpoint or savepoint by what a user would pass to `restoreFrom`: its folder, or that in the job's own directory which refers to it. Needs neither the job nor a lock, so it may be one of a
 * job that runs; what that job deletes meanwhile is CHECKPOINT_UNREADABLE. Fails with CHECKPOINT_NONE if there is none. (Flink: State Processor API.)
 */
export async function openCheckpoint(pointer: string, options: OpenCheckpointOptions): Promise<CheckpointReader> {
  const { storage, job, clock = systemClock } = options;
  const { opened, found, metadata } = await openStorage(pointer, storage, clock, job);
  const read = (blob: BlobHandle): Promise<Uint8Array> => opened.read(found, blob);
  const readPart = opened.readPart?.bind(opened);
  const where = `${metadata.kind} ${String(metadata.checkpointId)} of job ${metadata.job}`;
  const stored = { read, readPart: readPart && ((blob, part) => readPart(found, blob, part)) } satisfies Pick<
    ReadingContext['stored'],
    'read' | 'readPart'
  >;
  const context: ReadingContext = {
    job: metadata.job,
    where,
    stored: { ...stored, open: (blob) => openBlob(blob, stored, `state of ${where}`) },
    serializers: new KnownSerializers(options.serializers),
    backends: options.backends ?? [],
    clock,
  };
  const operators = summaryOf(metadata);
  const close = (): Promise<void> => opened.close();
  return {
    pointer: found.pointer,
    metadata,
    operators,
    operator(uid) {
      const at = operators.findIndex((operator) => operator.uid === uid);
      const [operator, summary] = [metadata.operators[at], operators[at]];
      if (operator !== undefined && summary !== undefined) return operatorReader(operator, summary, context);
      throw new WeirError(
        'STATE_UNKNOWN',
        `The ${where} has no operator '${uid}'. It has: ${operators.map((each) => each.uid).join(', ') || 'none'}.`,
        { recoverable: false },
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Opened {
  readonly opened: JobStorage;
  readonly found: StoredCheckpoint;
  readonly metadata: CheckpointMetadata;
}

/** Whose it is, and so which job's part of the storage to open, is for its metadata to say. */
async function openStorage(
  pointer: string,
  storage: CheckpointStorage,
  clock: Clock,
  job: JobName | undefined,
): Promise<Opened> {
  const first = await openAs(job ?? 'state-reader', pointer, storage, clock);
  if (job !== undefined || first.metadata.job === 'state-reader') return first;
  await first.opened.close();
  return openAs(first.metadata.job, pointer, storage, clock);
}

async function openAs(job: JobName, pointer: string, storage: CheckpointStorage, clock: Clock): Promise<Opened> {
  const opened = await storage.open({ job, clock, logger: SILENT });
  try {
    const found = await opened.resolve(pointer);
    const bytes = await opened.readMetadata(found);
    const reference = decodeReference(bytes, found.pointer);
    if (reference === undefined) {
      const metadata = decodeMetadata(bytes, found.pointer);
      requireOwn(metadata, found);
      return { opened, found, metadata };
    }
    const followed = await opened.resolve(reference.pointer);
    const metadata = decodeMetadata(await opened.readMetadata(followed), followed.pointer);
    if (!isSame(metadata, reference))
      throw unreadable(`the savepoint at ${followed.pointer}`, `is another one than ${found.pointer} refers to`);
    return { opened, found: followed, metadata };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Of a folder that does not tell its id, it is whatever its metadata say. */
function requireOwn({ checkpointId }: CheckpointMetadata, { id, pointer }: StoredCheckpoint): void {
  if (id === 0 || id === checkpointId) return;
  throw unreadable(`_metadata at ${pointer}`, `is that of checkpoint ${String(checkpointId)}`);
}
