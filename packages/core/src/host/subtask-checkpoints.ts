import type { AlignmentAction, AlignmentMode } from '../barrier/modes.js';
import type { AbortReason } from '../contracts/job-events.js';
import { cancelMarker, type Barrier } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { forwarded, isOvertaking } from '../element/overtaking.js';
import { leftToCommit } from '../snapshot/left-to-commit.js';
import type { RunningStage } from '../stage/running-stage.js';
import { BarrierTimeouts } from './barrier-timeouts.js';
import type { InFlightCapture } from './in-flight-capture.js';
import type { ClosedLog } from './loop-logs.js';
import type { Router } from './router.js';
import { SnapshotWrites, type SnapshotWritesOptions } from './snapshot-writes.js';
import type { SubtaskEnd } from './subtask-end.js';
import type { SubtaskInput, WaitingSnapshot } from './subtask-input.js';

export interface SubtaskCheckpointsOptions extends SnapshotWritesOptions {
  readonly mode: AlignmentMode;
  /** The barrier has gone on. */
  readonly onForwarded: (checkpointId: CheckpointId) => void;
}

/** Parts of a subtask that a checkpoint goes through. */
export interface CheckpointedParts {
  readonly stage: RunningStage;
  readonly router: Router;
  readonly end: SubtaskEnd;
  /** Absent for a source. */
  readonly input: SubtaskInput | undefined;
}

/** Checkpoints of a subtask, from the barrier that comes in to the snapshot that is written. */
export class SubtaskCheckpoints {
  readonly #options: SubtaskCheckpointsOptions;
  readonly #parts: CheckpointedParts;
  readonly #writes: SnapshotWrites;
  readonly #timeouts: BarrierTimeouts;
  /** Barriers of the coordinator, in front of whatever comes next. */
  #barriers: Barrier[] = [];
  /** Barrier as it will go on, once the stage is prepared. */
  #preparing: Barrier | undefined;
  /**
   * Savepoint to stop with that this subtask has passed: nothing moves before it is known what became
   * of it.
   */
  #stopBarrier: CheckpointId | undefined;

  constructor(options: SubtaskCheckpointsOptions, parts: CheckpointedParts, wake: () => void) {
    this.#options = options;
    this.#parts = parts;
    this.#writes = new SnapshotWrites(options, wake);
    this.#timeouts = new BarrierTimeouts(options.clock, (checkpointId) => {
      parts.stage.post(() => {
        this.#overtakeFromNowOn(checkpointId);
      });
    });
  }

  get hasBarrier(): boolean {
    return this.#barriers.length > 0;
  }
  /** Data has to end before the next barrier. */
  get isDraining(): boolean {
    return this.#barriers[0]?.stop === 'drain' && !this.#parts.end.isPast;
  }
  get isAtStopBarrier(): boolean {
    return this.#stopBarrier !== undefined;
  }
  /** The barrier that is next will not wait for what is in front of it in the outputs. */
  get isOvertaking(): boolean {
    const next = this.#preparing ?? this.#barriers[0];
    return next !== undefined && isOvertaking(next);
  }
  /** No checkpoint is under way that still needs this subtask. */
  get isIdle(): boolean {
    return !this.hasBarrier && !this.#writes.isBusy;
  }

  /** Puts a barrier in front of whatever comes next. */
  trigger(barrier: Barrier): void {
    this.#barriers.push(barrier);
    this.#timeouts.saw(barrier);
  }

  /** A barrier has entered a channel. */
  announced(barrier: Barrier): void {
    this.#timeouts.saw(barrier);
  }

  /** Carries out what the alignment of the input has decided. */
  align(action: AlignmentAction, inFlight: InFlightCapture | undefined): void {
    switch (action.kind) {
      case 'block':
      case 'unblock-all':
      case 'let-overtake':
      case 'persist':
      case 'persisted':
      case 'inputs-complete':
        // The gate itself asks the alignment before it takes from a channel, and keeps what is in flight.
        return;
      case 'snapshot':
        if (this.#loop !== undefined && action.barrier.stop === 'drain') this.#barriers.push(action.barrier);
        else this.#checkpoint(action.barrier, action.startedAt, inFlight);
        return;
      case 'abort':
        this.#writes.abort(action.checkpointId);
        this.#parts.router.broadcast(cancelMarker(action.checkpointId));
        if (action.reason !== undefined) this.#decline(action.checkpointId, action.reason);
    }
  }

  /** Takes the snapshot of the next barrier of the coordinator. */
  takeBarrier(): void {
    const barrier = this.#barriers.shift();
    if (barrier !== undefined) this.#checkpoint(barrier, this.#options.clock.monotonic());
  }

  /** The barrier of a loop's head has come back. */
  loopClosed({ checkpointId, captured, state }: ClosedLog<WaitingSnapshot>): void {
    const { captures, timing, inFlight } = captured;
    this.#writes.start(checkpointId, captures, timing, inFlight, state);
  }

  /** The checkpoint was given up inside of the loop. */
  loopDiscarded({ captures, inFlight }: WaitingSnapshot): void {
    inFlight?.discard();
    for (const { keyed } of captures) keyed?.release();
  }

  completed(checkpointId: CheckpointId): void {
    this.#timeouts.ended(checkpointId);
  }

  aborted(checkpointId: CheckpointId): void {
    const { input, stage } = this.#parts;
    this.#barriers = this.#barriers.filter((barrier) => barrier.checkpointId !== checkpointId);
    this.#timeouts.ended(checkpointId);
    this.#writes.abort(checkpointId);
    input?.abort(checkpointId);
    if (this.#preparing?.checkpointId === checkpointId) this.#preparing = undefined;
    if (this.#stopBarrier === checkpointId) this.#stopBarrier = undefined;
    stage.aborted(checkpointId);
  }

  /** No checkpoint times out any more. */
  stop(): void {
    this.#timeouts.close();
  }

  /** Settles when nothing is written any more. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  get #loop(): SubtaskInput['loop'] {
    return this.#parts.input?.loop;
  }

  /**
   * Steps of a snapshot, nothing in between (Flink: SubtaskCheckpointCoordinatorImpl.checkpointState).
   * 1. prepare, head to tail: what it emits belongs before the barrier
   * 2. the barrier goes on, so that consumers start to align, or to snapshot
   * 3. capture, tail to head
   * 4. records move again, and the capture is written meanwhile, with what other inputs deliver before
   *    an unaligned barrier
   */
  #checkpoint(barrier: Barrier, startedAt: number, inFlight?: InFlightCapture): void {
    const { stage, router } = this.#parts;
    const { clock, onForwarded } = this.#options;
    const { checkpointId } = barrier;
    const begun = clock.monotonic();
    this.#preparing = barrier;
    // Also where barriers are forced into line: what this one finds in the outputs it may overtake.
    this.#timeouts.saw(barrier);
    stage.prepare(checkpointId, barrier.snapshot, () => {
      const prepared = this.#preparing;
      if (prepared?.checkpointId !== checkpointId) {
        router.broadcast(cancelMarker(checkpointId));
        return;
      }
      this.#preparing = undefined;
      router.forward(prepared);
      onForwarded(checkpointId);
      if (barrier.stop !== undefined) this.#stopBarrier = checkpointId;
      const captures = stage.capture(checkpointId, barrier.isIncremental === true ? 'incremental' : 'full');
      const timing = { alignmentMs: begun - startedAt, syncMs: clock.monotonic() - begun };
      this.#captured(checkpointId, { captures, timing, inFlight });
    });
  }

  #captured(checkpointId: CheckpointId, snapshot: WaitingSnapshot): void {
    const { end } = this.#parts;
    if (this.#loop !== undefined) {
      this.#loop.snapshotTaken(checkpointId, snapshot);
      return;
    }
    end.captured(checkpointId);
    // Where barriers are counted only, the end may have come behind the barrier of another input: what
    // is read again has to find its state.
    const isFinished = end.isFinished && this.#options.mode !== 'counting';
    const { captures, timing, inFlight } = snapshot;
    const parts = isFinished ? leftToCommit(captures) : captures;
    this.#writes.start(checkpointId, parts, timing, inFlight, undefined, isFinished);
  }

  #overtakeFromNowOn(checkpointId: CheckpointId): void {
    const late = (barrier: Barrier): Barrier =>
      barrier.checkpointId === checkpointId ? forwarded(barrier, true) : barrier;
    this.#barriers = this.#barriers.map(late);
    this.#preparing &&= late(this.#preparing);
    this.#parts.input?.gate.timeout(checkpointId);
  }

  #decline(checkpointId: CheckpointId, reason: AbortReason): void {
    const { attempt, id, report } = this.#options;
    report({ kind: 'decline', attempt, subtask: id, checkpointId, reason, error: undefined });
  }
}
