import {
  WeirError,
  messageOf,
  type AbortReason,
  type AttemptGateway,
  type CheckpointId,
  type PlanDescription,
  type RestoredFrom,
  type SubtaskReport,
} from '@weir/core/contracts';
import { checkpointFailed, reasonOf } from './abort.js';
import { complete, type CompletingAttempt, type Completion } from './completion.js';
import { giveUpCheckpoint, type Remains } from './give-up.js';
import { warn, type CheckpointedJob } from './job.js';
import { PendingCheckpoint } from './pending-checkpoint.js';
import { Requests, type Asked } from './requests.js';
import { PeriodicSchedule } from './schedule.js';
import { createLocation, sendBarriers } from './set-up.js';
import type { SavepointWish } from './savepoint.js';
import type { CheckpointRequest } from './trigger.js';

interface Entry {
  readonly pending: PendingCheckpoint;
  readonly asked: Asked;
  stopTimeout: () => void;
}

/** The checkpoints of one running attempt, from request to end. What is decided elsewhere is done here; nothing of it outlives the attempt. */
export class AttemptCheckpoints implements CompletingAttempt {
  readonly gateway: AttemptGateway;
  readonly restoredFrom: RestoredFrom | undefined;
  readonly plan: PlanDescription;
  readonly #job: CheckpointedJob;
  readonly #schedule: PeriodicSchedule | undefined;
  readonly #requests: Requests;
  readonly #ending = new AbortController();
  readonly #entries = new Map<CheckpointId, Entry>();
  /** What is being written, apart from `_metadata`. */
  readonly #writing = new Set<Promise<unknown>>();
  #publishing: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(
    job: CheckpointedJob,
    gateway: AttemptGateway,
    run: { readonly restoredFrom: RestoredFrom | undefined; readonly plan: PlanDescription },
  ) {
    const { clock, random, settings } = job.context;
    const { intervalMs, minPauseMs } = settings;
    this.#job = job;
    this.gateway = gateway;
    this.restoredFrom = run.restoredFrom;
    this.plan = run.plan;
    this.#requests = new Requests(job, (delayMs) => this.#schedule?.postpone(delayMs));
    if (intervalMs === undefined) return;
    const fire = (): void => {
      // Nobody waits for a periodic checkpoint: its fate is told by events and statistics.
      this.request('periodic').catch(() => undefined);
    };
    this.#schedule = new PeriodicSchedule({ clock, random, timing: { intervalMs, minPauseMs }, fire });
    this.#schedule.start();
  }

  /** Aborts when the attempt ends. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }
  /** Why this attempt was failed from here. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  request(trigger: CheckpointRequest['trigger'], savepoint?: SavepointWish): Promise<Completion> {
    const outcome = this.#requests.add(trigger, savepoint);
    this.look();
    return outcome;
  }

  /** No more periodic checkpoints; those under way go on. */
  stopPeriodic(): void {
    this.#schedule?.stop();
    this.#requests.refusePeriodic('PERIODIC_SCHEDULER_SHUTDOWN');
  }

  /** Periodic checkpoints come again, as at the start. */
  startPeriodic(): void {
    this.#schedule?.start();
  }

  receive(report: SubtaskReport): void {
    const { context, statistics } = this.#job;
    const entry = this.#entries.get(report.checkpointId);
    if (report.kind === 'decline') {
      if (entry?.pending.isOpen() === true) this.giveUp(entry.pending, report.reason, report.error);
      return;
    }
    // Nothing is kept of an answer that is not accepted. What it wrote lies in the checkpoint's location, and goes with it.
    const { checkpointId, subtask, stateBytes } = report;
    const answer = entry?.pending.acknowledge(report) ?? 'late';
    if (entry === undefined || answer !== 'accepted') {
      context.logger.debug({ checkpointId, subtask, answer }, 'acknowledgement ignored');
      return;
    }
    statistics.acked(checkpointId);
    context.emit({ kind: 'checkpoint-acked', checkpointId, subtask, stateBytes });
    if (entry.pending.isFullyAcknowledged) this.#publish(entry.pending);
  }

  /** Starts what may start: something has changed. */
  look(): void {
    const { context, ledger, cleaner } = this.#job;
    const pending = [...this.#entries.values()].map((entry) => entry.pending);
    const asked = this.#requests.next({
      isTriggering: pending.some((p) => p.phase === 'setting-up'),
      pending: pending.length,
      cleaning: cleaner.cleaning,
      lastCompletedAt: ledger.lastCompletedAt,
      now: context.clock.monotonic(),
    });
    if (asked === undefined) return;
    if (this.#refuses(asked)) this.look();
    // That one is being set up now, so no other can start before it is done with that.
    else void this.#trigger(asked);
  }

  /** Ends everything that can still be ended; settles when no write is under way. A checkpoint that is being published may still complete. */
  async end(reason: 'CHECKPOINT_COORDINATOR_SUSPEND' | 'CHECKPOINT_COORDINATOR_SHUTDOWN'): Promise<void> {
    const attempt = String(this.gateway.attempt);
    this.#ending.abort(
      new WeirError('JOB_NOT_RUNNING', `Attempt ${attempt} of job ${this.#job.context.job} has ended.`),
    );
    this.#schedule?.stop();
    this.#requests.refuseAll(reason);
    for (const { pending, stopTimeout } of [...this.#entries.values()]) {
      // Of one that is being published nothing is left to time: whoever ends the attempt bounds how long that may take.
      stopTimeout();
      if (pending.isOpen()) this.giveUp(pending, reason, undefined);
    }
    await Promise.allSettled(this.#writing);
    await this.#publishing;
    await Promise.allSettled(this.#writing);
    await this.#job.cleaner.idle();
  }

  // What completing asks for.

  giveUp(pending: PendingCheckpoint, reason: AbortReason, error: unknown, remains: Remains = 'remove'): void {
    const asked = this.#forget(pending);
    const { failure, verdict } = giveUpCheckpoint(pending, reason, error, remains, this.#job);
    asked?.failed(failure);
    this.#tellAborted(pending.id);
    try {
      if (verdict === 'exceeded') this.#failIntolerably(failure);
    } finally {
      this.look();
    }
  }

  answer(pending: PendingCheckpoint, completion: Completion): void {
    this.#forget(pending)?.completed(completion);
  }

  writes(writing: Promise<unknown>): void {
    this.#writing.add(writing);
    const settled = (): void => void this.#writing.delete(writing);
    writing.then(settled, settled);
  }

  abortOlder(than: CheckpointId): void {
    for (const { pending } of [...this.#entries.values()]) {
      // A savepoint is somebody's, whatever else is complete.
      const isSuperfluous = pending.id < than && pending.savepoint === undefined;
      if (isSuperfluous && pending.isOpen()) this.giveUp(pending, 'CHECKPOINT_SUBSUMED', undefined);
    }
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#job.context.failAttempt(this.gateway.attempt, error);
  }

  /** Without checkpoints after subtasks have finished, the final one is the only one left then. */
  #refuses(asked: Asked): boolean {
    const { settings } = this.#job.context;
    if (settings.checkpointsAfterFinish || asked.trigger === 'final' || this.gateway.finished.size === 0) return false;
    this.#requests.refuse(asked, 'NOT_ALL_REQUIRED_TASKS_RUNNING');
    return true;
  }

  async #trigger(asked: Asked): Promise<void> {
    const { context, storage, ledger, shared, statistics, cleaner } = this.#job;
    const { clock } = context;
    const { trigger, savepoint } = asked;
    const triggeredAt = clock.now();
    const checkpointId = ledger.takeId();
    const { subtasks } = this.gateway;
    const pending = new PendingCheckpoint({
      id: checkpointId,
      trigger,
      savepoint,
      triggeredAt,
      startedAt: clock.monotonic(),
      subtasks,
    });
    // The timeout covers storage and enumerators too, but not the time in the queue.
    const entry: Entry = { pending, asked, stopTimeout: () => undefined };
    this.#entries.set(checkpointId, entry);
    shared.triggered(checkpointId);
    this.#armTimeout(entry);
    statistics.triggered(checkpointId, triggeredAt, subtasks.length);
    context.emit({ kind: 'checkpoint-triggered', checkpointId, trigger });

    const creating = createLocation(pending, storage, (late) => {
      cleaner.clean({ checkpointId, remove: () => late.discard() });
    });
    this.writes(creating);
    try {
      await creating;
      await sendBarriers(pending, this.gateway, context.settings);
      if (pending.phase === 'collecting') statistics.acked(checkpointId, pending.finished.size);
      // Nobody has to report where every subtask has finished.
      if (pending.isFullyAcknowledged) this.#publish(pending);
    } catch (error) {
      if (pending.isOpen()) this.giveUp(pending, reasonOf(error, 'TRIGGER_CHECKPOINT_FAILURE'), error);
    }
    this.look();
  }

  #armTimeout(entry: Entry): void {
    const { clock, settings } = this.#job.context;
    entry.stopTimeout = clock.timer(settings.timeoutMs, () => {
      if (entry.pending.isOpen()) this.giveUp(entry.pending, 'CHECKPOINT_EXPIRED', undefined);
      else this.#publishingIsLate(entry);
    });
  }

  /** What is being published cannot be taken back, but a storage that hangs must not keep the job without checkpoints for ever. */
  #publishingIsLate(entry: Entry): void {
    const { context, failures } = this.#job;
    const { id, savepoint } = entry.pending;
    const cause = new Error('the storage has not answered since its metadata was handed over');
    const failure = checkpointFailed(context.job, id, 'CHECKPOINT_EXPIRED', cause);
    warn(context, `Checkpoint ${String(id)} is still being published after its timeout.`);
    this.#armTimeout(entry);
    // A user who waits for a savepoint is no reason to end the job, unless the job stands still for it.
    if (savepoint !== undefined && savepoint.stop === undefined) return;
    // Without an id, because each further timeout counts again.
    if (failures.failed('CHECKPOINT_EXPIRED', undefined) === 'exceeded') this.#failIntolerably(failure);
  }

  /** One after the other, so that checkpoints complete in the order of their ids. */
  #publish(pending: PendingCheckpoint): void {
    this.#publishing = this.#publishing
      .then(async () => {
        const { location } = pending;
        if (!pending.isFullyAcknowledged || location === undefined) return;
        await complete(pending, location, this, this.#job);
        this.look();
      })
      .catch((cause: unknown) => {
        // Whatever can fail in there is answered in there; anything else must not pass unseen, nor end the process.
        const message = `Completing checkpoint ${String(pending.id)} of job ${this.#job.context.job} broke off: ${messageOf(cause)}`;
        this.fail(new WeirError('PROTOCOL_VIOLATION', message, { cause }));
      });
  }

  #tellAborted(checkpointId: CheckpointId): void {
    if (this.signal.aborted) return;
    try {
      this.gateway.aborted(checkpointId, this.#job.ledger.newestId);
    } catch (error) {
      const text = 'subtasks could not be told that a checkpoint was aborted';
      this.#job.context.logger.warn({ checkpointId, err: error }, text);
    }
  }

  #forget(pending: PendingCheckpoint): Asked | undefined {
    const entry = this.#entries.get(pending.id);
    this.#entries.delete(pending.id);
    this.#job.shared.ended(pending.id);
    entry?.stopTimeout();
    return entry?.asked;
  }

  #failIntolerably(cause: WeirError): void {
    const { job, settings } = this.#job.context;
    const tolerable = String(settings.tolerableFailures);
    const message = `Job ${job} failed more checkpoints in a row than the ${tolerable} it tolerates; the last: ${cause.message}`;
    this.fail(new WeirError('CHECKPOINT_TOLERANCE_EXCEEDED', message, { cause }));
  }
}
