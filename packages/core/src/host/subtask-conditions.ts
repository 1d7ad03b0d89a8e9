import type { RunningStage } from '../stage/running-stage.js';
import type { SubtaskConditions } from './next-step.js';
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
}

/** Conditions of a subtask as its parts are now. One object for its life: the loop of a subtask makes none. */
export class CurrentConditions implements SubtaskConditions {
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

  /** A barrier is to get through although the output has no demand. */
  get isOverdue(): boolean {
    return this.isOvertaken || this.#parts.checkpoints.isOvertaking;
  }
}
