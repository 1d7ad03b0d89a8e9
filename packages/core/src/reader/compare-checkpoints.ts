import { isDeepStrictEqual } from 'node:util';
import type { StateEntry } from '../contracts/state-backend.js';
import type { KeyGroup, OperatorUid } from '../element/ids.js';
import { keyIdentity, type KeyIdentity } from '../element/key-identity.js';
import { TIMER_DOMAINS, timerStateOf } from '../time/timer-states.js';
import type { CheckpointReader } from './open-checkpoint.js';
import type { OperatorReader } from './operator-reader.js';
import { viewOf, type StateView } from './state-view.js';

/** What one checkpoint has of a state by key, and another has not, or has otherwise. Timers are in states `~timers-event` and `~timers-processing`. */
export type Difference =
  | { readonly change: 'added'; readonly operator: OperatorUid; readonly state: string; readonly after: StateEntry }
  | { readonly change: 'removed'; readonly operator: OperatorUid; readonly state: string; readonly before: StateEntry }
  | {
      readonly change: 'changed';
      readonly operator: OperatorUid;
      readonly state: string;
      readonly before: StateEntry;
      readonly after: StateEntry;
    };

export interface StateComparison {
  readonly operator: OperatorUid;
  readonly state: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly same: number;
}
export interface ComparisonSummary {
  /** Operators that only one of the two has. */
  readonly onlyBefore: readonly OperatorUid[];
  readonly onlyAfter: readonly OperatorUid[];
  /** Every state by key of either. */
  readonly states: readonly StateComparison[];
  /** Operator state, by its name, that does not hold the same values in any order. */
  readonly operatorStates: readonly { readonly operator: OperatorUid; readonly state: string }[];
}
export interface Comparison {
  readonly differences: StateView<Difference>;
  /** Goes through both. */
  summary(): Promise<ComparisonSummary>;
}

/**
 * What has changed between two checkpoints, of one job or of two, at whatever parallelism: entries are found by operator, state and key. Memory holds
 * a key group of both, or where the maximum parallelisms differ as many as lie in each other. Values are equal as `isDeepStrictEqual` has it.
 */
export function compareCheckpoints(before: CheckpointReader, after: CheckpointReader): Comparison {
  return {
    differences: viewOf(async function* () {
      for (const { uid, state } of statesOf(before, after))
        yield* compareState(before, after, uid, state, () => undefined);
    }),
    summary: () => summarize(before, after),
  };
}

async function summarize(before: CheckpointReader, after: CheckpointReader): Promise<ComparisonSummary> {
  const states: StateComparison[] = [];
  for (const { uid, state } of statesOf(before, after)) {
    const counts = { added: 0, removed: 0, changed: 0 };
    let same = 0;
    for await (const { change } of compareState(before, after, uid, state, () => same++)) counts[change]++;
    states.push({ operator: uid, state, ...counts, same });
  }
  return {
    onlyBefore: missingIn(after, before),
    onlyAfter: missingIn(before, after),
    states,
    operatorStates: await differingOperatorStates(before, after),
  };
}

function missingIn(checkpoint: CheckpointReader, other: CheckpointReader): readonly OperatorUid[] {
  const there = new Set(checkpoint.operators.map(({ uid }) => uid));
  return other.operators.map(({ uid }) => uid).filter((uid) => !there.has(uid));
}

function* statesOf(...checkpoints: readonly CheckpointReader[]): Generator<{ uid: OperatorUid; state: string }> {
  const uids = new Set(checkpoints.flatMap(({ operators }) => operators.map(({ uid }) => uid)));
  for (const uid of uids) {
    const operators = checkpoints.flatMap((checkpoint) => checkpoint.operators.filter((each) => each.uid === uid));
    const names = operators.flatMap(({ states, timers }) => [
      ...states.map(({ name }) => name),
      ...timers.map(timerStateOf),
    ]);
    for (const state of new Set(names)) yield { uid, state };
  }
}

async function* compareState(
  before: CheckpointReader,
  after: CheckpointReader,
  operator: OperatorUid,
  state: string,
  same: () => void,
): AsyncGenerator<Difference, void, undefined> {
  const [old, now] = [readerOf(before, operator), readerOf(after, operator)];
  const classes = classesOf(old, now);
  for (let each = 0; each < classes; each++) {
    const entries = await entriesIn(old, state, each, classes);
    for await (const entry of readClass(now, state, each, classes)) {
      const identity = identityOf(entry);
      const found = entries.get(identity);
      entries.delete(identity);
      if (found === undefined) yield { change: 'added', operator, state, after: entry };
      else if (isDeepStrictEqual(found, entry)) same();
      else yield { change: 'changed', operator, state, before: found, after: entry };
    }
    for (const entry of entries.values()) yield { change: 'removed', operator, state, before: entry };
  }
}

function readerOf(checkpoint: CheckpointReader, uid: OperatorUid): OperatorReader | undefined {
  return checkpoint.operators.some((each) => each.uid === uid) ? checkpoint.operator(uid) : undefined;
}

/**
 * A key is in group `hash mod maxParallelism`. Of two maximum parallelisms, keys whose hashes agree modulo the greatest common divisor are in groups
 * that agree so, on either side.
 */
function classesOf(old: OperatorReader | undefined, now: OperatorReader | undefined): number {
  const [a, b] = [old?.summary.maxParallelism, now?.summary.maxParallelism];
  return greatestCommonDivisor(a ?? b ?? 1, b ?? a ?? 1);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function readClass(
  reader: OperatorReader | undefined,
  state: string,
  first: KeyGroup,
  step: number,
): AsyncIterable<StateEntry> | readonly StateEntry[] {
  if (reader === undefined) return [];
  const { states, timers, maxParallelism } = reader.summary;
  const isThere =
    states.some(({ name }) => name === state) ||
    TIMER_DOMAINS.some((domain) => timers.includes(domain) && timerStateOf(domain) === state);
  if (!isThere) return [];
  const groups = Array.from({ length: Math.ceil((maxParallelism - first) / step) }, (_, i) => first + i * step);
  return reader.entries(state, groups);
}

async function entriesIn(
  reader: OperatorReader | undefined,
  state: string,
  first: KeyGroup,
  step: number,
): Promise<Map<KeyIdentity, StateEntry>> {
  const entries = new Map<KeyIdentity, StateEntry>();
  for await (const entry of readClass(reader, state, first, step)) entries.set(identityOf(entry), entry);
  return entries;
}

/** With the kind: a state that has become another is gone, and new. */
function identityOf(entry: StateEntry): KeyIdentity {
  return keyIdentity(entry.kind === 'map' ? [entry.kind, entry.key, entry.mapKey] : [entry.kind, entry.key]);
}

async function differingOperatorStates(
  before: CheckpointReader,
  after: CheckpointReader,
): Promise<ComparisonSummary['operatorStates']> {
  const differing: { operator: OperatorUid; state: string }[] = [];
  const uids = new Set([...before.operators, ...after.operators].map(({ uid }) => uid));
  for (const operator of uids) {
    const [old, now] = [readerOf(before, operator), readerOf(after, operator)];
    const names = [old, now].flatMap((reader) => reader?.summary.operatorStates.map(({ name }) => name) ?? []);
    for (const state of new Set(names)) {
      if (!haveSameValues(await valuesOf(old, state), await valuesOf(now, state))) differing.push({ operator, state });
    }
  }
  return differing;
}

async function valuesOf(reader: OperatorReader | undefined, state: string): Promise<readonly unknown[]> {
  if (reader?.summary.operatorStates.some(({ name }) => name === state) !== true) return [];
  const values: unknown[] = [];
  for await (const { value } of reader.operatorState(state)) values.push(value);
  return values;
}

function haveSameValues(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((value) => {
    const at = rest.findIndex((each) => isDeepStrictEqual(value, each));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
