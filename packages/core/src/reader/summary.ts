import type { CheckpointMetadata, OperatorMetadata } from '../contracts/metadata.js';
import type { SerializerRef } from '../contracts/serializer.js';
import type { BlobHandle, KeyedStateHandle, OperatorStateMode, RecordedKind } from '../contracts/snapshot.js';
import type { OperatorUid } from '../element/ids.js';
import type { KeyType } from '../element/key-type.js';
import { blobsOfKeyed } from '../snapshot/blobs-of-keyed.js';
import { TIMER_DOMAINS, timerDomainOf, timerStateOf } from '../time/timer-states.js';
import type { TimeDomain } from '../time/timers.js';

/** What a checkpoint says of an operator, without a look at its state. */
export interface OperatorSummary {
  readonly uid: OperatorUid;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** See `OperatorMetadata.status`. */
  readonly status: OperatorMetadata['status'];
  /** Of the keyed operators, in the order in which they were first stored. */
  readonly states: readonly StateSummary[];
  /** What its keys have been; undefined if it has no state by key, or whoever wrote it did not note it. */
  readonly keyTypes: readonly KeyType[] | undefined;
  /** Which timers there are. */
  readonly timers: readonly TimeDomain[];
  readonly operatorStates: readonly OperatorStateSummary[];
  /** Output that was prepared and not yet known to be committed. */
  readonly committables: number;
  /** Records that were between two subtasks, or in a loop, and on their way to (or from) this operator. */
  readonly inFlight: number;
  /** What wrote the state of a source's split enumerator; undefined if there is none. */
  readonly enumerator: SerializerRef | undefined;
  /** Bytes in storage of all its keyed state, timers included. */
  readonly keyedBytes: number;
  /** Formats of its keyed state: the names of state backends for what is in their own formats, which needs `backends` to be read. */
  readonly formats: readonly string[];
}
/** A state by key. */
export interface StateSummary {
  readonly name: string;
  readonly kind: RecordedKind;
  readonly serializer: SerializerRef;
  /** States of an operator lie in one file: each is given an equal share. `measure` reads and counts. */
  readonly approximateBytes: number;
}
/** A state by subtask. */
export interface OperatorStateSummary {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly serializer: SerializerRef;
  /** Values of all subtasks. */
  readonly count: number;
  readonly bytes: number;
}

export function summaryOf({ operators }: CheckpointMetadata): readonly OperatorSummary[] {
  return operators.map(operatorSummary);
}

function operatorSummary(operator: OperatorMetadata): OperatorSummary {
  const { uid, parallelism, maxParallelism, status, enumerator, subtasks } = operator;
  const keyed = subtasks.flatMap((subtask) => subtask.keyed);
  const states = statesIn(keyed);
  return {
    uid,
    parallelism,
    maxParallelism,
    status,
    states: states.filter(({ name }) => timerDomainOf(name) === undefined),
    keyTypes: keyTypesIn(operator),
    timers: TIMER_DOMAINS.filter((domain) => states.some(({ name }) => name === timerStateOf(domain))),
    operatorStates: operatorStatesIn(operator),
    committables: sum(subtasks.map(({ committables }) => committables?.count ?? 0)),
    inFlight: sum(subtasks.flatMap(({ channels }) => channels).map(({ count }) => count)),
    enumerator: enumerator?.serializer,
    keyedBytes: sum(keyed.map(bytesOf)),
    formats: [...new Set(keyed.map((handle) => (handle.format === 'native' ? handle.engine : handle.format)))],
  };
}

function keyTypesIn({ subtasks }: OperatorMetadata): readonly KeyType[] | undefined {
  const known = subtasks.flatMap(({ keyTypes }) => keyTypes ?? []);
  return subtasks.some(({ keyTypes }) => keyTypes !== undefined) ? [...new Set(known)] : undefined;
}

/** Every state once; of one that several serializers wrote the newest counts. */
function statesIn(keyed: readonly KeyedStateHandle[]): readonly StateSummary[] {
  const states = new Map<string, StateSummary>();
  for (const handle of keyed) {
    const share = bytesOf(handle) / Math.max(1, handle.states.length);
    for (const { name, kind, serializer } of handle.states) {
      const bytes = (states.get(name)?.approximateBytes ?? 0) + share;
      states.set(name, { name, kind, serializer, approximateBytes: Math.round(bytes) });
    }
  }
  return [...states.values()];
}

function operatorStatesIn({ subtasks }: OperatorMetadata): readonly OperatorStateSummary[] {
  const states = new Map<string, OperatorStateSummary>();
  for (const { name, mode, serializer, count, blob } of subtasks.flatMap(({ operator }) => operator)) {
    const before = states.get(name);
    states.set(name, {
      name,
      mode,
      serializer,
      count: count + (before?.count ?? 0),
      bytes: lengthOf(blob) + (before?.bytes ?? 0),
    });
  }
  return [...states.values()];
}

function bytesOf(handle: KeyedStateHandle): number {
  return sum(blobsOfKeyed(handle).map(lengthOf));
}

function lengthOf(blob: BlobHandle): number {
  return blob.kind === 'inline' ? blob.bytes.length : blob.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
