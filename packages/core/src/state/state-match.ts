import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { OperatorStateMeta, OperatorStateMode, StateMeta } from '../contracts/snapshot.js';
import type { StateDeclaration } from '../contracts/state-backend.js';
import { WeirError, isWeirError } from '../errors.js';
import { unstampedRef } from './stamped-serializer.js';
import { readerOf } from './stored-by.js';
import { storedVersion } from './value-version.js';

// What becomes of a stored state in the program that restores it. A start and a look ahead at one (environment/check-savepoint.ts) ask the same
// functions, so they agree.

export type StateMatch<D> =
  /** `changes`: in what it differs from what is declared, and how it becomes that; without any it is taken as it is. */
  | { readonly kind: 'kept'; readonly state: D; readonly changes: readonly string[] }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'incompatible'; readonly error: WeirError };

/** Of the states of one operator. */
export interface Declared<D> {
  readonly states: readonly D[];
  /** Names of stored states that are given up. */
  readonly dropped: readonly string[];
}

/** What is declared of an operator state. */
export interface OperatorStateDeclaration {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly serializer: Serializer;
  readonly renamedFrom?: readonly string[] | undefined;
}

/** Matches all keyed states that are stored of an operator. `where` names it: "operator 'delays' in chk-7". */
export function matchKeyedStates<D extends StateDeclaration>(
  stored: readonly StateMeta[],
  declared: Declared<D>,
  where: string,
): ReadonlyMap<string, StateMatch<D>> {
  return matchAll(stored, declared, where, {
    storedKind: ({ kind }) => kind,
    declaredKind: ({ kind, recordedAs }) => recordedAs ?? kind,
    call: (name) => `state '${name}'`,
  });
}

/** The same for operator state. */
export function matchOperatorStates<D extends OperatorStateDeclaration>(
  stored: readonly OperatorStateMeta[],
  declared: Declared<D>,
  where: string,
): ReadonlyMap<string, StateMatch<D>> {
  return matchAll(stored, declared, where, {
    storedKind: ({ mode }) => mode,
    declaredKind: ({ mode }) => mode,
    call: (name) => `operator state '${name}'`,
  });
}

interface Meta {
  readonly name: string;
  readonly serializer: SerializerRef;
}
interface Declaration {
  readonly name: string;
  readonly serializer: Serializer;
  readonly renamedFrom?: readonly string[] | undefined;
}
interface Words<M, D> {
  storedKind(stored: M): string;
  declaredKind(declared: D): string;
  call(name: string): string;
}

function matchAll<M extends Meta, D extends Declaration>(
  stored: readonly M[],
  declared: Declared<D>,
  where: string,
  words: Words<M, D>,
): ReadonlyMap<string, StateMatch<D>> {
  const matches = new Map<string, StateMatch<D>>();
  const namesOf = new Map<D, string>();
  for (const meta of stored) {
    let match = matchOne(meta, declared, where, words);
    if (match.kind === 'kept') {
      const other = namesOf.get(match.state) ?? meta.name;
      if (other !== meta.name) match = incompatible(bothNames(match.state.name, [other, meta.name], where));
      else namesOf.set(match.state, meta.name);
    }
    // Handles of several subtasks tell the same of a state, or of several versions of it: what is worst counts.
    const before = matches.get(meta.name);
    if (before === undefined || rank(match) > rank(before)) matches.set(meta.name, match);
  }
  return matches;
}

function matchOne<M extends Meta, D extends Declaration>(
  stored: M,
  { states, dropped }: Declared<D>,
  where: string,
  words: Words<M, D>,
): StateMatch<D> {
  const { name } = stored;
  if (dropped.includes(name)) return { kind: 'dropped' };
  const state =
    states.find((candidate) => candidate.name === name) ??
    states.find(({ renamedFrom }) => renamedFrom?.includes(name) === true);
  if (state === undefined) return incompatible(undeclared(name, where));
  const [was, is] = [words.storedKind(stored), words.declaredKind(state)];
  if (was !== is) return incompatible(otherKind(name, where, was, is));
  try {
    readerOf(state.serializer, stored.serializer, `${words.call(name)} of ${where}`);
  } catch (error) {
    if (!isWeirError(error)) throw error;
    return incompatible(error);
  }
  return { kind: 'kept', state, changes: changesOf(stored, state) };
}

function changesOf(stored: Meta, state: Declaration): readonly string[] {
  const [was, is] = [storedVersion(stored.serializer), storedVersion(state.serializer)];
  return [
    ...(stored.name === state.name ? [] : [`renamed from '${stored.name}'`]),
    ...(was.version === is.version ? [] : [`version ${String(was.version)} to ${String(is.version)}`]),
    ...timeToLive(stored.serializer, state.serializer),
    ...(was.serializer.version === is.serializer.version
      ? []
      : [`serializer '${is.serializer.id}' ${String(was.serializer.version)} to ${String(is.serializer.version)}`]),
  ];
}

function timeToLive(stored: SerializerRef, declared: SerializerRef): readonly string[] {
  const [had, has] = [unstampedRef(stored) !== undefined, unstampedRef(declared) !== undefined];
  if (had === has) return [];
  return [has ? 'time to live added' : 'time to live removed'];
}

function rank(match: StateMatch<unknown>): number {
  switch (match.kind) {
    case 'incompatible':
      return 2;
    case 'kept':
      return match.changes.length > 0 ? 1 : 0;
    case 'dropped':
      return 0;
  }
}

function undeclared(name: string, where: string): string {
  return name.startsWith('~')
    ? `The checkpoint holds timers of ${where}, which has no onTimer any more. Give it one again to restore them.`
    : `The checkpoint holds state '${name}' of ${where}, which the operator does not declare any more. Declare it again to restore it, ` +
        `name it in the renamedFrom of the state that took its place, or give it up with droppedState().`;
}

function otherKind(name: string, where: string, was: string, is: string): string {
  return `State '${name}' of ${where} was stored as ${was} state and is declared as ${is} state. Give the new one another name.`;
}

function bothNames(name: string, stored: readonly string[], where: string): string {
  return `The checkpoint holds states '${stored.join("' and '")}' of ${where}, and both would become state '${name}'. Drop one of them, or give it a state of its own.`;
}

function incompatible(error: WeirError | string): { readonly kind: 'incompatible'; readonly error: WeirError } {
  return {
    kind: 'incompatible',
    error: typeof error === 'string' ? new WeirError('CHECKPOINT_INCOMPATIBLE', error, { recoverable: false }) : error,
  };
}
