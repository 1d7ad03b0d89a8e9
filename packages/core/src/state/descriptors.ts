import type { Serializer } from '../contracts/serializer.js';
import type { RecordedKind, StateKind } from '../contracts/snapshot.js';
import type {
  AggregatingState,
  KeyedSection,
  ListState,
  MapState,
  ReducingState,
  StateDeclaration,
  StateHandle,
  ValueState,
} from '../contracts/state-backend.js';
import type { Clock } from '../contracts/clock.js';
import type { Key } from '../element/key.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import { defaultSerializer } from './default-serializer.js';
import { isDropped, type DroppedState } from './dropped.js';
import { evolutionOf, type Evolution, type EvolutionOptions } from './evolution.js';
import { evolvingSerializer } from './evolving-serializer.js';
import { expiringHandle } from './expiring-handles.js';
import { liveRows } from './live-rows.js';
import { SchemaCheck } from './schema-check.js';
import { stampedSerializer } from './stamped-serializer.js';
import { Expiry, checkedTtl, type StateTtl, type Ttl } from './ttl.js';
import { withErrorContext } from './with-error-context.js';

/** Declares one state of a keyed operator; the property name under which it stands is the state's name. */
export interface StateDescriptor<out H> {
  readonly kind: StateKind;
  readonly serializer: Serializer;
  readonly initial?: (() => unknown) | undefined;
  /** For state that is made of value state: how, and what checkpoints call it. */
  readonly madeOfValue?: MadeOfValue | undefined;
  readonly ttl?: Ttl | undefined;
  readonly evolution: Evolution;
  readonly '~handle': H;
}
export interface MadeOfValue {
  readonly recordedAs: RecordedKind;
  readonly handle: (stored: ValueState<unknown>) => object;
}
export interface StateOptions<T = unknown> extends EvolutionOptions {
  /** How values become bytes in a checkpoint; absent: the default serializer (msgpack). */
  readonly serializer?: Serializer<T> | undefined;
}
export interface KeyedStateOptions<T = unknown> extends StateOptions<T> {
  /** How long it may be read. Absent: until it is removed. */
  readonly ttl?: StateTtl | undefined;
}
export type States = Readonly<Record<string, StateDescriptor<unknown> | DroppedState>>;
/** There is none for a dropped state. */
export type Handles<S extends States> = {
  readonly [N in keyof S]: S[N] extends DroppedState ? undefined : S[N] extends StateDescriptor<infer H> ? H : unknown;
};

function descriptor<H, T>(
  kind: StateKind,
  options: KeyedStateOptions<T> & { readonly initial?: () => T },
  madeOfValue?: MadeOfValue,
): StateDescriptor<H> {
  const serializer = options.serializer ?? defaultSerializer;
  // '~handle' exists for the compiler only; a serializer of T is handed T alone, by the typed handle.
  return {
    kind,
    serializer,
    initial: options.initial,
    madeOfValue,
    ttl: options.ttl === undefined ? undefined : checkedTtl(options.ttl),
    evolution: evolutionOf(options, serializer),
  } as StateDescriptor<H>;
}

/** One value per key; with `initial`, `value()` never gives undefined. */
export function valueState<T>(
  options: KeyedStateOptions<T> & { readonly initial: () => T },
): StateDescriptor<ValueState<T, never>>;
export function valueState<T>(options?: KeyedStateOptions<T>): StateDescriptor<ValueState<T>>;
export function valueState<T>(
  options: KeyedStateOptions<T> & { readonly initial?: () => T } = {},
): StateDescriptor<ValueState<T>> {
  return descriptor('value', options);
}
/** A list per key; adding costs the same however long it is. */
export function listState<T>(options: KeyedStateOptions<T> = {}): StateDescriptor<ListState<T>> {
  return descriptor('list', options);
}
/** A map per key, read and written entry by entry. */
export function mapState<K extends Key, V>(options: KeyedStateOptions<V> = {}): StateDescriptor<MapState<K, V>> {
  return descriptor('map', options);
}

/** One value per key, made of all that were added: each is folded in at once, so it costs what one value costs. */
export function reducingState<T>(
  options: KeyedStateOptions<T> & { readonly reduce: (accumulated: T, value: T) => T },
): StateDescriptor<ReducingState<T>> {
  return descriptor('value', options, {
    recordedAs: 'reducing',
    // A descriptor's handle only ever meets values of its own state.
    handle: (stored) => reducingOver(stored as ValueState<T>, options.reduce),
  });
}

export interface Aggregation<In, Accumulator, Out> {
  /** Called for each new key. */
  readonly create: () => Accumulator;
  /** The accumulator with the value in it: a new one, or the same changed in place. */
  readonly add: (accumulator: Accumulator, value: In) => Accumulator;
  readonly result: (accumulator: Accumulator) => Out;
}
/** One accumulator per key, whose type is neither that of what is added nor that of what is asked for: an average, say. */
export function aggregatingState<In, Accumulator, Out>(
  options: KeyedStateOptions<Accumulator> & Aggregation<In, Accumulator, Out>,
): StateDescriptor<AggregatingState<In, Out>> {
  return descriptor('value', options, {
    recordedAs: 'aggregating',
    handle: (stored) => aggregatingOver(stored as ValueState<Accumulator>, options),
  });
}

function reducingOver<T>(stored: ValueState<T>, reduce: (accumulated: T, value: T) => T): ReducingState<T> {
  return {
    value: () => stored.value(),
    add(value) {
      const accumulated = stored.value();
      stored.update(accumulated === undefined ? value : reduce(accumulated, value));
    },
    clear() {
      stored.clear();
    },
  };
}

function aggregatingOver<In, Accumulator, Out>(
  stored: ValueState<Accumulator>,
  { create, add, result }: Aggregation<In, Accumulator, Out>,
): AggregatingState<In, Out> {
  return {
    value() {
      const accumulator = stored.value();
      return accumulator === undefined ? undefined : result(accumulator);
    },
    add(value) {
      stored.update(add(stored.value() ?? create(), value));
    },
    clear() {
      stored.clear();
    },
  };
}

/** A state as it is declared to the backend, and what is made of it. */
export interface DeclaredState extends StateDeclaration {
  /** Over the handle of the backend, one that gives what has not expired. Absent: the same. */
  readonly liveOver?: ((stored: StateHandle) => StateHandle) | undefined;
  /** Over that, the handle that user code gets. Absent: the same. */
  readonly handleOver?: ((live: StateHandle) => object) | undefined;
  /** Of what user code sees, without a stamp. Absent: the one of the state. */
  readonly valueSerializer?: Serializer | undefined;
  /** So many of its entries are looked at for each record, to remove what has expired. */
  readonly cleanupPerRecord?: number | undefined;
  /** Leaves out what has expired. */
  readonly liveRows?: ((section: KeyedSection) => KeyedSection | undefined) | undefined;
  /** To be compiled before state is read back. */
  readonly schema?: SchemaCheck | undefined;
}

/** What a state backend gets to know; errors of serializers will name operator and state. Of dropped states it hears nothing. */
export function declarations(operator: string, states: States, clock: Clock): DeclaredState[] {
  const declared = Object.entries(states).flatMap(([name, descriptor]) => {
    requireStateName(operator, name);
    return isDropped(descriptor) ? [] : [declaration(operator, name, descriptor, clock)];
  });
  requireOwnNames(operator, Object.keys(states), declared);
  return declared;
}

function declaration(
  operator: string,
  name: string,
  { kind, serializer, initial, madeOfValue, ttl, evolution }: StateDescriptor<unknown>,
  clock: Clock,
): DeclaredState {
  const ownValues = evolved(operator, name, serializer, evolution);
  const declared: DeclaredState = {
    name,
    kind,
    ...ownValues,
    valueSerializer: ownValues.serializer,
    initial,
    recordedAs: madeOfValue?.recordedAs,
  };
  const kept = ttl === undefined ? declared : expiring(declared, new Expiry(ttl, clock));
  if (madeOfValue === undefined) return kept;
  // Whoever makes a state of another declares the other as value state.
  return { ...kept, handleOver: (live) => madeOfValue.handle(live as ValueState<unknown>) };
}

/** What the evolution of a state adds to its declaration. */
export function evolved(
  operator: string,
  name: string,
  serializer: Serializer,
  evolution: Evolution,
): {
  readonly serializer: Serializer;
  readonly schema: SchemaCheck | undefined;
  readonly renamedFrom: readonly string[];
} {
  const state = `state '${name}' of operator '${operator}'`;
  const schema = evolution.schema === undefined ? undefined : new SchemaCheck(evolution.schema, state);
  return {
    serializer: evolvingSerializer(withErrorContext(serializer, operator, name), evolution, schema, state),
    schema,
    renamedFrom: evolution.renamedFrom,
  };
}

/** A former name belongs to one state, and to none that the operator has now. */
export function requireOwnNames(
  operator: string,
  names: readonly string[],
  declared: readonly { readonly name: string; readonly renamedFrom?: readonly string[] | undefined }[],
): void {
  const taken = new Set(names);
  for (const { name, renamedFrom = [] } of declared) {
    for (const former of renamedFrom) {
      requireStateName(operator, former);
      if (taken.has(former))
        throw new WeirError(
          'CONFIG_INVALID',
          `Operator ${operator}: state "${name}" cannot be renamed from "${former}", which is another state's name.`,
          { recoverable: false },
        );
      taken.add(former);
    }
  }
}

/** The same state, whose values are kept with a stamp and not shown once they have expired. */
function expiring({ initial, serializer, ...declared }: DeclaredState, expiry: Expiry): DeclaredState {
  return {
    ...declared,
    serializer: stampedSerializer(serializer, expiry),
    expiry,
    liveOver: (stored) => expiringHandle(declared.kind, stored, expiry, initial),
    cleanupPerRecord: expiry.ttl.cleanupPerRecord,
    liveRows(section) {
      const now = expiry.now();
      return liveRows(section, (since) => expiry.isOver(since, now));
    },
  };
}

/** CONFIG_INVALID for a name that a checkpoint could not tell from another one, or that is weir's own. */
export function requireStateName(operator: string, name: string): void {
  if (name !== '' && !name.startsWith('~') && isWellFormed(name)) return;
  throw new WeirError(
    'CONFIG_INVALID',
    `Operator ${operator}: ${JSON.stringify(name)} cannot be the name of a state (empty, begins with ~, or is no valid Unicode).`,
    { recoverable: false },
  );
}
