import type { SourceGrade } from '../../contracts/source.js';
import { merged, repartitioned } from '../describe.js';
import type { Stream, StreamOperator } from '../stream.js';

/** The records of all streams in one, in no particular order between them. The result has no key. */
export function union<U, H extends SourceGrade>(
  ...others: readonly Stream<U, H>[]
): <T, G extends SourceGrade>(s: Stream<T, G>) => Stream<T | U, G | H> {
  return <T, G extends SourceGrade>(s: Stream<T, G>) => merged<Stream<T | U, G | H>>([s, ...others]);
}

/** Deals records out evenly, one after the other, to the subtasks of the next operator. */
export function rebalance<T>(): StreamOperator<T, T> {
  return <G extends SourceGrade>(s: Stream<T, G>) => repartitioned<Stream<T, G>>(s, { kind: 'rebalance' });
}

/** Gives every record to every subtask of the next operator. Records are then shared: treat them as read-only. */
export function broadcast<T>(): StreamOperator<T, T> {
  return <G extends SourceGrade>(s: Stream<T, G>) => repartitioned<Stream<T, G>>(s, { kind: 'broadcast' });
}
