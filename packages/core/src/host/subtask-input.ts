import type { AlignmentMode } from '../barrier/modes.js';
import type { Clock } from '../contracts/clock.js';
import type { CheckpointId, StageId } from '../element/ids.js';
import type { EncodedCapture } from '../snapshot/encode-capture.js';
import type { RunningStage } from '../stage/running-stage.js';
import type { InFlightCapture } from './in-flight-capture.js';
import { InputGate, type GateListener, type InputChannel } from './input-gate.js';
import { LoopHead, type LoopHeadOptions } from './loop-head.js';
import type { ClosedLog } from './loop-logs.js';
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

/** Receivers of what the input of a subtask brings. */
export interface InputReceivers {
  readonly stage: Pick<RunningStage, 'accept' | 'fail'>;
  readonly end: Pick<GateListener, 'time' | 'endOfData'>;
  readonly checkpoints: {
    align: GateListener['alignment'];
    announced: GateListener['announced'];
    loopClosed: (log: ClosedLog<WaitingSnapshot>) => void;
    loopDiscarded: (snapshot: WaitingSnapshot) => void;
  };
}

/**
 * Input of a subtask that is no source: its channels, and in turn with them what comes back over the
 * feedback if it is one of a loop's head.
 */
export class SubtaskInput {
  readonly gate: InputGate;
  readonly loop: LoopHead<WaitingSnapshot> | undefined;
  #records = 0;

  /** `to` is asked when something comes, and never before the subtask is complete. */
  constructor({ inputs, loop, mode, checkpointsAfterEnd, clock, wake }: SubtaskInputOptions, to: InputReceivers) {
    const listener: GateListener = {
      records: (input, batch) => {
        this.#records += batch.records.length;
        to.stage.accept(input, batch);
      },
      alignment: (action, inFlight) => {
        to.checkpoints.align(action, inFlight);
      },
      announced: (barrier) => {
        to.checkpoints.announced(barrier);
      },
      time: (signal) => {
        to.end.time(signal);
      },
      endOfData: (end) => {
        to.end.endOfData(end);
      },
    };
    this.gate = new InputGate(inputs, mode, () => clock.monotonic(), listener, wake, { checkpointsAfterEnd });
    if (loop === undefined) return;
    this.loop = new LoopHead<WaitingSnapshot>({
      ...loop,
      onArrival: wake,
      onFailed: (error) => {
        to.stage.fail(error);
      },
      records: (batch) => {
        to.stage.accept(0, batch);
      },
      closed: (log) => {
        to.checkpoints.loopClosed(log);
      },
      discarded: (snapshot) => {
        to.checkpoints.loopDiscarded(snapshot);
      },
    });
  }

  /** Records taken from channels. */
  get records(): number {
    return this.#records;
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
