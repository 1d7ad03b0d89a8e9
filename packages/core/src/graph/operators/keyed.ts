import type { SourceGrade } from '../../contracts/source.js';
import { assertKey, isPlainKey } from '../../element/assert-key.js';
import type { Key } from '../../element/key.js';
import { keyTypeOf, type KeyType } from '../../element/key-type.js';
import { WeirError } from '../../errors.js';
import { coProcessOperator } from '../../operator/co-process.js';
import type { Emit, KeyContext, Sync, TimerContext } from '../../operator/key-context.js';
import type { OpenClose } from '../../operator/keyed-handler.js';
import { keyedProcessOperator, keyedStates } from '../../operator/keyed-process.js';
import { scanOperator, scanStates } from '../../operator/scan.js';
import type { StateOptions, States } from '../../state/descriptors.js';
import { repartitioned, transform } from '../describe.js';
import { nameInGraph } from '../stream-node.js';
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

/** Groups records by key: the next operator gets all records of a key in one subtask, and may keep state for each key. */
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
    // Keyed operators look at the keys by themselves: they also run where nothing is exchanged.
    const keyed = { keyOf: types === undefined ? key : checked, keyedAt: place, keyTypes: types };
    return repartitioned<KeyedStream<T, K, G>>(s, { kind: 'hash', keyOf: checked }, keyed);
  };
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
>(spec: KeyedProcessSpec<T, K, O, S>): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => Stream<O, G> {
  return (s) => {
    const keyOf = keyOfStream<T, K>(s, 'keyedProcess');
    return transform(
      [s],
      {
        name: 'keyedProcess',
        isStateful: isStateful(spec),
        declares: (uid, clock) => ({
          ...keyedStates(uid, spec.state ?? {}, spec.onTimer !== undefined, clock),
          keyTypes: s['~node'].keyTypes,
        }),
        create: (context) =>
          keyedProcessOperator<T, K, S, O>(context, {
            keyOf,
            keyedAt: s['~node'].keyedAt,
            keyTypes: s['~node'].keyTypes,
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
): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => Stream<O, G | H> {
  return <G extends SourceGrade>(s: KeyedStream<T, K, G>) => {
    const firstKeyOf = keyOfStream<T, K>(s, 'coProcess');
    const secondKeyOf = keyOfStream<U, K>(other, 'coProcess');
    const keyTypes = eitherOf(s['~node'].keyTypes, other['~node'].keyTypes);
    return transform<O, G | H>(
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
            firstKeyOf,
            secondKeyOf,
            firstKeyedAt: s['~node'].keyedAt,
            secondKeyedAt: other['~node'].keyedAt,
            keyTypes,
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
      spec,
    );
  };
}

/** With what becomes of the accumulators: see {@link StateOptions}. */
export interface ScanOptions<A> extends OperatorOptions, Omit<StateOptions<A>, 'renamedFrom'> {}

/**
 * Flink's rolling reduce on a keyed stream: folds each record into the accumulator of its key and emits the result. `seed` is called for each new
 * key. An accumulator that is mutated in place and emitted changes under the consumer's hands: return a new one.
 */
export function scan<T, A, K extends Key>(
  accumulate: (accumulator: A, value: T, key: K) => A,
  seed: () => A,
  options: ScanOptions<A> = {},
): <G extends SourceGrade>(s: KeyedStream<T, K, G>) => Stream<A, G> {
  return (s) => {
    const keyOf = keyOfStream<T, K>(s, 'scan');
    return transform(
      [s],
      {
        name: 'scan',
        isStateful: true,
        declares: (uid, clock) => ({
          ...keyedStates(uid, scanStates({ seed, accumulator: options }), false, clock),
          keyTypes: s['~node'].keyTypes,
        }),
        create: (context) =>
          scanOperator<T, A, K>(context, {
            keyOf,
            keyedAt: s['~node'].keyedAt,
            keyTypes: s['~node'].keyTypes,
            accumulate,
            seed,
            accumulator: options,
          }),
      },
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

function keyOfStream<T, K extends Key>(s: Stream<T>, operator: string): (record: T) => K {
  const { keyOf } = s['~node'];
  if (keyOf === undefined) {
    throw new WeirError(
      'GRAPH_NOT_KEYED',
      `${operator} needs a keyed stream. Put keyBy(...) right before it; map, filter and union drop the key.`,
    );
  }
  return keyOf as (record: T) => K;
}
