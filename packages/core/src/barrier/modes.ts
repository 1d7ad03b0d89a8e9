import type { AbortReason } from '../contracts/job-events.js';
import type { Barrier } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { forwarded } from '../element/overtaking.js';
import { ChannelSet } from './channel-set.js';

/** How a checkpoint proceeds: a row of the table. */
export type AlignmentMode = 'aligned' | 'unaligned' | 'counting';

/** Carried out in order, and all of a step before the next element is taken from any channel. */
export type AlignmentAction =
  /** Take nothing more from the channel. */
  | { readonly kind: 'block'; readonly channel: number }
  /** Take from every channel again. */
  | { readonly kind: 'unblock-all' }
  /** Barriers of the checkpoint that wait in channels overtake what is in front of them. */
  | { readonly kind: 'let-overtake'; readonly checkpointId: CheckpointId }
  /** Forward the barrier and capture. `startedAt` is the `now` of the first barrier; the alignment lasted from then to now. */
  | { readonly kind: 'snapshot'; readonly barrier: Barrier; readonly startedAt: number }
  /** Records taken from these channels go on as ever, and into the checkpoint as well: its snapshot is taken without them. */
  | { readonly kind: 'persist'; readonly checkpointId: CheckpointId; readonly channels: readonly number[] }
  /** The channel has delivered the barrier or ended: what was sent before is the last of it that goes into the checkpoint. */
  | { readonly kind: 'persisted'; readonly checkpointId: CheckpointId; readonly channel: number }
  /** No channel is persisted any more: together with the snapshot this subtask's part is complete. */
  | { readonly kind: 'inputs-complete'; readonly checkpointId: CheckpointId }
  /** Send a cancel marker downstream, and decline with the reason; without one the coordinator gave up first and needs no answer. */
  | { readonly kind: 'abort'; readonly checkpointId: CheckpointId; readonly reason: AbortReason | undefined };

/**
 * What happens to a checkpoint: it starts; a barrier came but others are missing; the last one came; its barriers may overtake from now on;
 * it is given up; a newer one took its place. The first barrier is `first` and then `barrier` or `last`.
 */
export type Turn = 'first' | 'barrier' | 'last' | 'timeout' | 'abort' | 'displaced';

interface Mode extends Readonly<Record<Turn, readonly AlignmentAction['kind'][]>> {
  /** Checkpoints that can be under way at once; one more displaces the oldest. */
  readonly concurrent: number;
}

export const MODES: Readonly<Record<AlignmentMode, Mode>> = {
  // The barrier leaves before any channel is unblocked: what waited behind it stays behind it.
  aligned: {
    concurrent: 1,
    first: [],
    barrier: ['block'],
    last: ['snapshot', 'unblock-all'],
    // What the snapshot will lack must be persisted from the moment it is taken. The checkpoint goes on with the next row.
    timeout: ['let-overtake', 'persist', 'snapshot'],
    abort: ['abort', 'unblock-all'],
    displaced: ['abort', 'unblock-all'],
  },
  // Channels are blocked only if their barrier came before a timeout, and stay so to the end: the others are to catch up.
  unaligned: {
    concurrent: 1,
    first: ['let-overtake', 'persist', 'snapshot'],
    barrier: ['persisted'],
    last: ['persisted', 'inputs-complete', 'unblock-all'],
    timeout: [],
    abort: ['abort', 'unblock-all'],
    displaced: ['abort', 'unblock-all'],
  },
  // 50 as in Flink (MAX_CHECKPOINTS_TO_TRACK). What is displaced is dropped without a word: a newer one will subsume it.
  counting: {
    concurrent: 50,
    first: [],
    barrier: [],
    last: ['snapshot'],
    timeout: [],
    abort: ['abort'],
    displaced: [],
  },
};

/** What the actions of a turn are about. */
export interface TurnContext {
  readonly barrier: Barrier;
  readonly startedAt: number;
  /** Channels from which the barrier is still to come. */
  readonly missing: ChannelSet;
  /** The channel that delivered the barrier. */
  readonly channel?: number | undefined;
  readonly reason?: AbortReason | undefined;
}

/** The actions of one turn of a checkpoint, and the channels that are blocked after them. */
export function takeTurn(
  mode: AlignmentMode,
  turn: Turn,
  before: ChannelSet,
  { barrier, startedAt, missing, channel, reason }: TurnContext,
): { readonly blocked: ChannelSet; readonly actions: readonly AlignmentAction[] } {
  const { checkpointId } = barrier;
  const actions: AlignmentAction[] = [];
  let blocked = before;
  for (const kind of MODES[mode][turn]) {
    switch (kind) {
      case 'block':
        if (channel === undefined || blocked.has(channel)) break;
        blocked = blocked.with(channel);
        actions.push({ kind, channel });
        break;
      case 'unblock-all':
        if (blocked.size === 0) break;
        blocked = ChannelSet.NONE;
        actions.push({ kind });
        break;
      case 'let-overtake':
        actions.push({ kind, checkpointId });
        break;
      case 'snapshot':
        actions.push({ kind, barrier: forwarded(barrier, mode === 'unaligned' || turn === 'timeout'), startedAt });
        break;
      case 'persist':
        actions.push({ kind, checkpointId, channels: [...missing] });
        break;
      case 'persisted':
        if (channel !== undefined) actions.push({ kind, checkpointId, channel });
        break;
      case 'inputs-complete':
        actions.push({ kind, checkpointId });
        break;
      case 'abort':
        actions.push({ kind, checkpointId, reason });
        break;
    }
  }
  return { blocked, actions };
}
