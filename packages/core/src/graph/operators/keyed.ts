import type { SourceGrade } from '../../contracts/source.js';
import { assertKey, isPlainKey } from '../../element/assert-key.js';
import { KeyColumn } from '../../element/key-column.js';
import type { Key, KeyOf } from '../../element/key.js';
import { keyTypeOf, type KeyType } from '../../element/key-type.js';
import { WeirError } from '../../errors.js';
import { coProcessOperator } from '../../operator/co-process.js';
import type { Emit, KeyContext, Sync, TimerContext } from '../../operator/key-context.js';
import type { OpenClose } from '../../operator/keyed-handler.js';
import { keyedProcessOperator, keyedStates } from '../../operator/keyed-process.js';
import { scanOperator, scanStates } from '../../operator/scan.js';
import { seedFunction, type Seed } from '../../operator/seed.js';
import type { StateOptions, States } from '../../state/descriptors.js';
import { keyedTransform, repartitioned } from '../describe.js';
import { nameInGraph, type StreamKey } from '../stream-node.js';
import type { KeyedStream, OperatorOptions, Stream } from '../stream.js';

/** An operator's output type if the user did not name it: the message is what the compiler shows, so it stands there without an alias. */
export interface NameTheOutput<_ extends string> {
  readonly '~': never;
}

// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- an operator that declares no state has none to offer
type NoStates = Record<never, never>;

export interface KeyByOptions {
  /**
   * What keys may be. Restored state with keys of another type is then refused before the first record (KEY_TYPE_CHANGED), and so is a key of
   * another type (KEY_INVALID). Absent: whatever they are.
   */
  readonly types?: readonly KeyType[] | undefined;
}

/**
 * Groups records by key: operators behind it get all records of a key in one subtask, and may keep state for each key. The key is chosen once and
 * then travels with the record, through every operator that makes records of records, also where the record no longer contains it. Another
 * `keyBy`, `rebalance` and `broadcast` end it. (In Flink it ends with the next operator.)
 */
export function keyBy<T, const K extends Key>(
  key: (value: T) => K,
  { types }: KeyByOptions = {},
): <G extends SourceGrade>(s: Stream<T, G>) => KeyedStream<T, K, G> {
  return <G extends SourceGrade>(s: Stream<T, G>) => {
    const place = `keyBy behind ${s['~node'].edges.map(({ from }) => nameInGraph(from)).join(', ')}`;
    const checked = (value: T): K => {
      const chosen = key(value);
      if (!isPlainKey(chosen)) assertKey(chosen, place);
      if (types !== undefined) requireType(chosen, types, place);
      return chosen;
    };
    const column = new KeyColumn();
    // The operator behind it looks at the keys by itself: it also runs where nothing is exchanged.
    const keyed = { keyOf: types === undefined ? key : checked, column, keyedAt: place, keyTypes: types };
    return repartitioned<KeyedStream<T, K, G>>(s, { kind: 'hash', keyOf: checked, column }, keyed);
  };
}

/**
 * `keyBy`, then what `describe` makes of the keyed stream (RxJS: groupBy with mergeMap). `describe` is called once, for all keys: what it
 * closes over is shared by all of them, and state of each key is what operators like `scan` and `keyedProcess` keep.
 */
export function groupBy<T, const K extends Key, R, L>(
  key: (value: T) => K,
  describe: (group: KeyedStream<T, K>) => Stream<R, SourceGrade, L>,
  options: KeyByOptions = {},
): <G extends SourceGrade>(s: Stream<T, G>) => Stream<R, G, L> {
  const keyed = keyBy(key, options);
  // The grade is that of the stream: `describe` is written for any.
  return <G extends SourceGrade>(s: Stream<T, G>) => describe(keyed(s)) as Stream<R, G, L>;
}

function requireType(key: Key, types: readonly KeyType[], place: string): void {
  if (types.includes(keyTypeOf(key))) return;
  throw new WeirError(
    'KEY_INVALID',
    `${place} gave a key of type ${keyTypeOf(key)}, and declares keys of type ${types.join(' or ')}.`,
    { recoverable: false },
  );
}

export interface KeyedProcessSpec<T, K extends Key, O, S extends States> extends OperatorOptions, OpenClose {
  /** The property name is the state's name in checkpoints. */
  readonly state?: S;
  onRecord(record: T, context: KeyContext<K, S>, emit: Emit<O>): Sync;
  /** Called once for each timer that `context.timers` registered, unless it is deleted before. */
  onTimer?(time: number, context: TimerContext<K, S>, emit: Emit<O>): Sync;
}

/** Runs `onRecord` for each record with the state of its key (Flink: KeyedProcessFunction). The output type is read from `emit: Emit<Out>`. */
export function keyedProcess<
  T,
  K extends Key,
  O = NameTheOutput<'annotate the third parameter of the first handler: emit: Emit<YourType>'>,
  const S extends States = NoStates,
>(spec: KeyedProcessSpec<T, K, O, S>): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => KeyedStream<O, K, G> {
  return (s) => {
    const { keyOf, keyedAt, keyTypes } = keysOf<T, K>(s, 'keyedProcess');
    const column = new KeyColumn();
    return keyedTransform(
      [s],
      {
        name: 'keyedProcess',
        isStateful: isStateful(spec),
        declares: (uid, clock) => ({
          ...keyedStates(uid, spec.state ?? {}, spec.onTimer !== undefined, clock),
          keyTypes,
        }),
        create: (context) =>
          keyedProcessOperator<T, K, S, O>(context, {
            keyOf,
            keyedAt,
            keyTypes,
            keepsKeys: column.isRead,
            state: spec.state ?? ({} as S),
            self: spec,
            /* eslint-disable @typescript-eslint/unbound-method -- called with `self` */
            onRecord: spec.onRecord,
            onTimer: spec.onTimer,
            /* eslint-enable @typescript-eslint/unbound-method */
            open: spec.open?.bind(spec),
            close: spec.close?.bind(spec),
          }),
      },
      { column, keyedAt, keyTypes },
      spec,
    );
  };
}

export interface CoProcessSpec<T, U, K extends Key, O, S extends States> extends OperatorOptions, OpenClose {
  readonly state?: S;
  onFirst(record: T, context: KeyContext<K, S>, emit: Emit<O>): Sync;
  onSecond(record: U, context: KeyContext<K, S>, emit: Emit<O>): Sync;
  /** As in keyedProcess; event time is that of both inputs. */
  onTimer?(time: number, context: TimerContext<K, S>, emit: Emit<O>): Sync;
}

/** Two streams keyed alike that share state (Flink: KeyedCoProcessFunction). */
export function coProcess<
  T,
  U,
  K extends Key,
  H extends SourceGrade,
  O = NameTheOutput<'annotate the third parameter of the first handler: emit: Emit<YourType>'>,
  const S extends States = NoStates,
>(
  other: KeyedStream<U, K, H>,
  spec: CoProcessSpec<T, U, K, O, S>,
): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => KeyedStream<O, K, G | H> {
  return <G extends SourceGrade>(s: KeyedStream<T, K, G>) => {
    const first = keysOf<T, K>(s, 'coProcess');
    const second = keysOf<U, K>(other, 'coProcess');
    const keyTypes = eitherOf(first.keyTypes, second.keyTypes);
    const column = new KeyColumn();
    return keyedTransform<KeyedStream<O, K, G | H>>(
      [s, other],
      {
        name: 'coProcess',
        isStateful: isStateful(spec),
        declares: (uid, clock) => ({
          ...keyedStates(uid, spec.state ?? {}, spec.onTimer !== undefined, clock),
          keyTypes,
        }),
        create: (context) =>
          coProcessOperator<T, U, K, S, O>(context, {
            firstKeyOf: first.keyOf,
            secondKeyOf: second.keyOf,
            firstKeyedAt: first.keyedAt,
            secondKeyedAt: second.keyedAt,
            keyTypes,
            keepsKeys: column.isRead,
            state: spec.state ?? ({} as S),
            self: spec,
            /* eslint-disable @typescript-eslint/unbound-method -- called with `self` */
            onFirst: spec.onFirst,
            onSecond: spec.onSecond,
            onTimer: spec.onTimer,
            /* eslint-enable @typescript-eslint/unbound-method */
            open: spec.open?.bind(spec),
            close: spec.close?.bind(spec),
          }),
      },
      { column, keyedAt: [...new Set([first.keyedAt, second.keyedAt])].join(', '), keyTypes },
      spec,
    );
  };
}

/** With what becomes of the accumulators: see {@link StateOptions}. */
export interface ScanOptions<A> extends OperatorOptions, Omit<StateOptions<A>, 'renamedFrom'> {}

/**
 * Folds each record into the accumulator of its key and emits the result (RxJS: scan; Flink: a rolling reduce). `seed` is what the accumulator of
 * each new key begins with, of which each key gets a copy, or a function that gives it. An accumulator that is mutated in place and emitted
 * changes under the consumer's hands: return a new one.
 */
export function scan<T, A, K extends Key>(
  accumulate: (accumulator: A, value: T, key: K) => A,
  seed: Seed<A>,
  options: ScanOptions<A> = {},
): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => KeyedStream<A, K, G> {
  const initial = seedFunction(seed);
  return (s) => {
    const { keyOf, keyedAt, keyTypes } = keysOf<T, K>(s, 'scan');
    const column = new KeyColumn();
    return keyedTransform(
      [s],
      {
        name: 'scan',
        isStateful: true,
        declares: (uid, clock) => ({
          ...keyedStates(uid, scanStates({ seed: initial, accumulator: options }), false, clock),
          keyTypes,
        }),
        create: (context) =>
          scanOperator<T, A, K>(context, {
            keyOf,
            keyedAt,
            keyTypes,
            keepsKeys: column.isRead,
            accumulate,
            seed: initial,
            accumulator: options,
          }),
      },
      { column, keyedAt, keyTypes },
      options,
    );
  };
}

/** Undefined, which is anything, if one of them is. */
function eitherOf(
  first: readonly KeyType[] | undefined,
  second: readonly KeyType[] | undefined,
): readonly KeyType[] | undefined {
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}

function isStateful({ state, onTimer }: { readonly state?: States; readonly onTimer?: unknown }): boolean {
  return onTimer !== undefined || Object.keys(state ?? {}).length > 0;
}

/** Where an operator has its keys from, which is read from now on. */
function keysOf<T, K extends Key>(
  s: Stream<T>,
  operator: string,
): Omit<StreamKey, 'keyOf' | 'column'> & { readonly keyOf: KeyOf<T, K> } {
  const { keyed } = s['~node'];
  if (keyed === undefined) {
    throw new WeirError(
      'GRAPH_NOT_KEYED',
      `${operator} needs a keyed stream. Put keyBy(...) in front of it, behind the last rebalance, broadcast, or union with a stream that is not keyed.`,
    );
  }
  const { keyOf, column, keyedAt, keyTypes } = keyed;
  if (keyOf === undefined) column.read();
  return { keyOf: keyOf as KeyOf<T, K>, keyedAt, keyTypes };
}
