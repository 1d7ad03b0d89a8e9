import type { CallBounds } from '../bounds/bounded-calls.js';
import { boundedSink } from '../bounds/bounded-sink.js';
import type { RestorePlan } from '../contracts/coordinator.js';
import type { JobEventBody } from '../contracts/job-events.js';
import type { Metrics } from '../contracts/metrics.js';
import type { Sink } from '../contracts/sink.js';
import type { JobName, Lineage } from '../element/ids.js';
import type { Plan, PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { CommitRetry } from '../operator/commit-queue.js';
import type { OperatorContext } from '../operator/operator.js';
import { SinkOperator } from '../operator/sink-operator.js';
import { prepareSink, type SinkServices } from '../operator/sink-services.js';
import type { BarrierWaits } from './barrier-waits.js';
import { SinkPlaces, type PlannedSink } from './sink-places.js';

export interface AttemptSinksOptions {
  readonly job: JobName;
  readonly plan: Plan;
  readonly lineage: Lineage;
  readonly restore: RestorePlan | undefined;
  readonly checkpointing: boolean;
  /** Every call to a sink goes through it. */
  readonly calls: CallBounds;
  readonly metrics: Metrics;
  readonly verify: () => Promise<void>;
  /** How often a commit that does not succeed is tried again. */
  readonly commitRetries: number;
  /** Output of a sink may be repeated. Default false. */
  readonly allowDuplicates?: boolean | undefined;
  /** Gives the attempt another lineage, which it has from then on. Absent where nothing is restored. */
  readonly branch?: (() => Lineage) | undefined;
  readonly emit?: ((event: JobEventBody) => void) | undefined;
}

/** Context of an operator that has no subtask yet. */
type ContextOf = (stage: PlannedStage, operator: PlannedOperator) => OperatorContext;

/** Sinks of an attempt: where they commit, and what they are given. */
export class AttemptSinks {
  readonly #options: AttemptSinksOptions;
  readonly #barrierWaits: BarrierWaits | undefined;
  readonly #places: SinkPlaces;
  #lineage: Lineage;

  constructor(options: AttemptSinksOptions, barrierWaits: BarrierWaits | undefined) {
    const { job, restore, lineage, allowDuplicates = false, branch = () => lineage, emit = () => undefined } = options;
    this.#options = options;
    this.#barrierWaits = barrierWaits;
    this.#places = new SinkPlaces({ job, restore, allowDuplicates, branch, emit });
    this.#lineage = lineage;
  }

  /** Asks every sink where it commits, before anything is changed there. */
  async open(contextOf: ContextOf): Promise<void> {
    const { plan, calls } = this.#options;
    const sinks: readonly PlannedSink[] = plan.stages.flatMap((stage) =>
      stage.operators.flatMap((operator) => {
        const { node, uid } = operator;
        if (node.kind !== 'sink') return [];
        return [{ sink: boundedSink(node.sink, uid, calls), context: contextOf(stage, operator) }];
      }),
    );
    this.#lineage = await this.#places.open(sinks, this.#services());
  }

  async prepare(sink: Sink<unknown>, context: OperatorContext): Promise<void> {
    await prepareSink(boundedSink(sink, context.uid, this.#options.calls), context, this.#services());
  }

  operator(sink: Sink<unknown>, context: OperatorContext): SinkOperator<unknown> {
    const { uid, subtask } = context;
    const { job, metrics, calls, emit } = this.#options;
    const retries = metrics.counter('weir.sink.commit_retries', { job, sink: uid });
    const onRetry = (retry: CommitRetry): void => {
      retries.add(1);
      emit?.({ kind: 'commit-retry', sink: uid, subtask, ...retry });
    };
    const destination = this.#places.of(uid);
    return new SinkOperator(boundedSink(sink, uid, calls), context, {
      ...this.#services(),
      destination,
      onRetry,
    });
  }

  #services(): SinkServices {
    const { restore, checkpointing, verify, commitRetries } = this.#options;
    const waits = this.#barrierWaits;
    return {
      lineage: this.#lineage,
      restoredFrom: restore && { lineage: restore.lineage, checkpointId: restore.checkpointId },
      checkpointing,
      verify,
      commitRetries,
      nextBarrier: waits === undefined ? undefined : (passed, until) => waits.next(passed, until),
    };
  }
}
