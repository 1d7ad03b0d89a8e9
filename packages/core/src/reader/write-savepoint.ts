import { systemId } from '../adapters/system-chance.js';
import { systemClock } from '../adapters/system-clock.js';
import type { CheckpointLocation, CheckpointStorage } from '../contracts/checkpoint-storage.js';
import type { Clock } from '../contracts/clock.js';
import { SILENT } from '../contracts/logger.js';
import type { OperatorMetadata } from '../contracts/metadata.js';
import type { OperatorStateHandle } from '../contracts/snapshot.js';
import type { StateBackend } from '../contracts/state-backend.js';
import { WEIR_VERSION } from '../contracts/version.js';
import type { CheckpointId, JobName, OperatorUid } from '../element/ids.js';
import { DEFAULT_MAX_PARALLELISM, MAX_MAX_PARALLELISM } from '../element/key-group.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import { encodeMetadata } from '../snapshot/metadata.js';
import { encodeOperatorState, writeOperatorState } from '../snapshot/operator-state.js';
import { checkedSerializer } from '../state/checked-serializer.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { requireStateName } from '../state/descriptors.js';
import { entrySerializer } from '../state/operator-state-descriptors.js';
import type { OperatorData } from './savepoint-data.js';
import { writeKeyedData } from './write-keyed-data.js';

export interface WriteSavepointOptions {
  /** One that has savepoints. */
  readonly storage: CheckpointStorage;
  /** Default: the storage's own. */
  readonly directory?: string | undefined;
  /** Holds the data while it is put in order: state in memory, or what is larger than that in RocksDB. Any backend restores what comes of it. */
  readonly backend: StateBackend;
  readonly job: JobName;
  /** Those with state; others of the job start without. */
  readonly operators: readonly OperatorData[];
  /** What the job's checkpoints go on from. Default 1. */
  readonly checkpointId?: CheckpointId | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** For the lineage. Default: random. */
  readonly newId?: (() => string) | undefined;
}

export interface WrittenSavepoint {
  /** For `restoreFrom: { path }`. */
  readonly pointer: string;
  readonly checkpointId: CheckpointId;
}

/**
 * Makes a savepoint of data that no job has computed, for a job to start from: history taken over from elsewhere, or what {@link openCheckpoint} read,
 * changed. Durable when settled; what was written is removed if it fails. SAVEPOINT_NOWHERE without a place for it, KEY_INVALID and
 * VALUE_NOT_SERIALIZABLE for data that could not be restored. (Flink: SavepointWriter.)
 */
export async function writeSavepoint(options: WriteSavepointOptions): Promise<WrittenSavepoint> {
  const { storage, job, operators, checkpointId = 1, clock = systemClock, newId = systemId } = options;
  requireText(job, 'the name of the job');
  checkOperators(operators);
  const opened = await storage.open({ job, clock, logger: SILENT });
  try {
    const directory = options.directory ?? opened.savepointDirectory;
    if (directory === undefined || opened.createSavepoint === undefined) throw nowhere(job, storage, directory);
    const location = await opened.createSavepoint(checkpointId, directory);
    try {
      const written: OperatorMetadata[] = [];
      for (const operator of operators) written.push(await writeOperator(operator, location, options, clock));
      await location.publish(
        encodeMetadata({
          job,
          lineage: newId(),
          attempt: 0,
          checkpointId,
          kind: 'savepoint',
          triggeredAt: clock.now(),
          restoredFrom: undefined,
          weirVersion: WEIR_VERSION,
          nodeVersion: process.versions.node,
          selfContained: true,
          graphHash: '',
          operators: written,
        }),
      );
    } catch (error) {
      await location.discard();
      throw error;
    }
    return { pointer: location.pointer, checkpointId };
  } finally {
    await opened.close();
  }
}

/** As one subtask would have had it that owned every key group: whoever restores it deals it out. */
async function writeOperator(
  data: OperatorData,
  location: CheckpointLocation,
  { job, backend }: WriteSavepointOptions,
  clock: Clock,
): Promise<OperatorMetadata> {
  const { uid, maxParallelism = DEFAULT_MAX_PARALLELISM } = data;
  const { keyed, keyTypes } = await writeKeyedData(data, { job, backend, location, maxParallelism, clock });
  const operator = await writeOperatorStates(data, location);
  const hasState = keyed.length + operator.length > 0;
  return {
    uid,
    parallelism: 1,
    maxParallelism,
    status: 'running',
    enumerator: undefined,
    subtasks: hasState ? [{ index: 0, keyed, keyTypes, operator, committables: undefined, channels: [] }] : [],
  };
}

async function writeOperatorStates(
  { operatorStates = {} }: OperatorData,
  location: CheckpointLocation,
): Promise<readonly OperatorStateHandle[]> {
  const handles: OperatorStateHandle[] = [];
  for (const [name, { mode, values, serializer = defaultSerializer }] of Object.entries(operatorStates)) {
    const all: unknown[] = [];
    for await (const value of values) all.push(value);
    if (all.length === 0) continue;
    const stored = mode === 'broadcast' ? entrySerializer(serializer) : serializer;
    handles.push(
      await writeOperatorState(encodeOperatorState({ name, mode, serializer: stored, values: all }), location),
    );
  }
  return handles;
}

function checkOperators(operators: readonly OperatorData[]): void {
  if (operators.length === 0)
    throw new WeirError('CONFIG_INVALID', 'A savepoint without any operator holds nothing: give one at least.');
  const most = new Set(operators.map(({ maxParallelism = DEFAULT_MAX_PARALLELISM }) => maxParallelism));
  if (most.size > 1)
    throw new WeirError(
      'GRAPH_INVALID_PARALLELISM',
      `The operators of the savepoint have maximum parallelisms ${[...most].join(' and ')}: a job has one.`,
    );
  const uids = new Set<OperatorUid>();
  for (const { uid, maxParallelism = DEFAULT_MAX_PARALLELISM, states = {}, operatorStates = {} } of operators) {
    requireText(uid, 'the uid of an operator');
    for (const [name, { serializer }] of [...Object.entries(states), ...Object.entries(operatorStates)]) {
      requireStateName(uid, name);
      if (serializer !== undefined) checkedSerializer(serializer, `state '${name}' of operator ${uid}`);
    }
    if (uids.has(uid)) throw new WeirError('GRAPH_DUPLICATE_UID', `Two operators of the savepoint have uid '${uid}'.`);
    uids.add(uid);
    if (Number.isSafeInteger(maxParallelism) && maxParallelism >= 1 && maxParallelism <= MAX_MAX_PARALLELISM) continue;
    throw new WeirError(
      'GRAPH_INVALID_PARALLELISM',
      `Operator '${uid}' has maximum parallelism ${String(maxParallelism)}: a whole number from 1 to ${String(MAX_MAX_PARALLELISM)} is needed.`,
    );
  }
}

function requireText(text: string, what: string): void {
  if (text !== '' && isWellFormed(text)) return;
  throw new WeirError(
    'CONFIG_INVALID',
    `In a savepoint ${what} is ${JSON.stringify(text)}: it must be valid Unicode that is not empty.`,
    { recoverable: false },
  );
}

function nowhere(job: JobName, { type }: CheckpointStorage, directory: string | undefined): WeirError {
  return new WeirError(
    'SAVEPOINT_NOWHERE',
    directory === undefined
      ? `A savepoint of job ${job} was to be written, and neither a directory was given nor does the storage (${type}) have one. Give a directory.`
      : `A savepoint of job ${job} was to be written into ${directory}, and the storage (${type}) has none. Use one that has, @weir/backend-fs for one.`,
  );
}
