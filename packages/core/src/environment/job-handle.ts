import { BehaviorSubject, ReplaySubject, type Observable } from 'rxjs';
import type { CheckpointCoordinator, CheckpointStatistics, StopOptions } from '../contracts/coordinator.js';
import { GuardedObservable } from '../contracts/guarded-observable.js';
import type { CheckpointStats, JobEvent, JobStatus } from '../contracts/job-events.js';
import type { JobName } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';

/** Events that a late subscriber still gets. */
const REPLAYED_EVENTS = 1000;

/** A running job, seen from outside. Subscribing and unsubscribing never touch it. */
export interface JobHandle extends AsyncDisposable {
  readonly name: JobName;
  /** The present status and every change; completes when the job has ended, never errors. */
  readonly status$: Observable<JobStatus>;
  readonly status: JobStatus;
  /**
   * What happens, the last 1,000 replayed; completes when the job has ended, never errors. What a subscriber throws is in the log, and touches
   * nothing.
   */
  readonly events$: Observable<JobEvent>;
  /** How the job ended; rejects if it failed. Nothing of the job runs any more when it settles. */
  readonly done: Promise<JobEnd>;
  /** Takes a checkpoint now, whatever the schedule says. Rejects with CHECKPOINT_FAILED naming the reason, or JOB_NOT_RUNNING. */
  triggerCheckpoint(): Promise<CheckpointStats>;
  /**
   * Takes a savepoint in a new folder of `dir`, else of the storage's own directory for savepoints; `pointer` of the result says where. It is
   * yours: weir never removes it, nor restores it unless it is named. Rejects with SAVEPOINT_NOWHERE, CHECKPOINT_FAILED or JOB_NOT_RUNNING.
   */
  triggerSavepoint(dir?: string): Promise<CheckpointStats>;
  /**
   * Takes a savepoint behind which no record moves, publishes what it covers, and ends the job as `stopped`; settles then. With `drain` sources
   * end first, and operators emit what they hold back: for a job that is not to go on. If the savepoint fails the job keeps running and this
   * rejects as `triggerSavepoint` does (after a failed drain the job goes back to its last checkpoint). STOP_FAILED, naming the savepoint, if it
   * is complete and the job failed all the same.
   */
  stopWithSavepoint(options?: StopWithSavepointOptions): Promise<CheckpointStats>;
  /** Ends the job now. Checkpoints are kept or deleted by the retention policy; output that no checkpoint covers is not published. */
  cancel(): Promise<JobEnd>;
  /** Numbers about checkpoints; undefined with checkpointing off. */
  checkpointStatistics(): CheckpointStatistics | undefined;
  /** Ends the job as a crash would: everything that is needed to resume it is kept. */
  [Symbol.asyncDispose](): Promise<void>;
}
export type JobEnd = 'finished' | 'cancelled' | 'stopped';

export interface StopWithSavepointOptions {
  /** Default: the storage's own directory for savepoints. */
  readonly dir?: string | undefined;
  /** Default false: the job stops where it stands. */
  readonly drain?: boolean | undefined;
}

/** The inside of a handle. */
export class RunningJob implements JobHandle {
  readonly name: JobName;
  readonly done: Promise<JobEnd>;
  readonly #status = new BehaviorSubject<JobStatus>('created');
  readonly #events = new ReplaySubject<JobEvent>(REPLAYED_EVENTS);
  readonly #watched: { readonly status: Observable<JobStatus>; readonly events: Observable<JobEvent> };
  readonly #now: () => number;
  readonly #coordinator: CheckpointCoordinator | undefined;
  readonly #cancel: (keep: boolean) => void;
  readonly #stop: (options: StopOptions) => Promise<CheckpointStats>;

  constructor(options: {
    readonly name: JobName;
    readonly now: () => number;
    readonly coordinator: CheckpointCoordinator | undefined;
    readonly run: () => Promise<JobEnd>;
    readonly cancel: (keep: boolean) => void;
    readonly stop: (options: StopOptions) => Promise<CheckpointStats>;
    readonly events: { emit?: (event: JobEvent) => void; setStatus?: (status: JobStatus) => void };
    /** Takes what a subscriber throws. */
    readonly onSubscriberFailed: (error: unknown) => void;
  }) {
    this.name = options.name;
    this.#now = options.now;
    this.#coordinator = options.coordinator;
    this.#cancel = options.cancel;
    this.#stop = options.stop;
    this.#watched = {
      status: new GuardedObservable(options.onSubscriberFailed, (to) => this.#status.subscribe(to)),
      events: new GuardedObservable(options.onSubscriberFailed, (to) => this.#events.subscribe(to)),
    };
    options.events.emit = (event) => {
      this.#tell(event);
    };
    options.events.setStatus = (status) => {
      this.#setStatus(status);
    };
    this.done = this.#follow(options.run);
  }

  get status$(): Observable<JobStatus> {
    return this.#watched.status;
  }
  get status(): JobStatus {
    return this.#status.value;
  }
  get events$(): Observable<JobEvent> {
    return this.#watched.events;
  }

  async triggerCheckpoint(): Promise<CheckpointStats> {
    return this.#runningCoordinator('checkpoint').triggerCheckpoint();
  }

  async triggerSavepoint(dir?: string): Promise<CheckpointStats> {
    return this.#runningCoordinator('savepoint').triggerSavepoint(dir);
  }

  async stopWithSavepoint({ dir, drain = false }: StopWithSavepointOptions = {}): Promise<CheckpointStats> {
    this.#runningCoordinator('savepoint');
    const stats = await this.#stop({ directory: dir, drain });
    const savepoint = `its savepoint is complete: ${stats.pointer}`;
    let end: JobEnd;
    try {
      end = await this.done;
    } catch (error) {
      if (isWeirError(error, 'STOP_FAILED')) throw error;
      const message = `Job ${this.name} failed while it stopped (${messageOf(error)}), but ${savepoint}. Start it from there.`;
      throw new WeirError('STOP_FAILED', message, { cause: error, recoverable: false });
    }
    if (end === 'stopped') return stats;
    throw new WeirError('STOP_FAILED', `Job ${this.name} was ${end} before it had stopped, but ${savepoint}.`, {
      recoverable: false,
    });
  }

  cancel(): Promise<JobEnd> {
    this.#cancel(false);
    return this.done;
  }

  checkpointStatistics(): CheckpointStatistics | undefined {
    return this.#coordinator?.statistics();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancel(true);
    await this.done.catch(() => undefined);
  }

  #runningCoordinator(what: 'checkpoint' | 'savepoint'): CheckpointCoordinator {
    if (this.#coordinator === undefined) {
      throw new WeirError(
        'CHECKPOINT_FAILED',
        `Job ${this.name} takes no ${what}s: call env.enableCheckpointing(...) before it starts.`,
      );
    }
    if (this.status !== 'running' && this.status !== 'finishing') {
      throw new WeirError('JOB_NOT_RUNNING', `No ${what} of job ${this.name} can be taken: it is ${this.status}.`);
    }
    return this.#coordinator;
  }

  async #follow(run: () => Promise<JobEnd>): Promise<JobEnd> {
    try {
      const end = await run();
      this.#setStatus(end);
      return end;
    } catch (error) {
      this.#setStatus('failed');
      throw error;
    } finally {
      this.#status.complete();
      this.#events.complete();
    }
  }

  #setStatus(status: JobStatus): void {
    if (this.#status.value === status) return;
    this.#status.next(status);
    this.#tell({ kind: 'status', status, at: this.#now() });
  }

  /** All subscribers get the same object, and may do with it what they like. */
  #tell(event: JobEvent): void {
    this.#events.next(Object.freeze(event));
  }
}
