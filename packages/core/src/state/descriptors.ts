import type { Serializer } from '../contracts/serializer.js';
import type { StateKind } from '../contracts/snapshot.js';
import type { ListState, MapState, StateDeclaration, ValueState } from '../contracts/state-backend.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import { defaultSerializer } from './default-serializer.js';
import { withPlace } from './with-place.js';

/** Declares one state of a keyed operator; the property name under which it stands is the state's name. */
export interface StateDescriptor<out H> {
  readonly kind: StateKind;
  readonly serializer: Serializer;
  readonly initial?: (() => unknown) | undefined;
  readonly '~handle': H;
}
export interface StateOptions<T = unknown> {
  /** How values become bytes in a checkpoint; absent: the default serializer (msgpack). */
  readonly serializer?: Serializer<T> | undefined;
}
export type States = Readonly<Record<string, StateDescriptor<unknown>>>;
export type Handles<S extends States> = { readonly [N in keyof S]: S[N] extends StateDescriptor<infer H> ? H : never };

function descriptor<H, T>(
  kind: StateKind,
  options: StateOptions<T> & { readonly initial?: () => T },
): StateDescriptor<H> {
  // '~handle' exists for the compiler only; a serializer of T is handed T alone, by the typed handle.
  return {
    kind,
    serializer: options.serializer ?? defaultSerializer,
    initial: options.initial,
  } as StateDescriptor<H>;
}

/** One value per key; with `initial`, `value()` never gives undefined. */
export function valueState<T>(
  options: StateOptions<T> & { readonly initial: () => T },
): StateDescriptor<ValueState<T, never>>;
export function valueState<T>(options?: StateOptions<T>): StateDescriptor<ValueState<T>>;
export function valueState<T>(
  options: StateOptions<T> & { readonly initial?: () => T } = {},
): StateDescriptor<ValueState<T>> {
  return descriptor('value', options);
}
/** A list per key; adding costs the same however long it is. */
export function listState<T>(options: StateOptions<T> = {}): StateDescriptor<ListState<T>> {
  return descriptor('list', options);
}
/** A map per key, read and written entry by entry. */
export function mapState<K extends Key, V>(options: StateOptions<V> = {}): StateDescriptor<MapState<K, V>> {
  return descriptor('map', options);
}

/** What a state backend gets to know; errors of serializers will name operator and state. */
export function declarations(operator: string, states: States): StateDeclaration[] {
  return Object.entries(states).map(([name, { kind, serializer, initial }]) => {
    if (name === '' || name.startsWith('~')) {
      throw new WeirError(
        'CONFIG_INVALID',
        `Operator ${operator}: "${name}" cannot be the name of a state (empty, or begins with ~).`,
      );
    }
    return { name, kind, initial, serializer: withPlace(serializer, operator, name) };
  });
}
