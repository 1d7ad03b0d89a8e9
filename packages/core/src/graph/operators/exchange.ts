import type { SourceGrade } from '../../contracts/source.js';
import { merged, repartitioned } from '../describe.js';
import type { Stream, StreamOperator } from '../stream.js';

/** The records of all streams in one, in no particular order between them: keyed if all of them are. */
export function union<U, H extends SourceGrade, L>(
  ...others: readonly Stream<U, H, L>[]
): <T, G extends SourceGrade, K>(s: Stream<T, G, K>) => Stream<T | U, G | H, K | L> {
  return <T, G extends SourceGrade, K>(s: Stream<T, G, K>) => merged<Stream<T | U, G | H, K | L>>([s, ...others]);
}

/** Deals records out evenly, one after the other, to the subtasks of the next operator. The result has no key. */
export function rebalance<T>(): StreamOperator<T, T> {
  return <G extends SourceGrade>(s: Stream<T, G>) => repartitioned<Stream<T, G>>(s, { kind: 'rebalance' });
}

/** Gives every record to every subtask of the next operator. Records are then shared: treat them as read-only. The result has no key. */
export function broadcast<T>(): StreamOperator<T, T> {
  return <G extends SourceGrade>(s: Stream<T, G>) => repartitioned<Stream<T, G>>(s, { kind: 'broadcast' });
}
