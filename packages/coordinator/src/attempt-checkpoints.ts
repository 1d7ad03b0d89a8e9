import { setMaxListeners } from 'node:events';
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
import { reasonOf } from './abort.js';
import { CommitWatch } from './commit-watch.js';
import { complete, type CompletingAttempt, type Completion } from './completion.js';
import { SET_UP_PATIENCE_MS, entryOf, type Entry } from './entry.js';
import { expiryOf } from './expiry.js';
import { giveUpCheckpoint, type Remains } from './give-up.js';
import type { CheckpointedJob } from './job.js';
import { PendingCheckpoint } from './pending-checkpoint.js';
import { Requests, type Asked } from './requests.js';
import { PeriodicSchedule } from './schedule.js';
import { createLocation, sendBarriers } from './set-up.js';
import type { SavepointWish } from './savepoint.js';
import type { CheckpointRequest } from './trigger.js';
import { within } from './within.js';

/** For how long the end of an attempt waits for answers of the storage. What is published by then is what the next attempt goes back to. */
const END_GRACE_MS = 10_000;
/** The checkpoints of one running attempt, from request to end. What is decided elsewhere is done here; nothing of it outlives the attempt. */
export class AttemptCheckpoints implements CompletingAttempt {
  readonly gateway: AttemptGateway;
  readonly restoredFrom: RestoredFrom | undefined;
  readonly plan: PlanDescription;
  readonly commits: CommitWatch;
  readonly #job: CheckpointedJob;
  readonly #schedule: PeriodicSchedule | undefined;
  readonly #requests: Requests;
  readonly #ending = new AbortController();
  readonly #entries = new Map<CheckpointId, Entry>();
  /** What is being written, apart from `_metadata`. */
  readonly #writing = new Set<Promise<unknown>>();
  /** The checkpoint that is published last, of those that the job falls back to. */
  #lastPublished: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(
    job: CheckpointedJob,
    gateway: AttemptGateway,
    run: { readonly restoredFrom: RestoredFrom | undefined; readonly plan: PlanDescription },
  ) {
    const { clock, random, settings } = job.context;
    const { intervalMs, minPauseMs } = settings;
    this.#job = job;
    // Commits that are under way listen, each for its checkpoint.
    setMaxListeners(0, this.#ending.signal);
    this.gateway = gateway;
    this.restoredFrom = run.restoredFrom;
    this.plan = run.plan;
    this.commits = new CommitWatch(job);
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

  /** Those under way are given up as well, unless they are being published. */
  abortPeriodic(): void {
    this.stopPeriodic();
    for (const { pending } of [...this.#entries.values()])
      if (pending.trigger === 'periodic' && pending.isOpen())
        this.giveUp(pending, 'PERIODIC_SCHEDULER_SHUTDOWN', undefined);
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
    if (entry.pending.isFullyAcknowledged) this.#publish(entry);
  }

  /** Starts what may start: something has changed. */
  look(): void {
    const { context, ledger } = this.#job;
    const pending = [...this.#entries.values()].map((entry) => entry.pending);
    const asked = this.#requests.next({
      isTriggering: pending.some((p) => p.phase === 'setting-up'),
      pending: pending.filter((p) => p.savepoint === undefined || p.isOpen()).length,
      collecting: pending.filter((p) => p.isOpen()).length,
      lastEndedAt: ledger.lastEndedAt,
      now: context.clock.monotonic(),
    });
    if (asked === undefined) this.#makeWay();
    else if (this.#refuses(asked)) this.look();
    // That one is being set up now, so no other can start before it is done with that.
    else void this.#trigger(asked);
  }

  /** Ends everything that can still be ended. A checkpoint that is being published may still complete, if the storage answers soon. */
  async end(reason: 'CHECKPOINT_COORDINATOR_SUSPEND' | 'CHECKPOINT_COORDINATOR_SHUTDOWN'): Promise<void> {
    const attempt = String(this.gateway.attempt);
    const { context, cleaner, unanswered } = this.#job;
    this.#ending.abort(new WeirError('JOB_NOT_RUNNING', `Attempt ${attempt} of job ${context.job} has ended.`));
    this.#schedule?.stop();
    this.#requests.refuseAll(reason);
    for (const { pending, stopTimeout } of [...this.#entries.values()]) {
      // Of one that is being published nothing is left to time.
      stopTimeout();
      if (pending.isOpen()) this.giveUp(pending, reason, undefined);
    }
    const publications = [...this.#entries.values()].map((entry) => entry.over);
    const settled = Promise.all([...publications, Promise.allSettled(this.#writing)]);
    // What has just been published is marked as committed by then, or never.
    await within(
      context.clock,
      settled.then(() => Promise.allSettled(this.#writing)),
      END_GRACE_MS,
    );
    for (const call of this.#writing) unanswered.add(call);
    for (const entry of [...this.#entries.values()]) this.#abandon(entry, reason, expiryOf(entry.pending, 0));
    await within(context.clock, cleaner.idle(), END_GRACE_MS);
  }

  // What completing asks for.

  giveUp(pending: PendingCheckpoint, reason: AbortReason, error: unknown, remains: Remains = 'remove'): void {
    this.#giveUp(pending, reason, error, { remains, publication: undefined });
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
    const { clock, settings } = context;
    const { trigger, savepoint } = asked;
    const [triggeredAt, startedAt] = [clock.now(), clock.monotonic()];
    const checkpointId = ledger.takeId();
    const { subtasks } = this.gateway;
    const pending = new PendingCheckpoint({ id: checkpointId, trigger, savepoint, triggeredAt, startedAt, subtasks });
    const entry = entryOf(pending, asked, clock, {
      timeoutMs: settings.timeoutMs,
      expired: (late, blockedMs) => {
        this.#abandon(late, 'CHECKPOINT_EXPIRED', expiryOf(pending, blockedMs));
      },
      impatient: () => {
        this.look();
      },
    });
    this.#entries.set(checkpointId, entry);
    shared.triggered(checkpointId);
    statistics.triggered(checkpointId, triggeredAt, subtasks.length);
    context.emit({ kind: 'checkpoint-triggered', checkpointId, trigger });

    const creating = createLocation(pending, storage, (late) => {
      cleaner.clean({ checkpointId, remove: () => late.discard() });
    });
    this.writes(creating);
    try {
      await creating;
      await sendBarriers(pending, this.gateway, settings);
      entry.stopPatience();
      if (pending.phase === 'collecting') statistics.acked(checkpointId, pending.finished.size);
      // Nobody has to report where every subtask has finished.
      if (pending.isFullyAcknowledged) this.#publish(entry);
    } catch (error) {
      if (pending.isOpen()) this.giveUp(pending, reasonOf(error, 'TRIGGER_CHECKPOINT_FAILURE'), error);
    }
    this.look();
  }

  /**
   * Nobody waits for it any longer. What the storage has been asked to publish cannot be taken back, and may be complete; but neither the next
   * checkpoint nor whoever asked for this one waits for a storage that does not answer.
   */
  #abandon({ pending, publication }: Entry, reason: AbortReason, cause: string): void {
    if (!pending.isUnderWay()) return;
    const remains = pending.isHandedOver ? 'keep' : 'remove';
    if (publication !== undefined) this.#job.unanswered.add(publication);
    this.#giveUp(pending, reason, new Error(cause), { remains, publication });
  }

  /** Barriers leave in the order of ids, so one that takes too long to set up goes where it keeps savepoints and checkpoints from each other. */
  #makeWay(): void {
    const stuck = [...this.#entries.values()].find(({ pending }) => pending.phase === 'setting-up');
    if (stuck === undefined || !this.#requests.waitsBehind(stuck.asked)) return;
    if (this.#job.context.clock.monotonic() - stuck.pending.startedAt < SET_UP_PATIENCE_MS) return;
    this.#abandon(stuck, 'TRIGGER_CHECKPOINT_FAILURE', expiryOf(stuck.pending, 0));
  }

  /** Those that the job falls back to one after the other, so that they complete in the order of their ids; a savepoint is between it and the storage. */
  #publish(entry: Entry): void {
    const { pending } = entry;
    if (pending.savepoint !== undefined) {
      this.#complete(entry);
      return;
    }
    this.#lastPublished = this.#lastPublished.then(() => {
      this.#complete(entry);
      return entry.over;
    });
  }

  #complete(entry: Entry): void {
    const { pending } = entry;
    if (!pending.isFullyAcknowledged || pending.location === undefined) return;
    entry.publication = complete(pending, pending.location, this, this.#job)
      .catch((cause: unknown) => {
        // Whatever can fail in there is answered in there; anything else must not pass unseen, nor end the process.
        const message = `Completing checkpoint ${String(pending.id)} of job ${this.#job.context.job} broke off: ${messageOf(cause)}`;
        const failure = new WeirError('PROTOCOL_VIOLATION', message, { cause });
        this.#forget(pending)?.failed(failure);
        this.fail(failure);
      })
      .then(() => {
        this.look();
      });
    // It counts less from now on.
    this.look();
  }

  #giveUp(
    pending: PendingCheckpoint,
    reason: AbortReason,
    error: unknown,
    left: Parameters<typeof giveUpCheckpoint>[3],
  ): void {
    const asked = this.#forget(pending);
    const { failure, verdict } = giveUpCheckpoint(pending, reason, error, left, this.#job);
    asked?.failed(failure);
    this.#tellAborted(pending.id);
    try {
      if (verdict === 'exceeded') this.#failIntolerably(failure);
    } finally {
      this.look();
    }
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
    if (entry === undefined) return undefined;
    this.#entries.delete(pending.id);
    this.#job.shared.ended(pending.id);
    entry.stopTimeout();
    entry.stopPatience();
    entry.end();
    return entry.asked;
  }

  #failIntolerably(cause: WeirError): void {
    const { job, settings } = this.#job.context;
    const tolerable = String(settings.tolerableFailures);
    const message = `Job ${job} failed more checkpoints in a row than the ${tolerable} it tolerates; the last: ${cause.message}`;
    this.fail(new WeirError('CHECKPOINT_TOLERANCE_EXCEEDED', message, { cause }));
  }
}
