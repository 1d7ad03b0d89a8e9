import { closeInTurn } from '../contracts/all-of.js';
import type { Slice } from '../contracts/state-backend.js';
import type { Barrier, RecordBatch } from '../element/element.js';
import {
  subtaskName,
  type CheckpointId,
  type JobName,
  type OperatorUid,
  type StageId,
  type SubtaskId,
} from '../element/ids.js';
import { WeirError } from '../errors.js';
import type { OperatorEnd, RestoredState } from '../operator/operator.js';
import type { SourceOperator } from '../operator/source-operator.js';
import { operatorFailure } from '../operator/user-code.js';
import { RunningStage } from '../stage/running-stage.js';
import type { StageOperator } from '../stage/stage.js';
import type { LoopMember } from './loop-end.js';
import type { Pauses } from './pauses.js';
import { Router, type OutputEdge } from './router.js';
import type { Runnable } from './scheduler.js';
import { SubtaskCheckpoints, type SubtaskCheckpointsOptions } from './subtask-checkpoints.js';
import { SubtaskEnd, type SubtaskEndOptions } from './subtask-end.js';
import { SubtaskInput, type InputReceivers, type SubtaskInputOptions } from './subtask-input.js';
import { SubtaskSteps } from './subtask-steps.js';

export interface SubtaskOptions
  extends
    SubtaskCheckpointsOptions,
    Omit<SubtaskInputOptions, 'wake'>,
    Pick<SubtaskEndOptions, 'onEnded' | 'othersRun' | 'onLeft'> {
  readonly job: JobName;
  /** Inputs of the stage's first operator. */
  readonly inputCount: number;
  readonly outputs: readonly OutputEdge[];
  /** More records must wait until captures have been written. */
  readonly isOverBudget: () => boolean;
  /** There is nothing to do until something comes. */
  readonly onIdle?: (() => void) | undefined;
}

/**
 * One parallel instance of a stage in the embedded host: the running stage, its input and output, its
 * checkpoints and its end. Everything it does happens in `run`, one step after the other; what comes
 * from elsewhere is put into the mailbox.
 */
export class Subtask implements Runnable, LoopMember {
  readonly id: SubtaskId;
  readonly stage: RunningStage;
  readonly #options: SubtaskOptions;
  readonly #router: Router;
  /** Absent for a source. */
  readonly #input: SubtaskInput | undefined;
  readonly #end: SubtaskEnd;
  readonly #checkpoints: SubtaskCheckpoints;
  readonly #steps: SubtaskSteps;
  #closing: Promise<void> | undefined;
  #awaiting: string | undefined;

  constructor(options: SubtaskOptions) {
    this.id = options.id;
    this.#options = options;
    const wake = (): void => {
      options.scheduler.wake(this);
    };
    const router = new Router(options.outputs, options.id.index, wake);
    const { isOverBudget, signal } = options;
    const isSource = options.inputs.length === 0;
    const stage: RunningStage = new RunningStage({
      clock: options.clock,
      signal,
      output: router,
      take: isSource ? undefined : (max) => input?.advance(max, checkpoints.isDraining) === true,
      wake,
      onSourceEnded: () => {
        end.endOfData({ drain: true });
      },
      onFailed: options.onFailed,
    });
    const receivers: InputReceivers = {
      stage,
      get end() {
        return end;
      },
      get checkpoints() {
        return checkpoints;
      },
    };
    const input = isSource ? undefined : new SubtaskInput({ ...options, wake }, receivers);
    const end = new SubtaskEnd({
      stage,
      router,
      input,
      onEnded: options.onEnded,
      othersRun: options.othersRun,
      onLeft: () => {
        this.close('finished').catch(() => undefined);
        options.onLeft();
      },
    });
    const checkpoints = new SubtaskCheckpoints(options, { stage, router, end, input }, wake);
    this.#steps = new SubtaskSteps({ stage, router, input, end, checkpoints, isOverBudget, signal });
    this.stage = stage;
    this.#router = router;
    this.#input = input;
    this.#end = end;
    this.#checkpoints = checkpoints;
  }

  /** Records taken from channels. */
  get recordsIn(): number {
    return this.#input?.records ?? 0;
  }
  /** Records handed to channels. */
  get recordsOut(): number {
    return this.#router.records;
  }
  /** The output is full: nothing moves until the consumers have caught up. */
  get isBackPressured(): boolean {
    return !this.#router.hasDemand;
  }

  open(
    operators: readonly StageOperator[],
    source: SourceOperator<unknown> | undefined,
    restored: (uid: OperatorUid) => RestoredState | undefined,
    pause: Pauses['due'],
  ): Promise<void> {
    const { job, inputCount: inputs, id } = this.#options;
    return this.stage.open({
      operators,
      source,
      inputs,
      restored,
      pause,
      failureOf: (uid, error) => operatorFailure({ uid, job, subtask: id.index }, error),
    });
  }

  /** Records that went round when the restored checkpoint was taken: they come before anything else. */
  replay(batches: readonly RecordBatch<unknown>[]): void {
    this.#input?.loop?.restore(batches);
  }

  isQuiet(loop: ReadonlySet<StageId>): boolean {
    return this.stage.isQuiet && this.#input?.isQuiet(loop) !== false;
  }

  endTime(): void {
    this.stage.post(() => {
      this.#end.endTime();
    });
  }

  endLoop(): void {
    this.stage.post(() => {
      this.#end.endLoop();
    });
  }

  start(): void {
    this.stage.start();
  }

  /** Instead of `start`: the checkpoint that is restored says that it has finished. */
  skip(): void {
    this.#end.skip();
  }

  run(slice: Pick<Slice, 'isOver'>): boolean {
    try {
      this.stage.beginSlice(slice);
      const more = this.#steps.run(slice);
      this.#router.flush();
      if (!more) this.#options.onIdle?.();
      return more;
    } catch (error) {
      this.stage.fail(error);
      return false;
    }
  }

  /**
   * Nobody sends it barriers: it is a source, or all of its producers have finished, and it has taken
   * all that they sent (FLIP-147).
   */
  get needsTrigger(): boolean {
    return this.#input?.gate.isEnded !== false;
  }

  /** For a subtask that has left: consumers that have not come to its end yet get the barrier as if it had not. */
  passOn(barrier: Barrier): void {
    this.#router.forwardBeforeEnd(barrier);
  }

  /** Puts a barrier in front of whatever comes next. */
  trigger(barrier: Barrier): void {
    this.stage.post(() => {
      this.#checkpoints.trigger(barrier);
    });
  }

  /** Settles once what this checkpoint covers is committed. */
  completed(checkpointId: CheckpointId): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#end.hasLeft) {
        resolve();
        return;
      }
      if (this.stage.isStopped) {
        const { job, id } = this.#options;
        reject(new WeirError('JOB_NOT_RUNNING', `Subtask ${subtaskName(id)} of job ${job} is closed.`));
        return;
      }
      this.stage.post(() => {
        this.#checkpoints.completed(checkpointId);
        this.#end.completed(checkpointId).then(resolve, reject);
      });
    });
  }

  aborted(checkpointId: CheckpointId, latestCompleted: CheckpointId): void {
    this.stage.post(() => {
      // Whether that can be committed is for whoever completed it to hear.
      this.#end.completed(latestCompleted).catch(() => undefined);
      this.#checkpoints.aborted(checkpointId);
    });
  }

  /** Words for what its end waits for. */
  get closing(): string | undefined {
    return this.#awaiting;
  }

  /**
   * Nothing of this subtask runs any more when it settles. Call it after the attempt's signal was
   * aborted, unless the job finished.
   */
  close(end: OperatorEnd): Promise<void> {
    this.#closing ??= this.#close(end);
    return this.#closing;
  }

  async #close(end: OperatorEnd): Promise<void> {
    this.stage.stop();
    this.#checkpoints.stop();
    this.#router.close();
    const awaiting =
      (what: string, step: () => Promise<unknown>): (() => Promise<unknown>) =>
      () => {
        this.#awaiting = what;
        return step();
      };
    try {
      // Whatever fails on the way, operators are closed: they have files, databases and connections open.
      await closeInTurn([
        awaiting('a call of an operator, source or sink', () => this.stage.settled()),
        () => this.#input?.loop?.close(),
        awaiting('the checkpoint storage, for the snapshot', () => this.#checkpoints.close()),
        awaiting('commits', () => this.stage.committed()),
        awaiting('closing an operator, source or sink', () => this.stage.close(end)),
      ]);
    } finally {
      this.#awaiting = undefined;
    }
  }
}
