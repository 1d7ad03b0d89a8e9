import type { AbortReason } from '../contracts/job-events.js';
import type { Barrier } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';

export type AlignmentMode = 'aligned' | 'counting';

/** Carried out in order, and all of a step before the next element is taken from any channel. */
export type AlignmentAction =
  /** Take nothing more from the channel. */
  | { readonly kind: 'block'; readonly channel: number }
  /** Take from every channel again. */
  | { readonly kind: 'unblock-all' }
  /** Forward the barrier and capture. `startedAt` is the `now` of the first barrier; the alignment lasted from then to now. */
  | { readonly kind: 'snapshot'; readonly barrier: Barrier; readonly startedAt: number }
  /** Send a cancel marker downstream, and decline with the reason; without one the coordinator gave up first and needs no answer. */
  | { readonly kind: 'abort'; readonly checkpointId: CheckpointId; readonly reason: AbortReason | undefined };

/** What happens to a checkpoint: a barrier came but others are missing; the last one came; it is given up; a newer one took its place. */
export type Turn = 'barrier' | 'last' | 'abort' | 'displaced';

interface Mode extends Readonly<Record<Turn, readonly AlignmentAction['kind'][]>> {
  /** Checkpoints that can be under way at once; one more displaces the oldest. */
  readonly concurrent: number;
}

/**
 * Two more rows make the modes whose barriers overtake records. Both need a turn `first` (a checkpoint starts), before `barrier` and `last`:
 *
 * - `unaligned`: first = persist inputs, snapshot (its barrier overtakes queued output); barrier = stop persisting that channel;
 *   last = inputs complete; abort and displaced = abort, discard what was persisted.
 * - `aligned-with-timeout`: the row `aligned` with first = arm timer, and an input `timeout` whose turn is: persist inputs, snapshot. The
 *   checkpoint then goes on with the row `unaligned`, whose `last` also unblocks the channels that were blocked before the timeout.
 */
export const MODES: Readonly<Record<AlignmentMode, Mode>> = {
  // The barrier leaves before any channel is unblocked: what waited behind it stays behind it.
  aligned: {
    concurrent: 1,
    barrier: ['block'],
    last: ['snapshot', 'unblock-all'],
    abort: ['abort', 'unblock-all'],
    displaced: ['abort', 'unblock-all'],
  },
  // 50 as in Flink (MAX_CHECKPOINTS_TO_TRACK). What is displaced is dropped without a word: a newer one will subsume it.
  counting: { concurrent: 50, barrier: [], last: ['snapshot'], abort: ['abort'], displaced: [] },
};

/** What the actions of a turn are about. */
export interface TurnContext {
  readonly barrier: Barrier;
  readonly startedAt: number;
  /** The channel that delivered the barrier. */
  readonly channel?: number | undefined;
  readonly reason?: AbortReason | undefined;
}

/** The actions of one turn of a checkpoint, and the channels that are blocked after them. */
export function takeTurn(
  mode: AlignmentMode,
  turn: Turn,
  before: ReadonlySet<number>,
  { barrier, startedAt, channel, reason }: TurnContext,
): { readonly blocked: ReadonlySet<number>; readonly actions: readonly AlignmentAction[] } {
  const actions: AlignmentAction[] = [];
  let blocked = before;
  for (const kind of MODES[mode][turn]) {
    switch (kind) {
      case 'block':
        if (channel === undefined || blocked.has(channel)) break;
        blocked = new Set(blocked).add(channel);
        actions.push({ kind, channel });
        break;
      case 'unblock-all':
        if (blocked.size === 0) break;
        blocked = new Set();
        actions.push({ kind });
        break;
      case 'snapshot':
        actions.push({ kind, barrier, startedAt });
        break;
      case 'abort':
        actions.push({ kind, checkpointId: barrier.checkpointId, reason });
        break;
    }
  }
  return { blocked, actions };
}
