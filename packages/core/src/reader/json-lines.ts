import type { CommittableIdentity } from '../contracts/snapshot.js';
import type { StateEntry } from '../contracts/state-backend.js';
import type { OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import type { TimeDomain } from '../time/timers.js';
import { fromJsonValue, toJsonValue, type JsonValue } from './json-value.js';
import type { CheckpointReader } from './open-checkpoint.js';
import type { StoredInFlight } from './operator-reader.js';
import type { OperatorSummary } from './summary.js';

/** One line of an export. */
export type ExportedRow =
  | {
      readonly row: 'checkpoint';
      readonly job: string;
      readonly kind: 'checkpoint' | 'savepoint';
      readonly checkpointId: number;
      readonly triggeredAt: number;
      readonly pointer: string;
    }
  | ({ readonly row: 'operator' } & OperatorSummary)
  | ({ readonly row: 'state'; readonly operator: OperatorUid; readonly state: string } & StateEntry)
  | {
      readonly row: 'timer';
      readonly operator: OperatorUid;
      readonly domain: TimeDomain;
      readonly key: Key;
      readonly time: number;
    }
  | {
      readonly row: 'operator-state';
      readonly operator: OperatorUid;
      readonly state: string;
      readonly subtask: number;
      readonly value: unknown;
    }
  | ({ readonly row: 'in-flight'; readonly operator: OperatorUid } & StoredInFlight<unknown>)
  | {
      readonly row: 'committable';
      readonly operator: OperatorUid;
      readonly subtask: number;
      readonly identity: CommittableIdentity;
      readonly payload: unknown;
    };

export interface ExportOptions {
  /** Default: all. */
  readonly operators?: readonly OperatorUid[] | undefined;
}

/**
 * All that a checkpoint holds as lines of JSON, each with its line feed: what it is, then operator by operator what that is, its states, timers,
 * operator state, records in flight and what is left to commit. Values beyond JSON are in the notation of {@link toJsonValue}. In memory is what one key group holds.
 */
export async function* exportJsonLines(
  checkpoint: CheckpointReader,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  for await (const row of rowsOf(checkpoint, options)) yield `${JSON.stringify(toJsonValue(row))}\n`;
}

/** A line of {@link exportJsonLines} as it was before it became JSON. */
export function parseJsonLine(line: string): ExportedRow {
  // The line is one that was exported; a test holds the two together.
  return fromJsonValue(JSON.parse(line) as JsonValue) as ExportedRow;
}

async function* rowsOf(
  checkpoint: CheckpointReader,
  { operators }: ExportOptions,
): AsyncGenerator<ExportedRow, void, undefined> {
  const { pointer, metadata } = checkpoint;
  const { job, kind, checkpointId, triggeredAt } = metadata;
  yield { row: 'checkpoint', job, kind, checkpointId, triggeredAt, pointer };
  for (const uid of operators ?? checkpoint.operators.map((operator) => operator.uid)) {
    const reader = checkpoint.operator(uid);
    yield { row: 'operator', ...withoutUndefined(reader.summary) };
    for (const { name } of reader.summary.states)
      for await (const entry of reader.entries(name)) yield { row: 'state', operator: uid, state: name, ...entry };
    for await (const timer of reader.timers()) yield { row: 'timer', operator: uid, ...timer };
    for (const { name } of reader.summary.operatorStates)
      for await (const value of reader.operatorState(name))
        yield { row: 'operator-state', operator: uid, state: name, ...value };
    for await (const record of reader.inFlight()) yield { row: 'in-flight', operator: uid, ...record };
    for await (const committable of reader.committables()) yield { row: 'committable', operator: uid, ...committable };
  }
}

function withoutUndefined<T extends object>(object: T): T {
  // Only what is undefined anyway is left out.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
