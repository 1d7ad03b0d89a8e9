import type { OperatorFunction } from 'rxjs';
import { filter, map } from 'rxjs';
import { filterBatch } from '../element/batch-loops.js';
import type { StreamElement } from '../element/element.js';

/** Keeps the records that satisfy the predicate, with their timestamps, and everything that is not a record. Empty batches are not emitted. */
export function filterRecords<A, B extends A>(
  predicate: (value: A) => value is B,
): OperatorFunction<StreamElement<A>, StreamElement<B>>;
export function filterRecords<A>(
  predicate: (value: A) => boolean,
): OperatorFunction<StreamElement<A>, StreamElement<A>>;
export function filterRecords<A>(
  predicate: (value: A) => boolean,
): OperatorFunction<StreamElement<A>, StreamElement<A>> {
  return (source) =>
    source.pipe(
      map((element) => (element.kind === 'batch' ? filterBatch(element, predicate) : element)),
      filter((element) => element !== undefined),
    );
}
