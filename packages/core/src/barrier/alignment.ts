/**
 * When has a subtask seen a checkpoint's barrier on all of its inputs, and what does it do until then?
 *
 * A pure state machine: `step(state, input, now)` gives the next state and what is to be done about it. Every mode runs the same
 * bookkeeping and differs in one row of a table of actions (modes.ts):
 *
 * - `aligned` is the algorithm for acyclic graphs of "Lightweight Asynchronous Snapshots for Distributed Dataflows" (arXiv 1506.08603,
 *   algorithm 1): block each input on its barrier; with all in, snapshot and broadcast the barrier, then unblock. Newer, cancelled and ended
 *   checkpoints are treated as by Flink's SingleCheckpointBarrierHandler.
 * - `unaligned` snapshots on the first barrier and blocks nothing: what other inputs send before theirs is in flight and part of the
 *   checkpoint (Flink: AlternatingWaitingForFirstBarrierUnaligned, AlternatingCollectingBarriersUnaligned).
 * - `aligned` with a timeout goes over to `unaligned` once the checkpoint has taken too long (Flink: AlternatingCollectingBarriers). From then on no
 *   barrier of it waits in a channel: neither one that was there already nor one that is announced later.
 * - `counting` follows Flink's CheckpointBarrierTracker: nothing is blocked, so a record between the first and the last barrier is in the
 *   snapshot and is read again after a restore (at-least-once).
 */
import type { AbortReason } from '../contracts/job-events.js';
import type { Barrier } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { ChannelSet } from './channel-set.js';
import { isAborted, remember, withoutUpTo } from './aborted-ids.js';
import { MODES, takeTurn } from './modes.js';
import { isOvertaking, isTimeoutable } from '../element/overtaking.js';
import type { AlignmentAction, AlignmentMode, Turn, TurnContext } from './modes.js';

/** End of data is no input: barriers still follow it. */
export type AlignmentInput =
  | { readonly kind: 'barrier'; readonly channel: number; readonly barrier: Barrier }
  | { readonly kind: 'cancel'; readonly channel: number; readonly checkpointId: CheckpointId }
  | { readonly kind: 'end-of-channel'; readonly channel: number }
  /** A barrier of the checkpoint has entered a channel, and waits there for its turn. */
  | { readonly kind: 'announced'; readonly checkpointId: CheckpointId }
  /** The checkpoint has taken too long: its barriers may overtake from now on. Nothing happens if they may not, or if it is over. */
  | { readonly kind: 'timeout'; readonly checkpointId: CheckpointId }
  /** The coordinator gave the checkpoint up; its barriers may be on their way, or never come. */
  | { readonly kind: 'abort'; readonly checkpointId: CheckpointId };

export interface AlignmentOptions {
  /** Checkpoints go on after an input has ended, which then counts as having delivered every later barrier (FLIP-147). Default true. */
  readonly checkpointsAfterEnd?: boolean | undefined;
}

/** A checkpoint whose barrier came on some channels. */
interface Tracked {
  readonly barrier: Barrier;
  readonly mode: AlignmentMode;
  readonly startedAt: number;
  /** Channels that were open when it started and have neither delivered its barrier nor ended. */
  readonly missing: ChannelSet;
}

/** Immutable; use {@link isBlocked} and {@link pendingId} to look into it. */
export interface AlignmentState {
  /** In `aligned` each barrier says whether it may overtake; in `unaligned` all do but those of savepoints and of edges that forbid it. */
  readonly mode: AlignmentMode;
  readonly checkpointsAfterEnd: boolean;
  readonly open: ChannelSet;
  readonly blocked: ChannelSet;
  /** Ascending by id. */
  readonly tracked: readonly Tracked[];
  /** The largest id that a barrier or cancel marker named. What is not tracked and not above it is over. */
  readonly highest: CheckpointId;
  /** Ids above `highest` that the coordinator gave up; ascending. */
  readonly abortedIds: readonly CheckpointId[];
  /** The largest id that was timed out. */
  readonly timedOut: CheckpointId;
}

export type Transition = readonly [AlignmentState, readonly AlignmentAction[]];

/** The state of a subtask with `channels` inputs, numbered from 0, before the first barrier. */
export function alignment(mode: AlignmentMode, channels: number, options: AlignmentOptions = {}): AlignmentState {
  return {
    mode,
    checkpointsAfterEnd: options.checkpointsAfterEnd ?? true,
    open: ChannelSet.all(channels),
    blocked: ChannelSet.NONE,
    tracked: [],
    highest: 0,
    abortedIds: [],
    timedOut: 0,
  };
}

/**
 * Takes one input at the time `now` (ms of any clock). O(channels / 32). Late, repeated and unknown inputs are answered with no action; so is
 * whatever names a channel that has ended.
 */
export function step(state: AlignmentState, input: AlignmentInput, now: number): Transition {
  if ('channel' in input && !state.open.has(input.channel)) return [state, []];
  switch (input.kind) {
    case 'barrier':
      return onBarrier(state, input.channel, input.barrier, now);
    case 'cancel':
      return onCancel(state, input.checkpointId);
    case 'end-of-channel':
      return onEndOfChannel(state, input.channel);
    case 'announced':
      return onAnnounced(state, input.checkpointId);
    case 'timeout':
      return onTimeout(state, input.checkpointId);
    case 'abort':
      return onAbort(state, input.checkpointId);
  }
}

/** Nothing may be taken from the channel now. */
export function isBlocked(state: AlignmentState, channel: number): boolean {
  return state.blocked.has(channel);
}

/** A timeout of the checkpoint takes its snapshot, so that nothing may be half done when it comes. */
export function snapshotsOnTimeout(state: AlignmentState, checkpointId: CheckpointId): boolean {
  const known = trackedOf(state, checkpointId);
  return known?.mode === 'aligned' && isTimeoutable(known.barrier);
}

/** The newest checkpoint that is under way here. */
export function pendingId(state: AlignmentState): CheckpointId | undefined {
  return state.tracked.at(-1)?.barrier.checkpointId;
}

function onBarrier(state: AlignmentState, channel: number, barrier: Barrier, now: number): Transition {
  const id = barrier.checkpointId;
  const known = trackedOf(state, id);
  if (known !== undefined) {
    const [overtaken, switching] = isOvertaking(barrier) ? overtake(state, known, barrier) : [state, []];
    const [next, actions] = collect(overtaken, id, channel);
    return [next, [...switching, ...actions]];
  }
  if (id <= state.highest) return [state, []];

  const [roomy, displaced] = makeRoom(state);
  const isGivenUp = isAborted(roomy.abortedIds, id);
  const raised = raise(roomy, id);
  if (isGivenUp) return [raised, [...displaced, { kind: 'abort', checkpointId: id, reason: undefined }]];

  const started: Tracked = { barrier, mode: modeFor(raised, barrier), startedAt: now, missing: raised.open };
  const [begun, first] = perform({ ...raised, tracked: [...raised.tracked, started] }, 'first', started);
  const [next, actions] = collect(begun, id, channel);
  return [next, [...displaced, ...first, ...actions]];
}

function onAnnounced(state: AlignmentState, id: CheckpointId): Transition {
  const known = trackedOf(state, id);
  const isLate = known === undefined ? isLateAlready(state, id) : known.mode === 'unaligned';
  return [state, isLate ? [{ kind: 'let-overtake', checkpointId: id }] : []];
}

/** None of its barriers was taken yet, and the first is to overtake. */
function isLateAlready({ highest, timedOut, abortedIds }: AlignmentState, id: CheckpointId): boolean {
  return id > highest && id === timedOut && !isAborted(abortedIds, id);
}

function onTimeout(state: AlignmentState, id: CheckpointId): Transition {
  if (state.mode === 'counting') return [state, []];
  const next = { ...state, timedOut: Math.max(state.timedOut, id) };
  const known = trackedOf(state, id);
  // Before the first barrier is taken, one that waits is as good as one that is announced now.
  if (known === undefined) return onAnnounced(next, id);
  return isTimeoutable(known.barrier) ? overtake(next, known, known.barrier) : [next, []];
}

function onCancel(state: AlignmentState, id: CheckpointId): Transition {
  const reason = isAborted(state.abortedIds, id) ? undefined : 'CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER';
  const isNew = id > state.highest;
  // The channel skips what is older too. Flink's aligned handler forgets an older pending checkpoint without a word here; we say it.
  const [next, actions] = giveUp(state, (t) => idOf(t) <= id, 'CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER');
  return isNew ? [raise(next, id), [...actions, { kind: 'abort', checkpointId: id, reason }]] : [next, actions];
}

function onEndOfChannel(state: AlignmentState, channel: number): Transition {
  const ended = { ...state, open: state.open.without(channel) };
  if (!state.checkpointsAfterEnd) return giveUp(ended, () => true, 'CHECKPOINT_DECLINED_INPUT_END_OF_STREAM');
  const tracked = state.tracked.map((t) => ({ ...t, missing: t.missing.without(channel) }));
  const complete = tracked.findLast((t) => t.missing.size === 0);
  const next = { ...ended, tracked };
  if (complete !== undefined) return finish(next, complete, channel);
  // An end counts as a barrier, but has nothing behind it to block.
  const persisted = state.tracked.find((t) => t.mode === 'unaligned' && t.missing.has(channel));
  return persisted === undefined ? [next, []] : perform(next, 'barrier', persisted, { channel });
}

function onAbort(state: AlignmentState, id: CheckpointId): Transition {
  if (id > state.highest) return [{ ...state, abortedIds: remember(state.abortedIds, id) }, []];
  // Flink keeps the channels blocked until the other barriers have come as well; nobody gains by that.
  return giveUp(state, (t) => idOf(t) === id, undefined);
}

/** Which row of the table a checkpoint takes that starts with `barrier`. */
function modeFor({ mode, timedOut }: AlignmentState, barrier: Barrier): AlignmentMode {
  switch (mode) {
    case 'counting':
      return 'counting';
    case 'unaligned':
      return barrier.snapshot === 'checkpoint' && barrier.isForcedAligned !== true ? 'unaligned' : 'aligned';
    case 'aligned':
      return isOvertaking(barrier) || (isTimeoutable(barrier) && timedOut === barrier.checkpointId)
        ? 'unaligned'
        : 'aligned';
  }
}

/** From aligned to unaligned in the middle of an alignment. */
function overtake(state: AlignmentState, tracked: Tracked, barrier: Barrier): Transition {
  if (tracked.mode !== 'aligned') return [state, []];
  const switched: Tracked = { ...tracked, barrier, mode: 'unaligned' };
  return perform(replace(state, tracked, switched), 'timeout', { ...tracked, barrier });
}

/** The channel delivered the barrier of a checkpoint that is tracked. */
function collect(state: AlignmentState, id: CheckpointId, channel: number): Transition {
  const tracked = trackedOf(state, id);
  if (tracked === undefined || !tracked.missing.has(channel)) return [state, []];
  const collected: Tracked = { ...tracked, missing: tracked.missing.without(channel) };
  const next = replace(state, tracked, collected);
  return collected.missing.size === 0
    ? finish(next, collected, channel)
    : perform(next, 'barrier', collected, { channel });
}

/** Every barrier of `complete` is in. What is older is dropped: it is subsumed once this one is complete everywhere. */
function finish(state: AlignmentState, complete: Tracked, channel: number): Transition {
  const tracked = state.tracked.filter((t) => idOf(t) > idOf(complete));
  return perform({ ...state, tracked }, 'last', complete, { channel });
}

function makeRoom(state: AlignmentState): Transition {
  const oldest = state.tracked[0];
  if (oldest === undefined || state.tracked.length < MODES[state.mode].concurrent) return [state, []];
  const next = { ...state, tracked: state.tracked.slice(1) };
  return perform(next, 'displaced', oldest, { reason: 'CHECKPOINT_DECLINED_SUBSUMED' });
}

function giveUp(state: AlignmentState, which: (t: Tracked) => boolean, reason: AbortReason | undefined): Transition {
  let next: AlignmentState = { ...state, tracked: state.tracked.filter((t) => !which(t)) };
  const all: AlignmentAction[] = [];
  for (const tracked of state.tracked.filter(which)) {
    const [after, actions] = perform(next, 'abort', tracked, { reason });
    next = after;
    all.push(...actions);
  }
  return [next, all];
}

function perform(
  state: AlignmentState,
  turn: Turn,
  tracked: Tracked,
  more: Pick<TurnContext, 'channel' | 'reason'> = {},
): Transition {
  const { blocked, actions } = takeTurn(tracked.mode, turn, state.blocked, { ...tracked, ...more });
  return [{ ...state, blocked }, actions];
}

function replace(state: AlignmentState, old: Tracked, by: Tracked): AlignmentState {
  return { ...state, tracked: state.tracked.map((t) => (t === old ? by : t)) };
}

function raise(state: AlignmentState, id: CheckpointId): AlignmentState {
  return { ...state, highest: id, abortedIds: withoutUpTo(state.abortedIds, id) };
}

function trackedOf(state: AlignmentState, id: CheckpointId): Tracked | undefined {
  return state.tracked.find((t) => idOf(t) === id);
}

function idOf(tracked: Tracked): CheckpointId {
  return tracked.barrier.checkpointId;
}
