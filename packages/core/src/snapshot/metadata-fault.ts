import type { CheckpointMetadata, OperatorMetadata, SubtaskState } from '../contracts/metadata.js';
import type { BlobHandle, KeyGroupRange, KeyedStateHandle, SectionsHandle } from '../contracts/snapshot.js';
import { MAX_MAX_PARALLELISM, keyGroupRange } from '../element/key-group.js';
import { blobsOfKeyed } from './blobs-of-keyed.js';

/** Values that were encoded as nothing take no bytes; beyond so many, a number of them is no number that was written. */
const MOST_WITHOUT_BYTES = 2 ** 20;

/**
 * What is wrong with metadata that have a right checksum and make no sense; undefined: nothing. Whoever reads them afterwards, a start, a check or a
 * reader, may rely on every number being one that a checkpoint can have: nothing is allocated, looped over or divided by before this.
 */
export function faultOfMetadata(metadata: CheckpointMetadata): string | undefined {
  const { attempt, checkpointId, triggeredAt, restoredFrom, operators, selfContained, keptForUser = [] } = metadata;
  if (![attempt, checkpointId, restoredFrom?.checkpointId ?? 0, ...keptForUser].every(isCount))
    return 'has an id or an attempt that is none';
  if (!Number.isFinite(triggeredAt)) return 'was triggered at no time';
  if (operators.length === 0) return 'has no operator';
  const again = firstRepeated(operators.map(({ uid }) => uid));
  if (again !== undefined) return `has operator '${again}' twice`;
  // What is stored by key group goes by the maximum parallelism of the job, which is that of any operator.
  const keyed = operators.filter(({ subtasks }) => subtasks.some((subtask) => subtask.keyed.length > 0));
  const other = keyed.find(({ maxParallelism }) => maxParallelism !== operators[0]?.maxParallelism);
  if (other !== undefined) return `has an operator '${other.uid}' with another maximum parallelism than the others`;
  for (const operator of operators) {
    const fault = faultOfOperator(operator, selfContained);
    if (fault !== undefined) return `has an operator '${operator.uid}' that ${fault}`;
  }
  return undefined;
}

function faultOfOperator(operator: OperatorMetadata, selfContained: boolean): string | undefined {
  const { parallelism, maxParallelism, status, finishedSubtasks = [], subtasks } = operator;
  if (!isBetween(maxParallelism, 1, MAX_MAX_PARALLELISM)) return `has maximum parallelism ${String(maxParallelism)}`;
  if (!isBetween(parallelism, 1, maxParallelism))
    return `has parallelism ${String(parallelism)} of at most ${String(maxParallelism)}`;
  const isPartly = finishedSubtasks.length > 0 && finishedSubtasks.length < parallelism;
  if ((status === 'partly-finished') !== isPartly || !areSubtasks(finishedSubtasks, parallelism))
    return 'has finished subtasks that it cannot have';
  if (
    !areSubtasks(
      subtasks.map(({ index }) => index),
      parallelism,
    )
  )
    return 'has subtasks twice, out of order, or that it cannot have';
  for (const subtask of subtasks) {
    const own = keyGroupRange(subtask.index, parallelism, maxParallelism);
    const fault = faultOfKeyed(subtask.keyed, own) ?? faultOfOthers(subtask) ?? faultOfBlobs(subtask, selfContained);
    if (fault !== undefined) return `has a subtask ${String(subtask.index)} that ${fault}`;
  }
  return undefined;
}

/** The handles of a subtask are of its own key groups, and of all of them: a group that is named by none would be empty in silence. */
function faultOfKeyed(handles: readonly KeyedStateHandle[], own: KeyGroupRange): string | undefined {
  let next = own.first;
  for (const { range } of handles.toSorted((a, b) => a.range.first - b.range.first)) {
    if (!(range.first <= range.last && range.first >= own.first && range.last <= own.last))
      return `has state of key groups ${between(range)}, and owns ${between(own)}`;
    if (range.first > next) break;
    next = Math.max(next, range.last + 1);
  }
  if (handles.length > 0 && next <= own.last) return `has no state of key group ${String(next)}, which it owns`;
  for (const handle of handles) {
    const again = firstRepeated(handle.states.map(({ name }) => name));
    if (again !== undefined) return `has state '${again}' twice`;
    const fault = handle.format === 'native' ? faultOfFiles(handle.files) : faultOfSections(handle);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfFiles(files: readonly { readonly name: string }[]): string | undefined {
  const again = firstRepeated(files.map(({ name }) => name));
  return again === undefined ? undefined : `has file '${again}' twice`;
}

function faultOfSections({ groups, range, blob }: SectionsHandle): string | undefined {
  let [group, end] = [range.first - 1, 0];
  for (const { keyGroup, offset, length } of groups) {
    if (!(keyGroup > group && keyGroup <= range.last)) return `has key group ${String(keyGroup)} where it cannot be`;
    if (!(isCount(length) && offset >= end && offset + length <= sizeOf(blob)))
      return `has key group ${String(keyGroup)} outside of its bytes, or on those of another`;
    [group, end] = [keyGroup, offset + length];
  }
  return undefined;
}

function faultOfOthers({ operator, committables, channels }: SubtaskState): string | undefined {
  const again = firstRepeated(operator.map(({ name }) => name));
  if (again !== undefined) return `has operator state '${again}' twice`;
  if (committables !== undefined && !isCount(committables.newest)) return 'has committables of no checkpoint';
  for (const { count, blob } of [...operator, ...channels, ...(committables === undefined ? [] : [committables])])
    if (!isCount(count) || count > sizeOf(blob) + MOST_WITHOUT_BYTES)
      return `has ${String(count)} values in ${String(sizeOf(blob))} bytes`;
  for (const { edge, fromSubtask, toSubtask } of channels)
    if (![edge.input, edge.output, fromSubtask, toSubtask].every((n) => isBetween(n, 0, MAX_MAX_PARALLELISM)))
      return 'has records in flight between subtasks that there cannot be';
  return undefined;
}

function faultOfBlobs(
  { keyed, operator, committables, channels }: SubtaskState,
  selfContained: boolean,
): string | undefined {
  const others = [...operator, ...channels, ...(committables === undefined ? [] : [committables])];
  for (const blob of [...keyed.flatMap(blobsOfKeyed), ...others.map((each) => each.blob)]) {
    if (blob.kind === 'inline') continue;
    if (!isCount(blob.length) || blob.path === '') return 'has a file without a name or a length';
    if (blob.kind === 'shared' && selfContained) return `shares file '${blob.path}', and is said to share none`;
  }
  return undefined;
}

function sizeOf(blob: BlobHandle): number {
  return blob.kind === 'inline' ? blob.bytes.length : blob.length;
}

function between({ first, last }: KeyGroupRange): string {
  return `${String(first)} to ${String(last)}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
function isBetween(value: number, least: number, most: number): boolean {
  return isCount(value) && value >= least && value <= most;
}

function areSubtasks(indexes: readonly number[], parallelism: number): boolean {
  return indexes.every((index, at) => isBetween(index, 0, parallelism - 1) && (at === 0 || index > indexes[at - 1]!));
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}
