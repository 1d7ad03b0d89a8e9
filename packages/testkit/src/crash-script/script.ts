import { WeirError } from '@weir/core/contracts';
import { isCrash, type Crash } from './crash.js';

/** What happens between two records: a checkpoint is taken and completes, the attempt dies, or the process ends and the next begins. Each once. */
export interface Marker {
  readonly kind: 'checkpoint' | 'crash' | 'stop';
  /** Records before it. */
  readonly at: number;
}
export interface Script<A> {
  readonly records: readonly A[];
  /** In the order in which they are carried out. */
  readonly markers: readonly Marker[];
  /** `one-by-one`: each record is a batch of its own, handed out when the whole job has done with the one before. */
  readonly pace: 'all-at-once' | 'one-by-one';
}

/** Takes records and crashes apart; a crash becomes the number of records before it. */
export function readInput<A>(input: readonly (A | Crash)[]): {
  readonly records: readonly A[];
  readonly crashes: readonly number[];
} {
  const records: A[] = [];
  const crashes: number[] = [];
  for (const item of input) {
    if (isCrash(item)) crashes.push(records.length);
    else records.push(item);
  }
  return { records, crashes };
}

/**
 * Crashes (or stops), ascending, each behind a checkpoint that was taken `replayed` records before it, so that just these are read again. One that comes
 * earlier than that gets none. Where crashes are close together, the checkpoint of one is taken when the records after the crash before it are read
 * again.
 */
export function withCheckpoints(
  crashes: readonly number[],
  replayed: number,
  kind: 'crash' | 'stop' = 'crash',
): readonly Marker[] {
  if (!(replayed === Number.POSITIVE_INFINITY || (Number.isInteger(replayed) && replayed >= 0))) {
    throw new WeirError(
      'CONFIG_INVALID',
      `replayed must be a number of records from 0 to Infinity, not ${String(replayed)}.`,
    );
  }
  return crashes.flatMap((at, i): Marker[] => {
    const crash: Marker = { kind, at };
    const checkpoint = at - replayed;
    const needsNone = checkpoint < 0 || at === crashes[i - 1];
    return needsNone ? [crash] : [{ kind: 'checkpoint', at: checkpoint }, crash];
  });
}
