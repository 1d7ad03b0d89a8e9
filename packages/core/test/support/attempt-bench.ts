import { createReferenceStateBackend, seededRandom } from '@weir/testkit';
import { compileStateSchema } from '../../src/environment/state-schema.js';
import type { CallBounds } from '../../src/bounds/bounded-calls.js';
import type { AlignmentMode } from '../../src/barrier/modes.js';
import type {
  Acknowledgement,
  AttemptGateway,
  Decline,
  RestorePlan,
  SubtaskReport,
} from '../../src/contracts/coordinator.js';
import { SILENT } from '../../src/contracts/logger.js';
import { NO_METRICS } from '../../src/contracts/metrics.js';
import type { ChannelStateHandle, EnumeratorSnapshot } from '../../src/contracts/snapshot.js';
import type { Source, SourceGrade, SourceSplit } from '../../src/contracts/source.js';
import { untilAborted } from '../../src/contracts/until-aborted.js';
import { barrier, type Barrier } from '../../src/element/element.js';
import { subtaskName, type AttemptNumber, type CheckpointId } from '../../src/element/ids.js';
import { sourceStream } from '../../src/graph/describe.js';
import { planOf, type Plan } from '../../src/graph/plan.js';
import type { LogicalGraph } from '../../src/graph/stream-node.js';
import type { OperatorOptions, Stream } from '../../src/graph/stream.js';
import { Attempt, type AttemptOptions } from '../../src/host/attempt.js';
import { MemoryTemporaryFiles } from './memory-temporary-files.js';
import { memoryLocation, type OnWrite } from './memory-location.js';
import type { TickingClock } from './ticking-clock.js';

export type From = <T, G extends SourceGrade, Split extends SourceSplit, Position>(
  source: Source<T, G, Split, Position>,
  options?: OperatorOptions,
) => Stream<T, G>;
export type Describe = (from: From) => void;

export function plan(describe: Describe, parallelism = 1, maxParallelism?: number): Plan {
  const graph: LogicalGraph = { nodes: [] };
  describe((source, options = {}) => sourceStream(graph, source as unknown as Source<unknown>, options));
  return planOf(graph, { parallelism, maxParallelism });
}

/** A checkpoint as whoever coordinates it sees it. */
export class TakenCheckpoint {
  readonly id: CheckpointId;
  expected = Infinity;
  #finished: readonly string[] = [];
  enumerators: readonly EnumeratorSnapshot[] = [];
  readonly acks = new Map<string, Acknowledgement>();
  readonly declines: Decline[] = [];

  constructor(id: CheckpointId) {
    this.id = id;
  }

  /** Barriers leave now. */
  expect({ subtasks, finished }: Pick<AttemptGateway, 'subtasks' | 'finished'>): void {
    this.#finished = [...finished];
    this.expected = subtasks.length - finished.size;
  }

  get isComplete(): boolean {
    return this.acks.size === this.expected && this.declines.length === 0;
  }

  /** What was in flight when barriers overtook it. */
  get inFlight(): readonly ChannelStateHandle[] {
    return [...this.acks.values()].flatMap(({ snapshot }) =>
      snapshot.operators.flatMap(({ channels = [] }) => channels),
    );
  }

  get restore(): RestorePlan {
    return {
      checkpointId: this.id,
      lineage: 'lineage',
      pointer: `memory:${String(this.id)}`,
      subtasks: new Map([...this.acks].map(([name, { snapshot }]) => [name, snapshot.operators])),
      enumerators: new Map(this.enumerators.map((snapshot) => [snapshot.uid, snapshot])),
      finished: new Set([
        ...this.#finished,
        ...[...this.acks].filter(([, { snapshot }]) => snapshot.finished === true).map(([name]) => name),
      ]),
      isOwned: true,
      read: async (blob) => {
        if (blob.kind !== 'inline') throw new Error('everything is inline here');
        return blob.bytes;
      },
    };
  }
}

export interface AttemptBenchOptions extends Partial<
  Omit<AttemptOptions, 'plan' | 'restore' | 'report' | 'clock' | 'attempt'>
> {
  readonly clock: TickingClock;
  readonly attempt?: AttemptNumber;
  readonly restore?: TakenCheckpoint | undefined;
  readonly mode?: AlignmentMode;
  readonly onWrite?: OnWrite;
  /** Ms after which barriers overtake; absent: never. */
  readonly overtakesAfter?: number | undefined;
}

/** One attempt, coordinated by hand: checkpoints are triggered, completed and aborted when a test says so. */
/** Waits for as long as it takes. */
export const UNBOUNDED: CallBounds = { run: (_call, _of, act) => act() };

export class AttemptBench {
  readonly attempt: Attempt;
  readonly reports: SubtaskReport[] = [];
  readonly checkpoints = new Map<CheckpointId, TakenCheckpoint>();
  readonly #onWrite: OnWrite | undefined;
  readonly #overtakesAfter: number | undefined;
  readonly #clock: TickingClock;
  #latestCompleted: CheckpointId = 0;

  constructor(plan: Plan, options: AttemptBenchOptions) {
    const { restore, onWrite, overtakesAfter, ...rest } = options;
    this.#onWrite = onWrite;
    this.#overtakesAfter = overtakesAfter;
    this.#clock = options.clock;
    this.#latestCompleted = restore?.id ?? 0;
    this.attempt = new Attempt({
      job: 'test',
      attempt: 1,
      lineage: 'lineage',
      checkpointing: true,
      mode: 'aligned',
      stateBackend: createReferenceStateBackend,
      calls: UNBOUNDED,
      compileSchema: compileStateSchema,
      temporaryFiles: new MemoryTemporaryFiles(),
      random: seededRandom(1),
      logger: SILENT,
      metrics: NO_METRICS,
      verify: () => Promise.resolve(),
      commitRetries: 10,
      ...rest,
      plan,
      restore: restore?.restore,
      report: (report) => {
        this.#receive(report);
      },
    });
  }

  /** Rejects once the attempt has failed. */
  get failed(): Promise<never> {
    return untilAborted(new Promise<never>(() => undefined), this.attempt.signal);
  }

  async run(): Promise<void> {
    await this.attempt.open();
    this.attempt.start();
  }

  /** `between` happens between the snapshot of the enumerators and the barriers; `as` makes it a savepoint, perhaps one to stop with. */
  async trigger(
    id: CheckpointId,
    between?: () => Promise<unknown>,
    as?: Barrier['stop'] | 'savepoint',
  ): Promise<TakenCheckpoint> {
    const checkpoint = new TakenCheckpoint(id);
    this.checkpoints.set(id, checkpoint);
    checkpoint.enumerators = await this.attempt.snapshotEnumerators(id);
    await between?.();
    const stop = as === 'savepoint' ? undefined : as;
    const triggered = barrier(id, this.#clock.now(), as === undefined ? 'checkpoint' : 'savepoint', stop);
    checkpoint.expect(this.attempt);
    this.attempt.trigger({ ...triggered, overtakesAfter: this.#overtakesAfter }, memoryLocation(id, this.#onWrite));
    return checkpoint;
  }

  complete(checkpoint: TakenCheckpoint): Promise<void> {
    this.#latestCompleted = Math.max(this.#latestCompleted, checkpoint.id);
    return this.attempt.completed(checkpoint.id);
  }

  abort(checkpoint: TakenCheckpoint): void {
    this.attempt.aborted(checkpoint.id, this.#latestCompleted);
  }

  #receive(report: SubtaskReport): void {
    // What crosses the boundary is plain data, and nobody else's to change afterwards.
    const received = structuredClone(report);
    this.reports.push(received);
    const checkpoint = this.checkpoints.get(received.checkpointId);
    if (received.kind === 'ack') checkpoint?.acks.set(subtaskName(received.subtask), received);
    else checkpoint?.declines.push(received);
  }
}
