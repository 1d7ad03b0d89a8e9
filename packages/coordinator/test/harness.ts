import {
  NO_METRICS,
  SILENT,
  type AttemptNumber,
  type CheckpointCoordinator,
  type CheckpointSettings,
  type CoordinatorContext,
  type JobEventBody,
  type Metrics,
  type PlanDescription,
  type RestoreFrom,
  type StartDecision,
} from '@weir/core/contracts';
import { VirtualClock, seededRandom } from '@weir/testkit';
import { JobCheckpointCoordinator } from '../src/checkpoint-coordinator.js';
import { Disk, type DiskStorage, type Intercept } from './disk.js';
import { FakeGateway } from './fake-gateway.js';
import { planOf } from './plan.js';

export const SETTINGS: CheckpointSettings = {
  intervalMs: undefined,
  mode: 'exactly-once',
  timeoutMs: 600_000,
  minPauseMs: 0,
  maxConcurrent: 1,
  unaligned: false,
  incremental: false,
  alignedTimeoutMs: 0,
  tolerableFailures: 0,
  retention: 'delete-on-cancellation',
  numRetained: 1,
  checkpointsAfterFinish: true,
  lockTimeoutMs: 10_000,
  allowDuplicates: false,
  allowNonRestoredState: false,
  allowNonRestoredPositionsAndOutput: false,
  claimMode: 'no-claim',
  preferCheckpointForRecovery: true,
};

export interface ProcessOptions {
  readonly disk?: Disk;
  readonly settings?: Partial<CheckpointSettings>;
  readonly plan?: PlanDescription;
  readonly intercept?: Intercept;
  readonly locks?: boolean;
  readonly metrics?: Metrics;
  readonly job?: string;
}

let ids = 0;

/** One process that runs the job: a coordinator on a disk, and the engine's side of it played by the test. */
export class Process {
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly storage: DiskStorage;
  readonly context: CoordinatorContext;
  readonly coordinator: CheckpointCoordinator;
  readonly events: JobEventBody[] = [];
  readonly failures: { readonly attempt: AttemptNumber; readonly error: unknown }[] = [];
  onFailure: () => void = () => undefined;
  onEvent: (event: JobEventBody) => void = () => undefined;
  decision: StartDecision | undefined;

  constructor(options: ProcessOptions = {}) {
    const {
      disk = new Disk(),
      settings,
      plan = planOf(),
      metrics = NO_METRICS,
      job = 'orders',
      intercept,
      locks,
    } = options;
    this.clock = new VirtualClock();
    this.disk = disk;
    this.storage = disk.storage({ intercept, locks });
    this.context = {
      job,
      plan,
      settings: { ...SETTINGS, ...settings },
      storage: this.storage,
      clock: this.clock,
      random: seededRandom(1),
      newId: () => `lineage-${String(++ids)}`,
      logger: SILENT,
      metrics,
      emit: (event) => {
        this.events.push(event);
        this.onEvent(event);
      },
      failAttempt: (attempt, error) => {
        this.failures.push({ attempt, error });
        this.onFailure();
      },
    };
    this.coordinator = new JobCheckpointCoordinator(this.context);
  }

  async start(restoreFrom: RestoreFrom = 'auto'): Promise<StartDecision> {
    this.decision = await this.coordinator.start(restoreFrom, new AbortController().signal);
    return this.decision;
  }

  /** A new attempt with all its subtasks running. */
  async run(): Promise<FakeGateway> {
    const { attempt } = await this.coordinator.beginAttempt();
    const gateway = new FakeGateway(this.coordinator, attempt);
    this.coordinator.attemptRunning(gateway);
    return gateway;
  }

  /** From nothing to a running attempt. */
  async launch(restoreFrom: RestoreFrom = 'auto'): Promise<FakeGateway> {
    await this.start(restoreFrom);
    return this.run();
  }

  /** Completes a manual checkpoint and its commits; the id. */
  async checkpoint(gateway: FakeGateway): Promise<number> {
    const done = this.coordinator.triggerCheckpoint();
    await this.clock.settle();
    const id = gateway.triggered.at(-1) ?? 0;
    gateway.ackAll(id);
    await done;
    await this.clock.settle();
    return id;
  }

  /** Completes a plain savepoint; where it is. */
  async savepoint(gateway: FakeGateway, directory = 'savepoints'): Promise<string> {
    const done = this.coordinator.triggerSavepoint(directory);
    await this.clock.settle();
    gateway.ackAll(gateway.triggered.at(-1) ?? 0);
    return (await done).pointer;
  }

  /** Stops the job with a savepoint, as the engine does; where it is. */
  async stop(gateway: FakeGateway, directory = 'savepoints'): Promise<string> {
    const done = this.coordinator.stopWithSavepoint({ directory, drain: false });
    await this.clock.settle();
    gateway.ackAll(gateway.triggered.at(-1) ?? 0);
    const { stats, committed } = await done;
    await committed;
    await this.coordinator.attemptEnded(gateway.attempt);
    await this.coordinator.end('stopped');
    return stats.pointer;
  }

  told<K extends JobEventBody['kind']>(kind: K): Extract<JobEventBody, { kind: K }>[] {
    return this.events.filter((e): e is Extract<JobEventBody, { kind: K }> => e.kind === kind);
  }
  get warnings(): readonly string[] {
    return this.told('warning').map((e) => e.message);
  }
}

/** A disk on which it cannot be written down that output is committed, as if the process had died before. */
export const unconfirmed: Intercept = (step, when) => {
  if (step.startsWith('committed') && when === 'before') throw new Error('the disk is full');
};

/** Runs a job until its checkpoints `ids` are complete on the disk, and kills it. */
export async function historyOn(disk: Disk, checkpoints: number, options: ProcessOptions = {}): Promise<string> {
  const process = new Process({ disk, ...options });
  const gateway = await process.launch('none');
  for (let i = 0; i < checkpoints; i++) await process.checkpoint(gateway);
  process.storage.die();
  return process.decision?.lineage ?? '';
}

/** A promise and the means to settle it. */
export function deferred<T = void>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** How a promise stands once everything that needs no time has happened. */
export async function stateOf(promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> {
  const pending = Symbol('pending');
  promise.catch(() => undefined);
  await new Promise(setImmediate);
  return Promise.race([promise, Promise.resolve(pending)]).then(
    (value) => (value === pending ? 'pending' : 'resolved'),
    () => 'rejected' as const,
  );
}
