import type { Clock, Random } from '../contracts/clock.js';
import { sleep } from '../contracts/clock.js';
import type {
  AttemptStart,
  CheckpointCoordinator,
  RestoreFrom,
  StartDecision,
  StopOptions,
  StopSavepoint,
} from '../contracts/coordinator.js';
import type { CheckpointStats, JobEventBody, JobStatus } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import type { RestartStrategy } from '../contracts/restart-strategy.js';
import { untilAborted } from '../contracts/until-aborted.js';
import { withinTime } from '../contracts/within-time.js';
import type { AttemptNumber, JobName, Lineage } from '../element/ids.js';
import { isRecoverable, isWeirError, messageOf, WeirError } from '../errors.js';
import { classifyFailure } from '../failures.js';
import type { OperatorEnd } from '../operator/operator.js';
import type { Attempt } from './attempt.js';
import { FailureRow, repeated } from './failure-row.js';
import { materializeStacks } from './materialize-stacks.js';
import { Stopping } from './stopping.js';

export interface JobRunOptions {
  readonly job: JobName;
  /** Undefined: no checkpoints are taken. */
  readonly coordinator: CheckpointCoordinator | undefined;
  readonly restart: RestartStrategy;
  readonly restoreFrom: RestoreFrom;
  readonly cancellationTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly makeAttempt: (start: AttemptStart) => Attempt;
  readonly emit: (event: JobEventBody) => void;
  readonly onStatus: (status: JobStatus) => void;
  /** Aborts when the user cancels. */
  readonly cancel: AbortSignal;
  /** The cancel ends the job as a crash would: everything needed to resume it stays. */
  readonly keepOnCancel: () => boolean;
}

type AttemptOutcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly drained: boolean }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: unknown };
/** How a job ended that did not fail. */
type JobEnd = Exclude<AttemptOutcome['kind'], 'failed'>;

const LATE = new Error('too late');
/** For how long a failure is held back to see whether another process has taken over. */
const FENCE_MS = 10_000;

type CheckpointsEnd = Parameters<CheckpointCoordinator['end']>[0];

/** A job from start to end: attempt after attempt, each begun only when the one before is confirmed dead (Flink: ExecutionFailureHandler). */
export class JobRun {
  readonly #options: JobRunOptions;
  #lastAttempt: AttemptNumber = 0;
  /** What the restart strategy remembers. */
  #memory: unknown;
  #restarts = 0;
  readonly #failures = new FailureRow();
  /** A failure is later than the restart before it, also where a timer fires early or a virtual clock stands still. */
  #earliestFailure = 0;
  #lineage: Lineage;
  #current: Attempt | undefined;
  /** While all subtasks of an attempt run. */
  #stopping: Stopping | undefined;

  constructor(options: JobRunOptions) {
    this.#options = options;
    this.#memory = options.restart.initial();
    this.#lineage = options.newId();
  }

  /** Settles when the job has ended; rejects if it failed. Nothing of it runs afterwards. */
  async run(): Promise<JobEnd> {
    const { coordinator, onStatus, cancel } = this.#options;
    onStatus('starting');
    try {
      if (coordinator !== undefined && (await this.#isAlreadyFinished(coordinator))) {
        await coordinator.end('suspended');
        return 'finished';
      }
      const end = await this.#runAttempts();
      await this.#endCheckpoints(this.#endFor(end));
      return end;
    } catch (error) {
      if (cancel.aborted && error === cancel.reason) {
        await this.#endCheckpoints(this.#endFor('cancelled'));
        return 'cancelled';
      }
      // What is left of an attempt may still write: the lock stays with this process, so that no other one starts beside it.
      if (isWeirError(error, 'CANCELLATION_TIMEOUT')) throw error;
      await this.#endCheckpoints('failed').catch((failure: unknown) => {
        this.#options.logger.error({ err: failure }, 'closing the checkpoint coordinator of a failed job failed too');
      });
      throw error;
    }
  }

  /** Failures since the latest completed checkpoint. */
  get failuresInARow(): number {
    return this.#failures.length;
  }
  /** One that the job falls back to. */
  checkpointCompleted(): void {
    this.#failures.checkpointCompleted();
  }

  /** Fails the running attempt, if it still is `attempt`. */
  failAttempt(attempt: AttemptNumber, error: unknown): void {
    if (this.#current?.attempt === attempt) this.#current.fail(error);
  }

  /** Takes a savepoint and, once it is complete, ends the job with it. A savepoint that fails leaves the job running, and rejects. */
  async stopWithSavepoint(options: StopOptions): Promise<CheckpointStats> {
    const { coordinator, job } = this.#options;
    const stopping = this.#stopping;
    if (coordinator === undefined || stopping === undefined)
      throw new WeirError(
        'JOB_NOT_RUNNING',
        `Job ${job} cannot be stopped with a savepoint now: it is starting, or at its end.`,
      );
    if (stopping.isUnderWay) throw new WeirError('JOB_NOT_RUNNING', `Job ${job} is being stopped already.`);
    const savepoint = coordinator.stopWithSavepoint(options);
    stopping.follow(savepoint, options.drain);
    return (await savepoint).stats;
  }

  async #endCheckpoints(outcome: CheckpointsEnd): Promise<void> {
    const { coordinator, clock, cancellationTimeoutMs, job } = this.#options;
    if (coordinator === undefined) return;
    const timeout = new WeirError(
      'STORAGE_FAILED',
      `The checkpoint storage of job ${job} did not answer within ${String(cancellationTimeoutMs)} ms at the end of the job (${outcome}).`,
    );
    await withinTime(clock, coordinator.end(outcome), cancellationTimeoutMs, timeout);
  }

  #endFor(end: JobEnd): CheckpointsEnd {
    return end === 'cancelled' && this.#options.keepOnCancel() ? 'suspended' : end;
  }

  async #isAlreadyFinished(coordinator: CheckpointCoordinator): Promise<boolean> {
    const { emit, job } = this.#options;
    const decision = await this.#startCheckpoints(coordinator);
    if (decision.kind !== 'already-finished') return false;
    const message = `Job ${job} has already finished. Pass restoreFrom: 'none' to run it again from the beginning.`;
    emit({ kind: 'warning', message });
    return true;
  }

  /** What passes by itself is tried again as the restart strategy says. Anything else ends the job: nothing has run, so whoever started it can mend it. */
  async #startCheckpoints(coordinator: CheckpointCoordinator): Promise<StartDecision> {
    const { restoreFrom, cancel, emit, onStatus } = this.#options;
    for (;;) {
      try {
        return await coordinator.start(restoreFrom, cancel);
      } catch (error) {
        if (cancel.aborted || classifyFailure(error) !== 'transient') throw error;
        emit({ kind: 'failure', attempt: this.#lastAttempt, error });
        await this.#waitForRestart(error);
        onStatus('starting');
      }
    }
  }

  async #runAttempts(): Promise<JobEnd> {
    for (;;) {
      const outcome = await this.#runAttempt();
      if (outcome.kind !== 'failed') return outcome.kind;
      const { error } = outcome;
      materializeStacks(error);
      // Before anybody who listens can change it.
      const mayRestart = isRecoverable(error);
      this.#options.emit({ kind: 'failure', attempt: this.#lastAttempt, error });
      if (!mayRestart) throw error;
      await this.#waitForRestart(error);
    }
  }

  /** Asks the restart strategy, and waits as long as it says. Fails if it gives up. */
  async #waitForRestart(error: unknown): Promise<void> {
    const { coordinator, restart, clock, random, cancel, emit, onStatus, job, logger } = this.#options;
    const now = Math.max(clock.monotonic(), this.#earliestFailure);
    const failed = this.#failures.failed();
    const progressed = coordinator === undefined || failed.progressed;
    const [remembered, decision] = restart.decide(this.#memory, error, { now, random, progressed });
    this.#memory = remembered;
    const message = coordinator === undefined ? undefined : repeated(job, failed, error);
    if (message !== undefined)
      emit({ kind: 'failure-repeated', attempt: this.#lastAttempt, inARow: failed.inARow, error, message });
    if (!decision.restart) {
      if (restart.type === 'none') throw error;
      throw new WeirError(
        'RESTART_SUPPRESSED',
        `Job ${job} failed and is not restarted by ${restart.description}: ${decision.reason}. The failure was: ${messageOf(error)}`,
        { cause: error },
      );
    }
    const { delayMs } = decision;
    const restarts = ++this.#restarts;
    onStatus('restarting');
    emit({ kind: 'restart', attempt: this.#lastAttempt, delayMs, restarts });
    logger.warn({ restart: restarts, delayMs }, 'the job will be restarted');
    this.#earliestFailure = now + delayMs + 1;
    await sleep(clock, delayMs, cancel);
  }

  async #runAttempt(): Promise<AttemptOutcome> {
    const { coordinator, cancel, makeAttempt, onStatus, emit } = this.#options;
    let start: AttemptStart;
    try {
      start = await this.#begin();
    } catch (error) {
      // The storage may be back at the next try; what cannot be restored at all says that a restart does not help.
      return cancel.aborted ? { kind: 'cancelled' } : { kind: 'failed', error };
    }
    if (this.#restarts > 0 || start.restore !== undefined) onStatus('restoring');
    const attempt = makeAttempt(start);
    this.#current = attempt;
    const { signal } = attempt;
    const stopping = new Stopping();
    const onCancel = (): void => {
      onStatus('cancelling');
      attempt.fail(cancel.reason);
    };
    cancel.addEventListener('abort', onCancel, { once: true });
    let outcome: AttemptOutcome = { kind: 'finished' };
    try {
      cancel.throwIfAborted();
      await untilAborted(attempt.open(), signal);
      emit({ kind: 'attempt-started', attempt: start.attempt, restoredCheckpoint: start.restore?.checkpointId });
      onStatus('running');
      coordinator?.attemptRunning(attempt);
      attempt.start();
      this.#stopping = stopping;
      await stopping.completedOr(attempt.allEnded);
      // Also if all data has ended: a savepoint that is complete is what the job ends with.
      const stop = await untilAborted(stopping.outcome(), signal);
      this.#stopping = undefined;
      onStatus('finishing');
      if (stop !== undefined) {
        await untilAborted(stop.committed, signal);
        outcome = { kind: 'stopped', drained: stopping.drains };
      } else if (coordinator !== undefined) {
        await untilAborted(coordinator.finalCheckpoint(), signal);
      }
    } catch (error) {
      attempt.fail(error);
      outcome = cancel.aborted
        ? { kind: 'cancelled' }
        : { kind: 'failed', error: await this.#reasonFor(error, attempt) };
    } finally {
      this.#stopping = undefined;
      cancel.removeEventListener('abort', onCancel);
    }
    await this.#end(attempt, outcome);
    // Also one that was published while the attempt failed. What it covers is committed by whoever restores it, and by nobody else.
    if (outcome.kind === 'failed' && (await stopping.outcome()) !== undefined)
      return { kind: 'failed', error: this.#stopFailure(stopping.taken as StopSavepoint, outcome.error) };
    return outcome;
  }

  /** A process that another one has taken over from fails in many ways, of which only that is the reason. */
  async #reasonFor(error: unknown, { attempt }: Attempt): Promise<unknown> {
    const { coordinator, clock } = this.#options;
    if (coordinator === undefined || isWeirError(error, 'STORAGE_FENCED')) return error;
    try {
      await withinTime(clock, coordinator.verify(attempt), FENCE_MS, LATE);
    } catch (fence) {
      // Also where the storage says so of every error that it has: the first is the cause.
      if (isWeirError(fence, 'STORAGE_FENCED'))
        return new WeirError('STORAGE_FENCED', fence.message.slice('STORAGE_FENCED: '.length), {
          cause: error,
          recoverable: false,
        });
    }
    return error;
  }

  #stopFailure({ stats }: StopSavepoint, cause: unknown): WeirError {
    return new WeirError(
      'STOP_FAILED',
      `Job ${this.#options.job} failed before it had stopped with its savepoint, which is complete: ${stats.pointer}. Start it from there. ` +
        `The failure was: ${messageOf(cause)}`,
      { cause, recoverable: false },
    );
  }

  async #begin(): Promise<AttemptStart> {
    const { coordinator } = this.#options;
    const start =
      coordinator === undefined
        ? { attempt: this.#lastAttempt + 1, lineage: this.#lineage, restore: undefined }
        : await coordinator.beginAttempt();
    this.#lastAttempt = start.attempt;
    this.#lineage = start.lineage;
    return start;
  }

  /** Confirms that the attempt is dead: no next one may start beside it. */
  async #end(attempt: Attempt, outcome: AttemptOutcome): Promise<void> {
    const { coordinator, clock, cancellationTimeoutMs, job, logger } = this.#options;
    const end = operatorEnd(outcome);
    const closed = async (): Promise<void> => {
      try {
        await attempt.close(end);
      } catch (error) {
        // A cancelled job without checkpoints publishes what it has when it closes: failing to do so is a failure of the job.
        if (end === 'cancelled' && coordinator === undefined) throw error;
        logger.warn({ attempt: attempt.attempt, err: error }, 'closing an attempt reported an error');
      }
    };
    const storage = { isDone: false };
    const dead = (async (): Promise<void> => {
      try {
        await coordinator?.attemptEnded(attempt.attempt);
      } finally {
        storage.isDone = true;
        await closed();
      }
    })();
    try {
      await withinTime(clock, dead, cancellationTimeoutMs, LATE);
    } catch (error) {
      if (error !== LATE) throw error;
      const waitsFor = storage.isDone ? attempt.waitsFor : 'the checkpoint storage, for checkpoints under way';
      throw new WeirError(
        'CANCELLATION_TIMEOUT',
        `Attempt ${String(attempt.attempt)} of job ${job} did not end within ${String(cancellationTimeoutMs)} ms, so no other may start. It waits ` +
          `for ${waitsFor ?? 'the enumerator of a source'}. End the process to be sure that it is gone.`,
        { recoverable: false, cause: outcome.kind === 'failed' ? outcome.error : undefined },
      );
    }
    this.#current = undefined;
  }
}

/** A job that was drained is at its end; one that stops where it stands is ended by the user, and nothing of what follows the savepoint may show. */
function operatorEnd(outcome: AttemptOutcome): OperatorEnd {
  if (outcome.kind === 'stopped') return outcome.drained ? 'finished' : 'cancelled';
  return outcome.kind;
}
