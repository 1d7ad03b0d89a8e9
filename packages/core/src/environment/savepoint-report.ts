import type { OperatorStateMode, RecordedKind } from '../contracts/snapshot.js';
import type { SnapshotKind } from '../element/element.js';
import type { CheckpointId, JobName, OperatorUid } from '../element/ids.js';
import type { ErrorCode } from '../errors.js';

/**
 * What a start would do with something that is stored, or declared. `restored`: takes it as it is; `migrated`: under another name or version;
 * `new`: nothing of it is stored; `dropped`: leaves it behind; `incompatible`: refuses to start; `unknown`: only the operator knows.
 */
export type SavepointVerdict = 'restored' | 'migrated' | 'new' | 'dropped' | 'incompatible' | 'unknown';

/** What would become of a savepoint, or any checkpoint, in the job that was described. Plain data. */
export interface SavepointReport {
  readonly pointer: string;
  /** The job that took it. */
  readonly job: JobName;
  readonly kind: SnapshotKind;
  readonly checkpointId: CheckpointId;
  /** A start from it would not be refused for what is stored: no problem, and nothing that is incompatible. */
  readonly fits: boolean;
  /** Why it does not fit as a whole. */
  readonly problems: readonly SavepointProblem[];
  /** Those of the job in their order, without such as keep nothing; then those that only the savepoint knows. */
  readonly operators: readonly OperatorReport[];
}
export interface SavepointProblem {
  readonly code: ErrorCode;
  readonly message: string;
}
export interface OperatorReport {
  readonly uid: OperatorUid;
  /** The worst of its states, or of the operator itself. */
  readonly verdict: SavepointVerdict;
  readonly why: string;
  /** Subtasks when it was taken, and now; undefined on the side that does not know the operator. */
  readonly parallelism: { readonly stored: number | undefined; readonly now: number | undefined };
  readonly states: readonly StateReport[];
}
export interface StateReport {
  /** As the job calls it, or else as it is stored. */
  readonly name: string;
  readonly kind: StateReportKind;
  readonly verdict: SavepointVerdict;
  readonly why: string;
  /** Of the error that a start would fail with. */
  readonly code?: ErrorCode | undefined;
}
export type StateReportKind = RecordedKind | `operator ${OperatorStateMode}` | 'committables' | 'enumerator' | 'loop';

/** From best to worst. */
const VERDICTS: readonly SavepointVerdict[] = ['new', 'restored', 'migrated', 'unknown', 'dropped', 'incompatible'];

/** `restored` where nothing is said. */
export function worstOf(verdicts: readonly SavepointVerdict[]): SavepointVerdict {
  return verdicts.reduce<SavepointVerdict>(
    (worst, each) => (VERDICTS.indexOf(each) > VERDICTS.indexOf(worst) ? each : worst),
    verdicts.length > 0 ? 'new' : 'restored',
  );
}

/** The report for people: a line in front, the problems, and a table of operators and states. */
export function formatSavepointReport(report: SavepointReport): string {
  const { pointer, job, kind, checkpointId, fits, problems, operators } = report;
  const rows = operators.flatMap(({ uid, verdict, why, states }) => [
    [uid, '', '', verdict, why],
    ...states.map((state) => ['', state.name, state.kind, state.verdict, state.why]),
  ]);
  const table = [['operator', 'state', 'kind', 'verdict', 'why'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return [
    `${kind} ${String(checkpointId)} of job ${job} at ${pointer}: ${fits ? 'fits' : 'does not fit'}`,
    ...problems.map(({ code, message }) => `  ${message.startsWith(code) ? message : `${code}: ${message}`}`),
    '',
    // The last column is for sentences, and the longest of them is no reason to pad the others.
    ...table.map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    ),
  ].join('\n');
}
