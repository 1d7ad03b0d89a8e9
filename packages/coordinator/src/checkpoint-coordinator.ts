import {
  WeirError,
  isWeirError,
  type AttemptGateway,
  type AttemptNumber,
  type AttemptStart,
  type CheckpointCoordinator,
  type CheckpointStatistics,
  type CheckpointStats,
  type CoordinatorContext,
  type Lineage,
  type PlanDescription,
  type RestoreFrom,
  type RestorePlan,
  type RestoredFrom,
  type StartDecision,
  type StopOptions,
  type StopSavepoint,
  type SubtaskReport,
} from '@weir/core/contracts';
import { AttemptCheckpoints } from './attempt-checkpoints.js';
import { Cleaner } from './cleaning.js';
import { endJob } from './ending.js';
import { FailureCounter } from './failure-counter.js';
import { takeFinalCheckpoint } from './final-checkpoint.js';
import { refuseRequest } from './give-up.js';
import { fenced, warn, type CheckpointedJob } from './job.js';
import { CompletedCheckpoints } from './completed-checkpoints.js';
import { closeStorage, findStartingPoint, openStorage, type OpenStorage, type StartingPoint } from './opening.js';
import { openNewest } from './open-newest.js';
import { cleanShared, removalOf } from './removal.js';
import { planRestore } from './restore.js';
import type { JobOutcome } from './retention.js';
import { openSharedFiles } from './open-shared-files.js';
import { savepointDirectory, type SavepointWish } from './savepoint.js';
import type { SharedFiles } from './shared-files.js';
import { StatisticsRecorder } from './statistics.js';
import { stopWithSavepoint } from './stop-with-savepoint.js';
import { UnansweredCalls } from './unanswered.js';

/** The attempt that may write, from `beginAttempt` to `attemptEnded`. */
interface CurrentAttempt {
  readonly number: AttemptNumber;
  readonly restoredFrom: RestoredFrom | undefined;
  readonly plan: PlanDescription;
  /** Once every subtask runs. */
  checkpoints: AttemptCheckpoints | undefined;
}

/** The checkpoints of one job, from its start to its end (Flink: CheckpointCoordinator). Wires the parts; what outlives an attempt is owned here. */
export class JobCheckpointCoordinator implements CheckpointCoordinator {
  readonly #context: CoordinatorContext;
  readonly #statistics: StatisticsRecorder;
  #job: CheckpointedJob | undefined;
  #lastAttempt: AttemptNumber = 0;
  #freshReason = '';
  #current: CurrentAttempt | undefined;
  #attemptEnd: Promise<void> = Promise.resolve();
  #end: Promise<void> | undefined;

  constructor(context: CoordinatorContext) {
    this.#context = context;
    this.#statistics = new StatisticsRecorder(context.clock, context.metrics, context.job);
  }

  async start(restoreFrom: RestoreFrom, signal: AbortSignal): Promise<StartDecision> {
    const open = await openStorage(this.#context, signal);
    let point: StartingPoint;
    let shared: SharedFiles;
    try {
      signal.throwIfAborted();
      point = await findStartingPoint(this.#context, open, restoreFrom);
      shared = await openSharedFiles(this.#context, open, point);
      if (point.clearsFinished) await open.storage.clearFinished();
    } catch (error) {
      await closeStorage(open, this.#context);
      throw error;
    }
    const job = this.#wire(open, point, shared);
    for (const stored of point.leftOver) job.cleaner.clean(removalOf(job, stored));
    cleanShared(job, 0);
    const { decision } = point;
    if (decision.kind === 'already-finished') {
      this.#end = endJob(job, 'suspended', point.lastAttempt);
      await this.#end;
      return decision;
    }
    this.#job = job;
    this.#lastAttempt = point.lastAttempt;
    if (decision.kind === 'fresh') this.#freshReason = decision.reason;
    return decision;
  }

  async beginAttempt(): Promise<AttemptStart> {
    const job = this.#started();
    await this.#attemptEnd;
    const { restore, plan } = await this.#planRestore(job).catch(async (error: unknown): Promise<never> => {
      // What another process has removed that has taken over is not damaged.
      const fence = await job.lock?.verify().catch((failure: unknown) => failure);
      throw isWeirError(fence, 'STORAGE_FENCED') ? fenced(this.#context, this.#lastAttempt, error) : error;
    });
    const number = this.#lastAttempt + 1;
    await job.lock?.recordAttempt(number);
    this.#lastAttempt = number;
    job.shared.attemptBegins(restore?.checkpointId ?? 0);
    if (restore === undefined) {
      this.#current = { number, restoredFrom: undefined, plan, checkpoints: undefined };
      this.#context.emit({ kind: 'fresh-start', reason: this.#freshReason });
      this.#freshReason = 'no checkpoint had completed before the attempt ended';
    } else {
      const { checkpointId, pointer } = restore;
      this.#current = { number, restoredFrom: { checkpointId, pointer }, plan, checkpoints: undefined };
      this.#statistics.restored(checkpointId);
      this.#context.emit({ kind: 'restored', checkpointId, pointer, attempt: number });
    }
    return { attempt: number, lineage: job.ledger.lineage, restore };
  }

  branch(attempt: AttemptNumber): Lineage {
    const { ledger } = this.#started();
    if (attempt !== this.#current?.number) throw fenced(this.#context, attempt);
    ledger.branch(this.#context.newId());
    return ledger.lineage;
  }

  attemptRunning(gateway: AttemptGateway): void {
    const job = this.#started();
    const current = this.#current;
    if (current?.number !== gateway.attempt || current.checkpoints !== undefined) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Attempt ${String(gateway.attempt)} of job ${this.#context.job} was reported running without having begun.`,
      );
    }
    // Everything was restored and its output committed, so what is older has no use any more.
    job.unpublished.clear();
    for (const stored of job.ledger.subsume()) job.cleaner.clean(removalOf(job, stored));
    job.cleaner.retryBelow(job.ledger.newestId);
    cleanShared(job, job.ledger.newestId);
    current.checkpoints = new AttemptCheckpoints(job, gateway, current);
  }

  receive(report: SubtaskReport): void {
    if (report.attempt === this.#current?.number) this.#current.checkpoints?.receive(report);
    else
      this.#context.logger.debug(
        { attempt: report.attempt, checkpointId: report.checkpointId },
        'report of an attempt that is over',
      );
  }

  async triggerCheckpoint(): Promise<CheckpointStats> {
    const { stats } = await this.#running('manual').request('manual');
    return stats;
  }

  async triggerSavepoint(directory?: string): Promise<CheckpointStats> {
    const checkpoints = this.#running('savepoint');
    const { stats } = await checkpoints.request('savepoint', this.#savepoint(directory, undefined));
    return stats;
  }

  async stopWithSavepoint({ directory, drain }: StopOptions): Promise<StopSavepoint> {
    const checkpoints = this.#running('stop');
    return stopWithSavepoint(checkpoints, this.#savepoint(directory, drain ? 'drain' : 'suspend'));
  }

  async finalCheckpoint(): Promise<void> {
    const checkpoints = this.#current?.checkpoints;
    if (checkpoints === undefined) {
      throw new WeirError('JOB_NOT_RUNNING', `Job ${this.#context.job} does not run, so it has no final checkpoint.`);
    }
    await takeFinalCheckpoint(checkpoints, this.#context.clock);
  }

  attemptEnded(attempt: AttemptNumber): Promise<void> {
    return this.#endAttempt(attempt, 'CHECKPOINT_COORDINATOR_SUSPEND');
  }

  async verify(attempt: AttemptNumber): Promise<void> {
    await (attempt === this.#current?.number ? this.#job?.lock?.verify() : undefined);
    if (attempt !== this.#current?.number) throw fenced(this.#context, attempt);
  }

  end(outcome: JobOutcome): Promise<void> {
    this.#end ??= this.#endJob(outcome);
    return this.#end;
  }

  statistics(): CheckpointStatistics {
    return this.#statistics.read();
  }

  async #endJob(outcome: JobOutcome): Promise<void> {
    if (this.#current !== undefined) void this.#endAttempt(this.#current.number, 'CHECKPOINT_COORDINATOR_SHUTDOWN');
    await this.#attemptEnd;
    if (this.#job === undefined) this.#statistics.close();
    else await endJob(this.#job, outcome, this.#lastAttempt);
  }

  #endAttempt(
    attempt: AttemptNumber,
    reason: 'CHECKPOINT_COORDINATOR_SUSPEND' | 'CHECKPOINT_COORDINATOR_SHUTDOWN',
  ): Promise<void> {
    if (this.#current?.number === attempt) {
      const { checkpoints } = this.#current;
      this.#current = undefined;
      this.#attemptEnd = checkpoints?.end(reason) ?? Promise.resolve();
    }
    return this.#attemptEnd;
  }

  /** The newest completed checkpoint by now; until this run has one of its own, that is the one it started from. */
  async #planRestore(
    job: CheckpointedJob,
  ): Promise<{ readonly restore: RestorePlan | undefined; readonly plan: PlanDescription }> {
    const open = await openNewest(job);
    if (open === undefined) return { restore: undefined, plan: this.#context.plan };
    const newest = job.ledger.completed.at(-1) ?? { owner: 'user' };
    const planned = planRestore(open, newest, job.storage, this.#context);
    // The next checkpoints may be made of it. When the job started it could perhaps not be read.
    if (planned.restore.isOwned) job.shared.found(open.stored, open.metadata);
    return planned;
  }

  #running(trigger: 'manual' | 'savepoint' | 'stop'): AttemptCheckpoints {
    const checkpoints = this.#current?.checkpoints;
    if (checkpoints !== undefined) return checkpoints;
    const reason = this.#end === undefined ? 'NOT_ALL_REQUIRED_TASKS_RUNNING' : 'CHECKPOINT_COORDINATOR_SHUTDOWN';
    throw refuseRequest(trigger, reason, this.#context, this.#statistics);
  }

  #savepoint(directory: string | undefined, stop: SavepointWish['stop']): SavepointWish {
    return { directory: savepointDirectory(this.#context, this.#started().storage, directory), stop };
  }

  #wire({ storage, lock }: OpenStorage, point: StartingPoint, shared: SharedFiles): CheckpointedJob {
    const context = this.#context;
    const { numRetained, tolerableFailures } = context.settings;
    const unanswered = new UnansweredCalls();
    const job: CheckpointedJob = {
      context,
      storage,
      lock,
      shared,
      ledger: new CompletedCheckpoints({
        lineage: point.decision.lineage,
        keptForUser: point.keptForUser,
        nextId: point.nextId,
        completed: point.completed,
        numRetained,
      }),
      failures: new FailureCounter(tolerableFailures),
      unanswered,
      unpublished: new Set(point.unpublished),
      statistics: this.#statistics,
      cleaner: new Cleaner({
        clock: context.clock,
        unanswered,
        verifyLock: async () => lock?.verify(),
        report: (message, error) => {
          warn(context, `Job ${context.job}: ${message}`, error);
        },
      }),
    };
    this.#statistics.watch({
      uncommitted: () => job.unpublished.size,
      removalsWaiting: () => job.cleaner.waiting,
    });
    return job;
  }

  #started(): CheckpointedJob {
    if (this.#job !== undefined && this.#end === undefined) return this.#job;
    throw new WeirError('JOB_NOT_RUNNING', `Job ${this.#context.job} has not started, or is over.`);
  }
}
