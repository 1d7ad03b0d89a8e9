import type { EnumeratorState } from '../contracts/metadata.js';
import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { OperatorRestore } from '../contracts/snapshot.js';
import { WeirError, isWeirError } from '../errors.js';
import type { PlannedStates } from '../graph/declared-states.js';
import { matchHandles } from '../snapshot/match-handles.js';
import { matchOperatorStates, type Declared, type StateMatch } from '../state/state-match.js';
import { readerOf } from '../state/stored-by.js';
import type { StateReport, StateReportKind } from './savepoint-report.js';

/** What is stored of one operator, as a start would hand it out. */
export interface StoredOperator {
  readonly parts: readonly OperatorRestore[];
  /** Absent where none is restored. */
  readonly enumerator: Pick<EnumeratorState, 'serializer'> | undefined;
}

/** `engine`: the `type` of the state backend that is installed. `where` names operator and checkpoint in errors. */
export function stateReports(
  stored: StoredOperator,
  declared: PlannedStates,
  engine: string | undefined,
  where: string,
): readonly StateReport[] {
  return [
    ...keyedReports(stored, declared, engine, where),
    ...operatorReports(stored, declared, where),
    ...otherReports(stored, declared, where),
  ];
}

function keyedReports(
  { parts }: StoredOperator,
  { keyed }: PlannedStates,
  engine: string | undefined,
  where: string,
): readonly StateReport[] {
  const handles = parts.flatMap((part) => part.keyed);
  const kinds = new Map(handles.flatMap(({ states }) => states).map(({ name, kind }) => [name, kind]));
  if (keyed === undefined) return [...kinds].map(([name, kind]) => unread(name, kind));
  const matches = new Map(matchHandles(handles, keyed, where));
  for (const handle of handles) {
    if (handle.format !== 'native' || handle.engine === engine) continue;
    for (const { name } of handle.states)
      matches.set(name, { kind: 'incompatible', error: unreadable(handle.engine, where) });
  }
  const kindOf = ({ kind, recordedAs }: (typeof keyed.states)[number]): StateReportKind => recordedAs ?? kind;
  return reportsOf(matches, keyed, (name) => kinds.get(name) ?? 'value', kindOf);
}

function operatorReports(
  { parts }: StoredOperator,
  { operator }: PlannedStates,
  where: string,
): readonly StateReport[] {
  const handles = parts.flatMap((part) => part.operator);
  const kinds = new Map(handles.map(({ name, mode }) => [name, `operator ${mode}` as const]));
  if (operator === undefined) return [...kinds].map(([name, kind]) => unread(name, kind));
  return reportsOf(
    matchOperatorStates(handles, operator, where),
    operator,
    (name) => kinds.get(name) ?? 'operator list',
    ({ mode }) => `operator ${mode}`,
  );
}

function reportsOf<D extends { readonly name: string }>(
  matches: ReadonlyMap<string, StateMatch<D>>,
  declared: Declared<D>,
  storedKind: (name: string) => StateReportKind,
  declaredKind: (state: D) => StateReportKind,
): readonly StateReport[] {
  const found = new Set([...matches.values()].map((match) => (match.kind === 'kept' ? match.state : undefined)));
  return [
    ...[...matches].map(([name, match]) => reportOf(name, storedKind(name), match)),
    ...declared.states
      // Timers are there once one was registered; that there are none is no news.
      .filter((state) => !found.has(state) && !matches.has(state.name) && !state.name.startsWith('~'))
      .map((state): StateReport => ({
        name: state.name,
        kind: declaredKind(state),
        verdict: 'new',
        why: 'starts empty',
      })),
  ];
}

function reportOf(name: string, kind: StateReportKind, match: StateMatch<{ readonly name: string }>): StateReport {
  switch (match.kind) {
    case 'kept': {
      const verdict = match.changes.length > 0 ? 'migrated' : 'restored';
      return { name: match.state.name, kind, verdict, why: match.changes.join(', ') };
    }
    case 'dropped':
      return { name, kind, verdict: 'dropped', why: 'the job gives it up' };
    case 'incompatible':
      return refused(name, kind, match.error);
  }
}

function otherReports(
  { parts, enumerator }: StoredOperator,
  declared: PlannedStates,
  where: string,
): readonly StateReport[] {
  const committables = parts.flatMap((part) => part.committables ?? []);
  const loops = parts.flatMap(({ channels = [] }) => channels).filter(({ kind }) => kind === 'loop');
  return [
    ...readBy('committables', committables, declared.committables, where),
    ...readBy('enumerator', enumerator === undefined ? [] : [enumerator], declared.enumerator, where),
    ...readBy('loop', loops, declared.loop, where),
  ];
}

/** One line for all that was stored of a kind. */
function readBy(
  kind: 'committables' | 'enumerator' | 'loop',
  stored: readonly { readonly serializer: SerializerRef }[],
  serializer: Serializer | undefined,
  where: string,
): readonly StateReport[] {
  if (stored.length === 0) return [];
  if (serializer === undefined) return [refused(kind, kind, notItsOwn(kind, where))];
  try {
    for (const each of stored) readerOf(serializer, each.serializer, `${kind} of ${where}`);
    return [{ name: kind, kind, verdict: 'restored', why: '' }];
  } catch (error) {
    if (!isWeirError(error)) throw error;
    return [refused(kind, kind, error)];
  }
}

function unread(name: string, kind: StateReportKind): StateReport {
  return { name, kind, verdict: 'unknown', why: 'the operator does not say what it reads' };
}

function notItsOwn(kind: 'committables' | 'enumerator' | 'loop', where: string): WeirError {
  const role = { committables: 'sink', enumerator: 'source', loop: 'loop' }[kind];
  return new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `There is something of a ${role} (${where}), which it no longer is.`,
    {
      recoverable: false,
    },
  );
}

function refused(name: string, kind: StateReportKind, error: WeirError): StateReport {
  return { name, kind, verdict: 'incompatible', why: error.message, code: error.code };
}

function unreadable(engine: string, where: string): WeirError {
  return new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `It is in the format of state backend '${engine}' (${where}), which is not the installed one. Install that backend, or take a savepoint: any backend reads those.`,
    { recoverable: false },
  );
}
