import type { Slice } from '../contracts/state-backend.js';
import type { RunningStage } from '../stage/running-stage.js';
import { nextStep, type NextStep, type SubtaskConditions } from './next-step.js';
import type { Router } from './router.js';
import type { SubtaskCheckpoints } from './subtask-checkpoints.js';
import type { SubtaskEnd } from './subtask-end.js';
import type { SubtaskInput } from './subtask-input.js';

/** Parts that a subtask consists of. */
export interface SubtaskParts {
  readonly stage: RunningStage;
  readonly router: Router;
  /** Absent for a source. */
  readonly input: SubtaskInput | undefined;
  readonly end: SubtaskEnd;
  readonly checkpoints: SubtaskCheckpoints;
  /** More records must wait until captures have been written. */
  readonly isOverBudget: () => boolean;
  /** Aborts with the attempt. */
  readonly signal: AbortSignal;
}

/**
 * Steps of a subtask, one after the other for as long as its slice lasts. They are their own
 * conditions, so that no step makes an object.
 */
export class SubtaskSteps implements SubtaskConditions {
  readonly #parts: SubtaskParts;

  constructor(parts: SubtaskParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#parts.stage.isRunning;
  }
  get isWaiting(): boolean {
    return this.#parts.stage.isWaiting;
  }
  get isSuspended(): boolean {
    return this.#parts.stage.isSuspended;
  }
  get hasDemand(): boolean {
    return this.#parts.router.hasDemand;
  }
  get maySend(): boolean {
    return this.#parts.stage.maySend;
  }
  get isHeld(): boolean {
    return this.#parts.stage.isHeld;
  }
  get isAtStopBarrier(): boolean {
    return this.#parts.checkpoints.isAtStopBarrier;
  }
  get isOvertaken(): boolean {
    return this.#parts.input?.gate.isOvertaken === true;
  }
  get isDraining(): boolean {
    return this.#parts.checkpoints.isDraining;
  }
  get isSource(): boolean {
    return this.#parts.input === undefined;
  }
  get hasBarrier(): boolean {
    return this.#parts.checkpoints.hasBarrier;
  }
  get hasEnding(): boolean {
    return this.#parts.end.isPending;
  }
  get mayLeave(): boolean {
    return this.#parts.end.mayLeave && this.#parts.checkpoints.isIdle;
  }
  get isOverBudget(): boolean {
    return this.#parts.isOverBudget() || this.#parts.input?.loop?.isOverBudget === true;
  }

  /** Takes steps until the slice is over. False: nothing can move before something comes. */
  run(slice: Pick<Slice, 'isOver'>): boolean {
    const { stage, checkpoints, signal } = this.#parts;
    do {
      // What is left of a failed attempt must not reach a checkpoint: nothing moves any more.
      if (signal.aborted) return false;
      stage.readMailbox();
      stage.overdraw(this.isOvertaken || checkpoints.isOvertaking);
      if (!this.#carryOut(nextStep(this))) return false;
    } while (!slice.isOver());
    return true;
  }

  /** False: nothing can move now, and whoever changes that wakes the subtask. */
  #carryOut(step: NextStep): boolean {
    const { stage, input, end, checkpoints } = this.#parts;
    switch (step) {
      case 'stand-still':
      case 'wait':
      case 'wait-for-demand':
      case 'wait-for-hold':
        return false;
      case 'resume':
        stage.resume();
        return true;
      case 'log-feedback':
        return input?.loop?.advanceStanding() === true;
      case 'overtake':
        input?.gate.advanceOvertaking();
        return true;
      case 'end-source':
        end.end({ drain: true, resumable: true });
        return true;
      case 'checkpoint':
        checkpoints.takeBarrier();
        return true;
      case 'end-input':
        end.endInput();
        return true;
      case 'leave':
        end.leave();
        return true;
      case 'advance-control':
        return input?.advanceControl(checkpoints.isDraining) === true;
      case 'advance':
        return stage.advance();
    }
  }
}
