/** Conditions of a subtask between two steps. Each is looked at only if those before it leave the question open. */
export interface SubtaskConditions {
  /** It has been started, and not been closed since. */
  readonly isRunning: boolean;
  /** An operator waits for something outside, such as a write. */
  readonly isWaiting: boolean;
  /** An operator has stopped between two records. */
  readonly isSuspended: boolean;
  /** The output takes records. */
  readonly hasDemand: boolean;
  /** The output takes records, or a barrier must get through although it does not. */
  readonly maySend: boolean;
  /** A prepare or finish has not settled. */
  readonly isHeld: boolean;
  /** It has passed the barrier of a savepoint to stop with. */
  readonly isAtStopBarrier: boolean;
  /** A barrier of its input waits for nothing, or the snapshot of a checkpoint is late. */
  readonly isOvertaken: boolean;
  /** Data has to end before the next barrier. */
  readonly isDraining: boolean;
  readonly isSource: boolean;
  /** A barrier came from the coordinator. */
  readonly hasBarrier: boolean;
  /** The input has ended, and that has not been carried out. */
  readonly hasEnding: boolean;
  /** It is past its end, and what it wrote is durable. */
  readonly mayLeave: boolean;
  /** Captures or the feedback of a loop hold too much for more records. */
  readonly isOverBudget: boolean;
}

/** Next step of a subtask, each with what it means. */
export const STEPS = {
  'stand-still': 'It does not run yet, or any more.',
  wait: 'An operator waits for a promise, and nothing moves until that has settled.',
  'wait-for-demand': 'An operator has more to send than the output takes.',
  resume: 'The operator that was suspended goes on, before anything new is taken.',
  'wait-for-hold': 'A prepare or finish is under way, and nothing moves until it has settled.',
  'log-feedback': 'It stands at a barrier to stop with, and logs what comes back over a loop.',
  overtake: 'A barrier is taken that has overtaken records, or the snapshot of a late checkpoint.',
  'end-source': 'A source that is drained ends in front of the barrier.',
  checkpoint: 'The barrier of the coordinator is carried out.',
  'end-input': 'The end of the input is carried out.',
  leave: 'It is done, and its attempt goes on without it.',
  'advance-control': 'No record may move, so one control element does.',
  advance: 'What is due runs, or a chunk of records moves.',
} as const;

export type NextStep = keyof typeof STEPS;

/** Decides what a subtask does next; it changes nothing. */
export function nextStep(subtask: SubtaskConditions): NextStep {
  if (!subtask.isRunning) return 'stand-still';
  if (subtask.isWaiting) return 'wait';
  // Also during a hold: what an operator emits while it prepares gets through before the barrier.
  if (subtask.isSuspended) return subtask.maySend ? 'resume' : 'wait-for-demand';
  if (subtask.isHeld) return 'wait-for-hold';
  if (subtask.isAtStopBarrier) return 'log-feedback';
  if (subtask.isOvertaken) return 'overtake';
  // A loop that is drained ends in front of the barrier too, once nothing goes round any more.
  if (subtask.isDraining) {
    if (subtask.isSource) return 'end-source';
  } else if (subtask.hasBarrier) return 'checkpoint';
  if (subtask.hasEnding) return 'end-input';
  if (subtask.mayLeave) return 'leave';
  return !subtask.hasDemand || subtask.isOverBudget ? 'advance-control' : 'advance';
}
