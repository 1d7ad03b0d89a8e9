import type { AlignmentMode } from '../barrier/modes.js';
import type { Clock } from '../contracts/clock.js';
import type { CheckpointId, StageId } from '../element/ids.js';
import type { EncodedCapture } from '../snapshot/encode-capture.js';
import type { InFlightCapture } from './in-flight-capture.js';
import { InputGate, type GateListener, type InputChannel } from './input-gate.js';
import { LoopHead, type LoopHeadOptions } from './loop-head.js';
import type { SnapshotTiming } from './snapshot-writes.js';

/** Feedback of a subtask of a loop's head. */
export type SubtaskLoop = Omit<LoopHeadOptions<unknown>, 'onArrival' | 'onFailed' | 'records' | 'closed' | 'discarded'>;

/** Snapshot of a loop's head, which is written once the barrier has come back. */
export interface WaitingSnapshot {
  readonly captures: readonly EncodedCapture[];
  readonly timing: SnapshotTiming;
  readonly inFlight: InFlightCapture | undefined;
}

export interface SubtaskInputOptions {
  readonly inputs: readonly InputChannel[];
  readonly loop?: SubtaskLoop | undefined;
  readonly mode: AlignmentMode;
  /** False: a checkpoint under way is aborted when an input ends. */
  readonly checkpointsAfterEnd: boolean;
  readonly clock: Clock;
  readonly wake: () => void;
}

/** Listener of what the feedback brings. */
export type FeedbackListener = Pick<LoopHeadOptions<WaitingSnapshot>, 'records' | 'closed' | 'discarded' | 'onFailed'>;

/**
 * Input of a subtask that is no source: its channels, and in turn with them what comes back over the
 * feedback if it is one of a loop's head.
 */
export class SubtaskInput {
  readonly gate: InputGate;
  readonly loop: LoopHead<WaitingSnapshot> | undefined;

  constructor(options: SubtaskInputOptions, listener: GateListener, feedback: FeedbackListener) {
    const { inputs, loop, mode, checkpointsAfterEnd, clock, wake } = options;
    this.gate = new InputGate(inputs, mode, () => clock.monotonic(), listener, wake, { checkpointsAfterEnd });
    if (loop !== undefined) this.loop = new LoopHead({ ...loop, ...feedback, onArrival: wake });
  }

  isQuiet(loop: ReadonlySet<StageId>): boolean {
    return this.gate.isQuiet(loop) && this.loop?.isEmpty !== false;
  }

  /** Moves one element, or up to `max` records of one. `isDraining`: nothing new goes into the loop. */
  advance(max: number, isDraining: boolean): boolean {
    const { gate, loop } = this;
    if (loop === undefined) return gate.advance(max);
    if (loop.isReplaying || isDraining) return loop.advance(max);
    if (loop.letsInputGo && gate.advance(max)) {
      loop.inputWent();
      return true;
    }
    if (loop.advance(max)) return true;
    return loop.isFetching ? gate.advanceControl() : gate.advance(max);
  }

  /** Moves one control element that no record is in front of: those never wait for demand. */
  advanceControl(isDraining: boolean): boolean {
    const { gate, loop } = this;
    if (loop?.isReplaying === true) return false;
    return loop?.advanceControl() === true || (!isDraining && gate.advanceControl());
  }

  abort(checkpointId: CheckpointId): void {
    this.gate.abort(checkpointId);
    this.loop?.aborted(checkpointId);
  }
}
