import type { OperatorMetadata } from '../contracts/metadata.js';
import type { ChannelStateHandle, Committable, RecordedKind } from '../contracts/snapshot.js';
import type { StateEntry } from '../contracts/state-backend.js';
import { ByteReader } from '../element/bytes.js';
import type { KeyGroup } from '../element/ids.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import { readChannelState } from '../snapshot/channel-state.js';
import { readCommittables } from '../snapshot/committables.js';
import { readOperatorState } from '../snapshot/operator-state.js';
import { readingOf } from '../snapshot/unreadable.js';
import { entrySerializer } from '../state/operator-state-descriptors.js';
import { readerOf } from '../state/stored-by.js';
import { TIMER_DOMAINS, timerDomainOf, timerStateOf } from '../time/timer-states.js';
import type { TimeDomain } from '../time/timers.js';
import { KeyedContents, type ReadingContext } from './keyed-contents.js';
import { viewOf, type StateView } from './state-view.js';
import type { OperatorSummary } from './summary.js';

export interface StoredValue<K extends Key, T> {
  readonly key: K;
  readonly value: T;
}
export interface StoredList<K extends Key, T> {
  readonly key: K;
  readonly values: readonly T[];
}
export interface StoredMapEntry<K extends Key, M extends Key, T> {
  readonly key: K;
  readonly mapKey: M;
  readonly value: T;
}
export interface StoredTimer<K extends Key> {
  readonly domain: TimeDomain;
  readonly key: K;
  /** Epoch ms. */
  readonly time: number;
}
/** A value of operator state. Of broadcast state, of which every subtask has a copy, the values are pairs of key and value. */
export interface StoredOperatorValue<T> {
  readonly subtask: number;
  readonly value: T;
}
/** A record that was between two subtasks, or in a loop. */
export interface StoredInFlight<T> extends Pick<ChannelStateHandle, 'kind' | 'edge' | 'fromSubtask' | 'toSubtask'> {
  readonly record: T;
  /** Event time, epoch ms; undefined: it has none. */
  readonly timestamp: number | undefined;
  /** What it is keyed by, where that travels with it. */
  readonly key?: Key | undefined;
}
export interface StoredCommittable<C> extends Committable<C> {
  /** Which subtask had it to commit. */
  readonly subtask: number;
}

/**
 * The state of one operator. Types are what the caller says they are: nothing is checked. Asking for what there is not is STATE_UNKNOWN naming what
 * there is; reading is SERIALIZER_MISMATCH where a serializer was not given, PLUGIN_MISSING where a state backend was not, and CHECKPOINT_UNREADABLE
 * where bytes are not what was written.
 */
export interface OperatorReader {
  readonly summary: OperatorSummary;
  /** A state by key, whatever its kind; reducing and aggregating state is value state. With `keyGroups`: what is in those. */
  entries(state: string, keyGroups?: readonly KeyGroup[]): StateView<StateEntry>;
  /** Value, reducing or aggregating state. */
  values<T = unknown, K extends Key = Key>(state: string): StateView<StoredValue<K, T>>;
  lists<T = unknown, K extends Key = Key>(state: string): StateView<StoredList<K, T>>;
  maps<T = unknown, M extends Key = Key, K extends Key = Key>(state: string): StateView<StoredMapEntry<K, M, T>>;
  /** Of one domain, or of both. */
  timers<K extends Key = Key>(domain?: TimeDomain): StateView<StoredTimer<K>>;
  operatorState<T = unknown>(state: string): StateView<StoredOperatorValue<T>>;
  committables<C = unknown>(): StateView<StoredCommittable<C>>;
  /** Records on their way to this operator, or from it, that barriers have overtaken; channel by channel in their order. */
  inFlight<T = unknown>(): StateView<StoredInFlight<T>>;
  /** The state of a source's split enumerator; undefined if there is none. */
  enumerator(): Promise<unknown>;
  /** Reads a state by key through, and counts. `bytes`: of its rows as they lie in storage, what later changes replace included. */
  measure(state: string): Promise<{ readonly entries: number; readonly bytes: number }>;
}

export function operatorReader(
  operator: OperatorMetadata,
  summary: OperatorSummary,
  context: ReadingContext,
): OperatorReader {
  const contents = new KeyedContents(operator, context);
  const where = `operator '${operator.uid}' in ${context.where}`;
  const { stored, serializers } = context;

  /** The entries of a state whose kind is one of these. */
  function requireState(state: string, wanted?: readonly RecordedKind[]): void {
    const found = summary.states.find(({ name }) => name === state);
    const isTimers = timerDomainOf(state) !== undefined;
    if ((found !== undefined && wanted?.includes(found.kind) !== false) || (isTimers && wanted === undefined)) return;
    const has = summary.states.map(({ name, kind }) => `${name} (${kind})`).join(', ');
    throw new WeirError(
      'STATE_UNKNOWN',
      `${where} has no ${wanted === undefined ? '' : `${wanted.join(', ')} `}state '${state}' by key. It has: ${has || 'none'}.`,
      { recoverable: false },
    );
  }

  function view<E extends StateEntry['kind'], R>(
    state: string,
    kind: E,
    wanted: readonly RecordedKind[],
    give: (entry: Extract<StateEntry, { readonly kind: E }>) => R,
  ): StateView<R> {
    requireState(state, wanted);
    return viewOf(async function* () {
      for await (const entry of contents.entries(state))
        if (entry.kind === kind) yield give(entry as Extract<StateEntry, { readonly kind: E }>);
    });
  }

  return {
    summary,
    entries(state, keyGroups) {
      requireState(state);
      return viewOf(() => contents.entries(state, keyGroups));
    },
    // What a caller says of the types of keys and values is all that is known of them.
    values: <T, K extends Key>(state: string) =>
      view(state, 'value', ['value', 'reducing', 'aggregating'], ({ key, value }) => ({
        key: key as K,
        value: value as T,
      })),
    lists: <T, K extends Key>(state: string) =>
      view(state, 'list', ['list'], ({ key, values }) => ({ key: key as K, values: values as readonly T[] })),
    maps: <T, M extends Key, K extends Key>(state: string) =>
      view(state, 'map', ['map'], ({ key, mapKey, value }) => ({
        key: key as K,
        mapKey: mapKey as M,
        value: value as T,
      })),
    timers: <K extends Key>(wanted?: TimeDomain) =>
      viewOf(async function* (): AsyncGenerator<StoredTimer<K>, void, undefined> {
        for (const domain of TIMER_DOMAINS) {
          if (wanted !== undefined && wanted !== domain) continue;
          for await (const entry of contents.entries(timerStateOf(domain)))
            if (entry.kind === 'map') yield { domain, key: entry.key as K, time: entry.mapKey as number };
        }
      }),
    operatorState<T>(state: string) {
      if (!summary.operatorStates.some(({ name }) => name === state)) {
        const has = summary.operatorStates.map(({ name }) => name).join(', ');
        throw new WeirError('STATE_UNKNOWN', `${where} has no operator state '${state}'. It has: ${has || 'none'}.`, {
          recoverable: false,
        });
      }
      return viewOf(async function* (): AsyncGenerator<StoredOperatorValue<T>, void, undefined> {
        for (const { index, operator: handles } of operator.subtasks) {
          for (const handle of handles.filter(({ name }) => name === state)) {
            const what = `operator state '${state}' of ${where}`;
            const plain = serializers.require(handle.serializer, what);
            const serializer = handle.mode === 'broadcast' ? entrySerializer(plain) : plain;
            const values = readOperatorState(handle, await stored.read(handle.blob), serializer, what);
            for (const value of values) yield { subtask: index, value: value as T };
          }
        }
      });
    },
    committables: <C>() =>
      viewOf(async function* (): AsyncGenerator<StoredCommittable<C>, void, undefined> {
        for (const { index, committables: handle } of operator.subtasks) {
          if (handle === undefined) continue;
          const what = `committables of ${where}`;
          const serializer = serializers.require(handle.serializer, what);
          for (const each of readCommittables(handle, await stored.read(handle.blob), serializer, what))
            yield { ...(each as Committable<C>), subtask: index };
        }
      }),
    inFlight: <T>() =>
      viewOf(async function* (): AsyncGenerator<StoredInFlight<T>, void, undefined> {
        for (const handle of operator.subtasks.flatMap(({ channels }) => channels)) {
          const { kind, edge, fromSubtask, toSubtask } = handle;
          const what = `records in flight of ${where}`;
          const serializer = serializers.require(handle.serializer, what);
          for (const { records, timestamps, keys } of readChannelState(
            handle,
            await stored.read(handle.blob),
            serializer,
            what,
          ))
            for (const [i, record] of records.entries()) {
              const time = timestamps?.[i];
              const timestamp = time === Number.NEGATIVE_INFINITY ? undefined : time;
              yield { kind, edge, fromSubtask, toSubtask, record: record as T, timestamp, key: keys?.[i] };
            }
        }
      }),
    async enumerator() {
      const { enumerator } = operator;
      if (enumerator === undefined) return undefined;
      const what = `the split enumerator of ${where}`;
      const reader = readerOf(serializers.require(enumerator.serializer, what), enumerator.serializer, what);
      return readingOf(what, () => reader.decode(new ByteReader(enumerator.bytes)));
    },
    async measure(state) {
      requireState(state);
      let [entries, bytes] = [0, 0];
      for await (const { sections } of contents.sections(state)) for (const { rows } of sections) bytes += rows.length;
      for await (const _ of contents.entries(state)) entries++;
      return { entries, bytes };
    },
  };
}
