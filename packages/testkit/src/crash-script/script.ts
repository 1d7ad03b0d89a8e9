import { WeirError } from '@weir/core/contracts';
import { isCrash, type Crash } from './crash.js';

/** What happens between two records: a checkpoint is taken and completes, or the attempt dies. Each once. */
export interface Marker {
  readonly kind: 'checkpoint' | 'crash';
  /** Records before it. */
  readonly at: number;
}
export interface Script<A> {
  readonly records: readonly A[];
  /** In the order in which they are carried out; ascending places. */
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
 * Crashes with a checkpoint `replayed` records before each, so that just these are read again. A crash that comes earlier than that finds no
 * checkpoint of its own. At one place crashes come before a checkpoint that is meant for a later crash.
 */
export function withCheckpoints(crashes: readonly number[], replayed: number): readonly Marker[] {
  if (!(replayed === Number.POSITIVE_INFINITY || (Number.isInteger(replayed) && replayed >= 0))) {
    throw new WeirError(
      'CONFIG_INVALID',
      `replayed must be a number of records from 0 to Infinity, not ${String(replayed)}.`,
    );
  }
  const checkpoints = new Set(crashes.map((at) => at - replayed).filter((at) => at >= 0));
  const markers = [
    ...[...checkpoints].map((at): Marker => ({ kind: 'checkpoint', at })),
    ...crashes.map((at): Marker => ({ kind: 'crash', at })),
  ];
  const first = replayed === 0 ? 'checkpoint' : 'crash';
  return markers.sort((a, b) => a.at - b.at || Number(b.kind === first) - Number(a.kind === first));
}
