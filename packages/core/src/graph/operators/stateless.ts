import type { OperatorFunction } from 'rxjs';
import { flatMapOperator } from '../../operator/flat-map.js';
import { WeirError } from '../../errors.js';
import { REMEMBER_INSTEAD, rxOperator } from '../../operator/rx.js';
import { filterOperator, mapOperator, tapOperator } from '../../operator/stateless.js';
import { keepingKey } from '../describe.js';
import type { SourceGrade } from '../../contracts/source.js';
import type { Stream } from '../stream.js';
import { rememberingOperator } from './remembering-rx.js';

export type NotAsync<R> =
  R extends PromiseLike<unknown>
    ? 'map is synchronous: a promise would be passed on as a record; wait for it in the source or the sink'
    : unknown;

/** What makes records of records: of a stream of any grade, which keeps its key. */
export type RecordOperator<T, R> = <G extends SourceGrade, K>(s: Stream<T, G, K>) => Stream<R, G, K>;

/** What `project` makes of each record. */
export function map<T, R>(project: (value: T) => R & NotAsync<R>): RecordOperator<T, R> {
  return (s) => keepingKey(s, 'map', (context) => mapOperator<T, R>(context, project));
}

/** The records for which `predicate` holds. */
export function filter<T, S extends T>(predicate: (value: T) => value is S): RecordOperator<T, S>;
export function filter<T>(predicate: (value: T) => boolean): RecordOperator<T, T>;
export function filter<T>(predicate: (value: T) => boolean): RecordOperator<T, T> {
  return (s) => keepingKey(s, 'filter', (context) => filterOperator<T>(context, predicate));
}

/** Every item of the array or iterable that `project` makes of a record; a long iterable is taken only as fast as the consumer takes it. */
export function flatMap<T, R>(project: (value: T) => Iterable<R>): RecordOperator<T, R> {
  return (s) => keepingKey(s, 'flatMap', (context, keepsKeys) => flatMapOperator<T, R>(context, project, keepsKeys));
}

/** Calls `look` for each record and passes it on. Runs again for records that are replayed after a failure. */
export function tap<T>(look: (value: T) => void): RecordOperator<T, T> {
  return (s) => keepingKey(s, 'tap', (context) => tapOperator<T>(context, look));
}

/**
 * Lifts RxJS operators record by record: `r => of(r).pipe(a, b)`, subscribed anew for each record and run to completion synchronously
 * (RX_HELD_BACK otherwise), so that they cannot remember anything. One that would (`take`, `pairwise`, `debounceTime`) is refused: RX_REMEMBERS, at
 * once where it can be told by its name, else at the first record, of which two copies go through it in front.
 */
export function rx<T, A>(a: OperatorFunction<T, A>): RecordOperator<T, A>;
export function rx<T, A, B>(a: OperatorFunction<T, A>, b: OperatorFunction<A, B>): RecordOperator<T, B>;
export function rx<T, A, B, C>(
  a: OperatorFunction<T, A>,
  b: OperatorFunction<A, B>,
  c: OperatorFunction<B, C>,
): RecordOperator<T, C>;
export function rx<T, A, B, C, D>(
  a: OperatorFunction<T, A>,
  b: OperatorFunction<A, B>,
  c: OperatorFunction<B, C>,
  d: OperatorFunction<C, D>,
): RecordOperator<T, D>;
export function rx(...operators: readonly AnyOperator[]): RecordOperator<unknown, unknown> {
  for (const operator of operators) {
    const name = rememberingOperator(operator);
    if (name !== undefined) throw remembersByName(name);
  }
  const lifted: AnyOperator = (source) => operators.reduce((stream, operator) => operator(stream), source);
  return (s) => keepingKey(s, 'rx', (context, keepsKeys) => rxOperator<unknown, unknown>(context, lifted, keepsKeys));
}

function remembersByName(name: string): WeirError {
  const called =
    name === 'scan'
      ? 'scan, or one that is made with it as reduce, count and toArray are'
      : `${name}, or one that is made with it`;
  return new WeirError(
    'RX_REMEMBERS',
    `rx() was given the RxJS operator ${called}. It needs more than one record, but rx() begins anew for each. ${REMEMBER_INSTEAD}`,
  );
}
// The overloads make neighbours fit; in between nobody knows the types.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyOperator = OperatorFunction<any, any>;
