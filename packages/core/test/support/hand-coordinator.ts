import { memoryLocation } from './memory-location.js';
import type {
  AttemptGateway,
  AttemptStart,
  CheckpointCoordinator,
  CoordinatorContext,
  StartDecision,
  StopOptions,
  StopSavepoint,
  SubtaskReport,
} from '../../src/contracts/coordinator.js';
import type { CheckpointStorage } from '../../src/contracts/checkpoint-storage.js';
import type { Plugin } from '../../src/contracts/plugin.js';
import { CheckpointStorageRole, CoordinatorRole, StateBackendRole } from '../../src/contracts/roles.js';
import { barrier, type Barrier } from '../../src/element/element.js';
import { subtaskName, type CheckpointId, type Lineage } from '../../src/element/ids.js';
import { TakenCheckpoint } from './attempt-bench.js';
import { valueStateBackend } from './value-state-backend.js';

type Call =
  | 'start'
  | 'beginAttempt'
  | 'attemptRunning'
  | 'stopWithSavepoint'
  | 'finalCheckpoint'
  | 'attemptEnded'
  | 'verify'
  | 'end';

/** A coordinator in memory that takes a checkpoint when it is asked to. Whatever `on` returns or throws for a call comes before that call. */
export class HandCoordinator implements CheckpointCoordinator {
  readonly log: string[] = [];
  on: (call: Call, argument?: string | number) => Promise<void> | void = () => undefined;
  gateway: AttemptGateway | undefined;
  newest: TakenCheckpoint | undefined;
  context: CoordinatorContext | undefined;
  decision: StartDecision = { kind: 'fresh', lineage: 'lineage', reason: 'a test' };
  #attempt = 0;
  #nextId: CheckpointId = 1;
  #taking: { readonly checkpoint: TakenCheckpoint; readonly done: () => void } | undefined;

  /** Together with a storage that nobody uses and a backend for value states. */
  get plugin(): Plugin {
    return {
      name: 'by-hand',
      install: (binder) => {
        const create = (context: CoordinatorContext): this => {
          this.context = context;
          return this;
        };
        binder.provide(CoordinatorRole, 'hand', () => ({ create }));
        binder.provide(CheckpointStorageRole, 'none', () => ({}) as CheckpointStorage);
        binder.provide(StateBackendRole, 'values', () => valueStateBackend);
      },
    };
  }

  async start(): Promise<StartDecision> {
    await this.#call('start');
    return this.decision;
  }
  async beginAttempt(): Promise<AttemptStart> {
    await this.#call('beginAttempt');
    return { attempt: ++this.#attempt, lineage: 'lineage', restore: this.newest?.restore };
  }
  branch(): Lineage {
    return 'branch';
  }
  attemptRunning(gateway: AttemptGateway): void {
    this.gateway = gateway;
    void this.#call('attemptRunning');
  }
  receive(report: SubtaskReport): void {
    const taking = this.#taking;
    if (report.kind !== 'ack' || report.checkpointId !== taking?.checkpoint.id) return;
    taking.checkpoint.acks.set(subtaskName(report.subtask), structuredClone(report));
    if (taking.checkpoint.isComplete) taking.done();
  }
  triggerCheckpoint(): Promise<never> {
    return Promise.reject(new Error('use take'));
  }
  triggerSavepoint(): Promise<never> {
    return Promise.reject(new Error('use take'));
  }
  async stopWithSavepoint({ directory, drain }: StopOptions): Promise<StopSavepoint> {
    await this.#call('stopWithSavepoint', directory);
    const gateway = this.gateway as AttemptGateway;
    const { id: checkpointId } = await this.#collect(drain ? 'drain' : 'suspend');
    const times = { triggeredAt: 0, completedAt: 0, durationMs: 0, alignmentMs: 0, inFlightRecords: 0 };
    return {
      stats: {
        checkpointId,
        trigger: 'stop',
        pointer: `${directory ?? 'default'}/sp`,
        stateBytes: 0,
        writtenBytes: 0,
        ...times,
      },
      committed: gateway.completed(checkpointId),
    };
  }
  async finalCheckpoint(): Promise<void> {
    await this.#call('finalCheckpoint');
    if (this.gateway?.finished.size !== this.gateway?.subtasks.length) await this.take();
  }
  async attemptEnded(attempt: number): Promise<void> {
    this.gateway = undefined;
    await this.#call('attemptEnded', attempt);
  }
  async verify(): Promise<void> {
    await this.on('verify');
  }
  async end(outcome: string): Promise<void> {
    await this.#call('end', outcome);
  }
  statistics(): never {
    throw new Error('no statistics are kept');
  }

  /** Takes a checkpoint of the running attempt, and tells it when that is complete. */
  async take(): Promise<void> {
    const gateway = this.gateway as AttemptGateway;
    const { id } = await this.#collect();
    await gateway.completed(id);
  }

  async #collect(stop?: Barrier['stop']): Promise<TakenCheckpoint> {
    const gateway = this.gateway as AttemptGateway;
    const checkpoint = new TakenCheckpoint(this.#nextId++);
    const complete = new Promise<void>((done) => {
      this.#taking = { checkpoint, done };
    });
    checkpoint.enumerators = await gateway.snapshotEnumerators(checkpoint.id);
    const kind = stop === undefined ? 'checkpoint' : 'savepoint';
    checkpoint.expect(gateway);
    gateway.trigger(barrier(checkpoint.id, 0, kind, stop), memoryLocation(checkpoint.id));
    if (!checkpoint.isComplete) await complete;
    this.newest = checkpoint;
    return checkpoint;
  }

  async #call(call: Call, argument?: string | number): Promise<void> {
    this.log.push(argument === undefined ? call : `${call} ${String(argument)}`);
    await this.on(call, argument);
  }
}
