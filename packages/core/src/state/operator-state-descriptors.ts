import type { OperatorStateMode } from '../contracts/snapshot.js';
import type { Serializer } from '../contracts/serializer.js';
import type { MapState } from '../contracts/state-backend.js';
import { assertKey } from '../element/assert-key.js';
import { decodeKeyBlock, encodeKeyBlock } from '../element/key-bytes.js';
import { keyIdentity } from '../element/key-identity.js';
import type { Key } from '../element/key.js';
import { defaultSerializer } from './default-serializer.js';
import { evolved, requireOwnNames, requireStateName, type StateOptions } from './descriptors.js';
import { isDropped, type DroppedState } from './dropped.js';
import { evolutionOf, type Evolution } from './evolution.js';
import type { SchemaCheck } from './schema-check.js';
import { readerOf } from './stored-by.js';

/** Declares one state of a subtask, rather than of a key; the property name under which it stands is the state's name. */
export interface OperatorStateDescriptor<out H> {
  readonly mode: OperatorStateMode;
  readonly serializer: Serializer;
  readonly evolution: Evolution;
  /** Entries of a map rather than values: only their values evolve. */
  readonly isMap: boolean;
  /** The state with what a checkpoint had of it, and how to get at that again. */
  readonly open: (values: readonly unknown[]) => OpenOperatorState;
  readonly '~handle': H;
}
export interface OpenOperatorState {
  readonly handle: object;
  /** What is to be stored: a fresh array. */
  values(): readonly unknown[];
  /** All objects that it consists of and that its handle gives out. */
  held(): Iterable<unknown>;
}
export type OperatorStates = Readonly<Record<string, OperatorStateDescriptor<unknown> | DroppedState>>;
/** There is none for a dropped state. */
export type OperatorHandles<S extends OperatorStates> = {
  readonly [N in keyof S]: S[N] extends DroppedState
    ? undefined
    : S[N] extends OperatorStateDescriptor<infer H>
      ? H
      : unknown;
};

/** A list that belongs to a subtask. It is encoded whole at each barrier: keep it small, what is large belongs to keys. */
export interface OperatorListState<T> {
  values(): readonly T[];
  add(value: T): void;
  /** Takes the place of all that was in it. */
  replace(values: readonly T[]): void;
  clear(): void;
}
/** A map that is the same in every subtask, if every subtask is told the same: put `broadcast()` in front. Encoded whole at each barrier. */
export type BroadcastState<K extends Key, V> = MapState<K, V>;

/** At another parallelism the elements of all subtasks are dealt out anew, each to one of them (Flink: getListState). */
export function operatorListState<T>(options: StateOptions<T> = {}): OperatorStateDescriptor<OperatorListState<T>> {
  return listDescriptor('list', options);
}
/** After each restore every subtask has the elements of all subtasks, and picks its own (Flink: getUnionListState). */
export function unionListState<T>(options: StateOptions<T> = {}): OperatorStateDescriptor<OperatorListState<T>> {
  return listDescriptor('union', options);
}
/** At another parallelism every subtask has a copy (Flink: getBroadcastState). */
export function broadcastState<K extends Key, V>(
  options: StateOptions<V> = {},
): OperatorStateDescriptor<BroadcastState<K, V>> {
  return descriptor('broadcast', options, (values) => openMap(values as Entry[]), true);
}

function listDescriptor<T>(
  mode: 'list' | 'union',
  options: StateOptions<T>,
): OperatorStateDescriptor<OperatorListState<T>> {
  return descriptor(mode, options, openList, false);
}

function descriptor<H, T>(
  mode: OperatorStateMode,
  options: StateOptions<T>,
  open: OperatorStateDescriptor<H>['open'],
  isMap: boolean,
): OperatorStateDescriptor<H> {
  const serializer = options.serializer ?? defaultSerializer;
  const evolution = evolutionOf(options, serializer);
  // '~handle' exists for the compiler only; a serializer of T is handed T alone, by the typed handle.
  return { mode, serializer, evolution, open, isMap } as unknown as OperatorStateDescriptor<H>;
}

function openList(stored: readonly unknown[]): OpenOperatorState {
  let list = [...stored];
  const handle: OperatorListState<unknown> = {
    values: () => list,
    add(value) {
      list.push(value);
    },
    replace(values) {
      list = [...values];
    },
    clear() {
      list = [];
    },
  };
  return { handle, values: () => [...list], held: () => [list, ...list] };
}

type Entry = readonly [Key, unknown];

/** Entries whose values are written by `values`, and known by its name: what it can migrate stays readable. */
export function entrySerializer(values: Serializer): Serializer {
  return {
    id: values.id,
    version: values.version,
    encode(entry, out) {
      const [key, value] = entry as Entry;
      encodeKeyBlock(key, out);
      values.encode(value, out);
    },
    decode: (from) => [decodeKeyBlock(from), values.decode(from)],
    readerOf(stored, what) {
      const { decode } = readerOf(values, stored, what);
      return (from) => [decodeKeyBlock(from), decode(from)];
    },
  };
}

function openMap(stored: readonly Entry[]): OpenOperatorState {
  const entries = new Map(stored.map((entry) => [keyIdentity(entry[0]), entry]));
  const handle: MapState<Key, unknown> = {
    get: (key) => entries.get(keyIdentity(key))?.[1],
    set(key, value) {
      assertKey(key, 'broadcast state');
      entries.set(keyIdentity(key), [key, value]);
    },
    delete(key) {
      entries.delete(keyIdentity(key));
    },
    entries: () => entries.values(),
    clear() {
      entries.clear();
    },
  };
  return {
    handle,
    values: () => [...entries.values()],
    held: () => [...entries.values()].flatMap((entry) => [entry, entry[1]]),
  };
}

/** One declared state of a subtask, whose serializer names operator and state in what it refuses. */
export interface DeclaredOperatorState {
  readonly name: string;
  readonly mode: OperatorStateMode;
  readonly serializer: Serializer;
  readonly renamedFrom: readonly string[];
  /** To be compiled before state is read back. */
  readonly schema: SchemaCheck | undefined;
  /** Of what user code sees: elements, or the values of a map. */
  readonly valueSerializer: Serializer;
  readonly open: OperatorStateDescriptor<unknown>['open'];
}

export function operatorStateDeclarations(operator: string, states: OperatorStates): DeclaredOperatorState[] {
  const declared: DeclaredOperatorState[] = [];
  for (const [name, descriptor] of Object.entries(states)) {
    requireStateName(operator, name);
    if (isDropped(descriptor)) continue;
    const { mode, open, isMap } = descriptor;
    const { serializer, ...rest } = evolved(operator, name, descriptor.serializer, descriptor.evolution);
    declared.push({
      name,
      mode,
      open,
      ...rest,
      valueSerializer: serializer,
      serializer: isMap ? entrySerializer(serializer) : serializer,
    });
  }
  requireOwnNames(operator, Object.keys(states), declared);
  return declared;
}
