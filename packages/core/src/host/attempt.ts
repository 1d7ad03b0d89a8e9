import { setMaxListeners } from 'node:events';
import type { AlignmentMode } from '../barrier/modes.js';
import type { CallBounds } from '../bounds/bounded-calls.js';
import { boundedSink } from '../bounds/bounded-sink.js';
import { boundedSource } from '../bounds/bounded-source.js';
import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Clock, Random } from '../contracts/clock.js';
import type { AttemptGateway, RestorePlan, SubtaskReport } from '../contracts/coordinator.js';
import type { JobEventBody } from '../contracts/job-events.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type { Sink } from '../contracts/sink.js';
import type { BlobHandle, EnumeratorSnapshot } from '../contracts/snapshot.js';
import type { KeyedStateStore, StateBackend } from '../contracts/state-backend.js';
import type { Barrier } from '../element/element.js';
import type { TemporaryFiles } from '../contracts/temporary-files.js';
import { allClosed } from '../contracts/all-of.js';
import { untilAborted } from '../contracts/until-aborted.js';
import {
  subtaskName,
  type AttemptNumber,
  type CheckpointId,
  type JobName,
  type Lineage,
  type OperatorUid,
  type StageId,
  type SubtaskId,
} from '../element/ids.js';
import { grouped } from '../element/grouped.js';
import { keyGroupRange } from '../element/key-group.js';
import { WeirError } from '../errors.js';
import type { LoopNode } from '../graph/stream-node.js';
import type { Plan, PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { Operator, OperatorContext, OperatorEnd, OperatorSpec, RestoredState } from '../operator/operator.js';
import type { CommitRetry } from '../operator/commit-queue.js';
import { prepareSink, SinkOperator, type SinkSurroundings } from '../operator/sink-operator.js';
import { SourceOperator } from '../operator/source-operator.js';
import { operatorFailure } from '../operator/user-code.js';
import { restoredState } from '../snapshot/restored-state.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { CompileSchema } from '../state/schema-check.js';
import { withPlace } from '../state/with-place.js';
import { operatorContext, type OperatorOwner, type OperatorServices } from '../stage/operator-context.js';
import { segmentOf } from '../stage/segments.js';
import type { StageOperator } from '../stage/stage.js';
import { BarrierWaits } from './barrier-waits.js';
import { wire, type Wiring } from './channels.js';
import type { InputChannel } from './input-gate.js';
import type { LocalCopies, RestoredBytes } from './local-copies.js';
import { LoopEnd, stagesOfLoop } from './loop-end.js';
import type { FeedbackChannel } from './loop-head.js';
import { refuseUnreadState } from './refuse-unread-state.js';
import { Pauses } from './pauses.js';
import { restoreInFlight } from './restore-in-flight.js';
import { restoreLoop } from './restore-loop.js';
import { Scheduler } from './scheduler.js';
import { SinkPlaces, type PlannedSink } from './sink-places.js';
import { Sources } from './sources.js';
import { Subtask } from './subtask.js';
import type { SubtaskLoop } from './subtask-input.js';
import { showSubtask } from './subtask-metrics.js';

export interface AttemptOptions {
  readonly job: JobName;
  readonly plan: Plan;
  readonly attempt: AttemptNumber;
  readonly lineage: Lineage;
  readonly restore: RestorePlan | undefined;
  readonly checkpointing: boolean;
  readonly mode: AlignmentMode;
  /** False: what goes round in loops is in no checkpoint. */
  readonly logLoops?: boolean | undefined;
  /** Checkpoints go on after a subtask has finished. Default true. */
  readonly checkpointsAfterFinish?: boolean | undefined;
  /** Asked for by the first operator with keyed state. */
  readonly stateBackend: () => StateBackend;
  /** Every call to what may hang goes through it. */
  readonly calls: CallBounds;
  /** For the schemas of states. */
  readonly compileSchema: CompileSchema;
  /** Of keyed state, for a restore that need not wait for the checkpoint storage. */
  readonly localCopies?: LocalCopies | undefined;
  /** Everything was restored; of keyed state so many bytes, where there are local copies. */
  readonly onRead?: ((bytes: RestoredBytes) => void) | undefined;
  /** For what does not fit into memory. */
  readonly temporaryFiles: TemporaryFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly verify: () => Promise<void>;
  /** How often a commit that does not succeed is tried again. */
  readonly commitRetries: number;
  /** Output of a sink may be repeated. Default false. */
  readonly allowDuplicates?: boolean | undefined;
  /** Gives the attempt another lineage, which it has from then on. Absent where nothing is restored. */
  readonly branch?: (() => Lineage) | undefined;
  readonly emit?: ((event: JobEventBody) => void) | undefined;
  /** Asks for a checkpoint; settles when it is over. Absent with checkpointing off. */
  readonly requestCheckpoint?: (() => Promise<unknown>) | undefined;
  readonly report: (report: SubtaskReport) => void;
  readonly onFinished?: ((subtask: SubtaskId) => void) | undefined;
}

/** In an error, of subtasks that do not end. */
const MOST_NAMED = 3;

interface RunningSubtask {
  readonly subtask: Subtask;
  readonly stores: KeyedStateStore[];
  readonly stage: PlannedStage;
  readonly inputs: readonly InputChannel[];
  readonly feedback: readonly FeedbackChannel[];
}

/** One run of a job on this thread: makes the subtasks of the plan, opens them with what they restore, runs them, and ends them for certain. */
export class Attempt implements AttemptGateway {
  readonly attempt: AttemptNumber;
  readonly #options: AttemptOptions;
  readonly #abort = new AbortController();
  /** What contexts of operators have in common. */
  readonly #ofOperators: OperatorServices;
  readonly #scheduler: Scheduler;
  readonly #pauses: Pauses;
  readonly #sources = new Sources();
  readonly #subtasks: RunningSubtask[] = [];
  /** Each takes a subtask's metrics back. */
  readonly #hideMetrics: (() => void)[] = [];
  readonly #locations = new Map<CheckpointId, CheckpointLocation>();
  /** Where keyed state is restored from, if there is anything but the storage. */
  readonly #reading: ReturnType<LocalCopies['reading']> | undefined;
  readonly #barrierWaits: BarrierWaits | undefined;
  readonly #places: SinkPlaces;
  #lineage: Lineage;
  /** Of the loops that a stage is part of. */
  readonly #loopEnds = new Map<StageId, LoopEnd[]>();
  /** Names; those that the restored checkpoint says so of from the start. */
  readonly #finished: Set<string>;
  /** Not past their end of data. */
  #running = 0;
  /** The savepoint for which data has ended: there is no way back from it. */
  #draining: CheckpointId | undefined;
  #opening: Promise<void> = Promise.resolve();
  #making: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  readonly #ended: Promise<void>;
  #onAllEnded: () => void = () => undefined;

  constructor(options: AttemptOptions) {
    this.attempt = options.attempt;
    this.#options = options;
    const { job, restore, lineage, allowDuplicates = false, branch = () => lineage, emit = () => undefined } = options;
    this.#places = new SinkPlaces({ job, restore, allowDuplicates, branch, emit });
    this.#lineage = lineage;
    this.#ofOperators = { ...options, signal: this.#abort.signal };
    if (options.restore !== undefined) this.#reading = options.localCopies?.reading(options.restore);
    this.#scheduler = new Scheduler(options.clock);
    this.#pauses = new Pauses(options.clock);
    this.#finished = new Set(options.restore?.finished);
    // Every reader, writer and wait of every subtask may listen; more than ten are no leak.
    setMaxListeners(0, this.#abort.signal);
    const { clock, requestCheckpoint: request } = options;
    const underWay = (): Iterable<CheckpointId> => this.#locations.keys();
    if (request !== undefined)
      this.#barrierWaits = new BarrierWaits({ clock, signal: this.#abort.signal, underWay, request });
    this.#ended = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
    });
  }

  /** Aborts with the first failure, or the reason of `cancel`, when the attempt ends in any way but its natural one. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Settles when every subtask is past its end of data; rejects with the first failure, or with the reason of `cancel`. */
  get allEnded(): Promise<void> {
    return untilAborted(this.#ended, this.#abort.signal);
  }

  get subtasks(): readonly SubtaskId[] {
    return this.#subtasks.map(({ subtask }) => subtask.id);
  }

  get finished(): ReadonlySet<string> {
    return this.#finished;
  }

  /** Restores and opens everything, and commits what the restored checkpoint had prepared. Nothing runs before `start`. */
  open(): Promise<void> {
    this.#opening = this.#open();
    return this.#opening;
  }

  /** Everything that subtasks consist of, before anything of them is opened. */
  async #make(): Promise<void> {
    const { plan } = this.#options;
    const wiring = await wire(plan, this.#pauses.due);
    for (const stage of plan.stages) {
      for (let index = 0; index < stage.parallelism; index++) {
        await this.#pauses.due();
        this.#abort.signal.throwIfAborted();
        this.#subtasks.push(this.#subtask(stage, index, wiring));
      }
    }
    this.#running = this.#subtasks.filter(({ subtask }) => !this.#isFinished(subtask.id)).length;
    this.#watchLoops();
  }

  #subtask(stage: PlannedStage, index: number, wiring: Wiring): RunningSubtask {
    const options = this.#options;
    const stores: KeyedStateStore[] = [];
    const inputs = wiring.inputs(stage.id, index);
    const feedback = wiring.feedback(stage.id, index);
    const subtask = new Subtask({
      job: options.job,
      // Events carry it to whoever subscribes.
      id: Object.freeze({ stage: stage.id, index }),
      attempt: options.attempt,
      keyGroups: keyGroupRange(index, stage.parallelism, stage.maxParallelism),
      inputCount: stage.inputs,
      inputs,
      loop: this.#loopOf(stage, feedback),
      outputs: wiring.outputs(stage.id, index),
      mode: options.mode,
      checkpointsAfterEnd: options.checkpointsAfterFinish ?? true,
      clock: options.clock,
      scheduler: this.#scheduler,
      signal: this.#abort.signal,
      location: (checkpointId) => this.#locations.get(checkpointId),
      localCopies: options.localCopies,
      isOverBudget: () => stores.some((store) => store.isOverBudget()),
      report: options.report,
      onForwarded: (checkpointId) => {
        if (stage.inputs === 0) this.#sources.injected((stage.operators[0] as PlannedOperator).uid, checkpointId);
      },
      onIdle: () => {
        for (const end of this.#loopEnds.get(stage.id) ?? []) end.look();
      },
      onEnded: () => {
        if (--this.#running === 0) this.#onAllEnded();
      },
      othersRun: () => this.#running > 0,
      onLeft: () => {
        // Its operators close them.
        stores.length = 0;
        this.#onLeft(subtask.id);
      },
      onFailed: (error) => {
        this.fail(error);
      },
    });
    this.#hideMetrics.push(showSubtask(options.metrics, options.job, subtask));
    return { subtask, stage, stores, inputs, feedback };
  }

  async #open(): Promise<void> {
    const { plan, restore, calls } = this.#options;
    this.#pauses.begin();
    this.#making = this.#make();
    await this.#making;
    // What the outside has is looked at before anything is changed there, or a source started.
    this.#lineage = await this.#places.open(this.#sinks(), this.#surroundings());
    for (const stage of plan.stages) {
      for (const operator of stage.operators) {
        const { node, uid } = operator;
        if (node.kind === 'operator' || (node.kind === 'source' && this.#hasFinished(stage))) continue;
        await this.#pauses.due();
        this.#abort.signal.throwIfAborted();
        const context = this.#context(stage, operator, 0);
        if (node.kind === 'source')
          await this.#sources.start(boundedSource(node.source, uid, calls), context, restore?.enumerators.get(uid));
        else await prepareSink(boundedSink(node.sink, uid, calls), context, this.#surroundings());
      }
    }
    const opened: Promise<void>[] = [];
    for (const entry of this.#subtasks) {
      await this.#pauses.due();
      // In the same turn as the others, but for very many.
      opened.push(this.#opened(entry));
    }
    await Promise.all(opened);
    this.#abort.signal.throwIfAborted();
    if (this.#reading !== undefined) this.#options.onRead?.(this.#reading.bytes());
  }

  async #opened(entry: RunningSubtask): Promise<void> {
    try {
      await this.#openSubtask(entry);
    } catch (error) {
      // The others hear of it at once: one that waits for something in vain would keep this attempt from failing.
      this.fail(error);
    }
  }

  start(): void {
    for (const { subtask } of this.#subtasks) {
      if (this.#isFinished(subtask.id)) subtask.skip();
      else subtask.start();
    }
    if (this.#running === 0) this.#onAllEnded();
  }

  /** Ends the attempt with an error: the first one counts. */
  fail(error: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(error);
  }

  async snapshotEnumerators(checkpointId: CheckpointId): Promise<readonly EnumeratorSnapshot[]> {
    this.#abort.signal.throwIfAborted();
    return Promise.resolve(this.#sources.snapshot(checkpointId));
  }

  trigger(barrier: Barrier, location: CheckpointLocation): void {
    const running = this.#subtasks.filter(({ subtask }) => !this.#isFinished(subtask.id));
    this.#locations.set(barrier.checkpointId, location);
    if (barrier.stop === 'drain') this.#draining = barrier.checkpointId;
    const byHead = grouped(running, ({ stage }) => stage.operators[0]?.uid);
    this.#sources.triggered(barrier.checkpointId, (uid) => byHead.get(uid)?.length ?? 0);
    for (const { subtask } of running) if (subtask.needsTrigger) subtask.trigger(barrier);
    for (const { subtask } of this.#subtasks) if (this.#isFinished(subtask.id)) subtask.passOn(barrier);
    this.#barrierWaits?.triggered();
  }

  async completed(checkpointId: CheckpointId): Promise<void> {
    for (const id of [...this.#locations.keys()]) if (id <= checkpointId) this.#locations.delete(id);
    this.#sources.release(checkpointId);
    this.#options.localCopies?.completed(checkpointId);
    const told = Promise.all(this.#subtasks.map(({ subtask }) => subtask.completed(checkpointId)));
    await untilAborted(told, this.#abort.signal);
    this.#barrierWaits?.ended();
  }

  released(checkpointId: CheckpointId): void {
    this.#locations.delete(checkpointId);
    this.#options.localCopies?.superfluous(checkpointId);
    this.#sources.release(checkpointId);
    this.#barrierWaits?.ended();
  }

  aborted(checkpointId: CheckpointId, latestCompleted: CheckpointId): void {
    if (checkpointId === this.#draining) {
      const { job } = this.#options;
      const message = `Job ${job} was drained for savepoint ${String(checkpointId)}, which failed. It has to go back to its last checkpoint to go on.`;
      this.fail(new WeirError('CHECKPOINT_FAILED', message));
    }
    this.#locations.delete(checkpointId);
    this.#options.localCopies?.superfluous(checkpointId);
    this.#sources.release(checkpointId);
    for (const { subtask } of this.#subtasks) subtask.aborted(checkpointId, latestCompleted);
    this.#barrierWaits?.ended();
  }

  /** Whom the end of the attempt waits for, as words; undefined: for nobody. */
  get waitsFor(): string | undefined {
    const names = this.#subtasks.flatMap(({ subtask }) => {
      const { closing } = subtask;
      return closing === undefined ? [] : [`${closing} of ${subtaskName(subtask.id)}`];
    });
    const more = names.length > MOST_NAMED ? `, and ${String(names.length - MOST_NAMED)} more` : '';
    return names.length === 0 ? undefined : `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
  }

  /** When it settles nothing of this attempt runs any more. Errors of closing come out last. */
  close(end: OperatorEnd): Promise<void> {
    this.#closing ??= this.#close(end);
    return this.#closing;
  }

  async #close(end: OperatorEnd): Promise<void> {
    if (end !== 'finished')
      this.fail(
        new WeirError('JOB_CANCELLED', `Attempt ${String(this.attempt)} of job ${this.#options.job} was ended.`),
      );
    await this.#making.catch(() => undefined);
    this.#pauses.begin();
    const closing: Promise<void>[] = [];
    for (const { subtask } of this.#subtasks) {
      await this.#pauses.due();
      const closed = subtask.close(end);
      // It may be told of below only after others had their turn.
      closed.catch(() => undefined);
      closing.push(closed);
    }
    const opened = this.#opening.catch(() => undefined);
    try {
      await allClosed([...closing, opened.then(() => this.#sources.close())]);
    } finally {
      for (const hide of this.#hideMetrics) hide();
      this.#scheduler.stop();
    }
  }

  #sinks(): readonly PlannedSink[] {
    return this.#options.plan.stages.flatMap((stage) =>
      stage.operators.flatMap((operator) => {
        const { node, uid } = operator;
        if (node.kind !== 'sink') return [];
        const sink = boundedSink(node.sink, uid, this.#options.calls);
        return [{ sink, context: this.#context(stage, operator, 0) }];
      }),
    );
  }

  #sinkOperator(sink: Sink<unknown>, context: OperatorContext): SinkOperator<unknown> {
    const { uid, subtask } = context;
    const retries = this.#options.metrics.counter('weir.sink.commit_retries', { job: this.#options.job, sink: uid });
    const onRetry = (retry: CommitRetry): void => {
      retries.add(1);
      this.#options.emit?.({ kind: 'commit-retry', sink: uid, subtask, ...retry });
    };
    const bounded = boundedSink(sink, uid, this.#options.calls);
    return new SinkOperator(bounded, context, { ...this.#surroundings(), destination: this.#places.of(uid), onRetry });
  }

  #surroundings(): SinkSurroundings {
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

  #loopOf({ operators }: PlannedStage, feedback: readonly FeedbackChannel[]): SubtaskLoop | undefined {
    const head = operators[0] as PlannedOperator;
    const loop = loopNodeOf(head);
    if (loop === undefined) return undefined;
    const { checkpointing, logLoops = true, temporaryFiles } = this.#options;
    return {
      feedback,
      serializer: withPlace(loop.serializer, head.uid, 'loop'),
      bounds: loop.bounds,
      temporaryFiles,
      logged: checkpointing && logLoops,
      underWay: () => this.#locations.keys(),
    };
  }

  #watchLoops(): void {
    const { plan } = this.#options;
    const heads = new Set(plan.feedback.map(({ to }) => to));
    const byStage = grouped(this.#subtasks, ({ stage }) => stage.id);
    const subtasksOf = (stage: StageId): readonly Subtask[] => (byStage.get(stage) ?? []).map(({ subtask }) => subtask);
    for (const head of heads) {
      const stages = stagesOfLoop(plan, head);
      const others = [...stages].filter((stage) => stage !== head);
      const end = new LoopEnd(stages, subtasksOf(head), others.flatMap(subtasksOf));
      for (const stage of stages) this.#loopEnds.set(stage, [...(this.#loopEnds.get(stage) ?? []), end]);
    }
  }

  #isFinished(subtask: SubtaskId): boolean {
    return this.#finished.has(subtaskName(subtask));
  }

  #hasFinished({ id, parallelism }: PlannedStage): boolean {
    return Array.from({ length: parallelism }, (_, index) => ({ stage: id, index })).every((s) => this.#isFinished(s));
  }

  #onLeft(subtask: SubtaskId): void {
    if (this.#isFinished(subtask)) return;
    this.#finished.add(subtaskName(subtask));
    this.#options.onFinished?.(subtask);
  }

  /** Commits what a subtask that has finished had prepared; nothing else of it is opened. */
  async #commitRest({ subtask, stage, stores }: RunningSubtask): Promise<void> {
    const restored = this.#restored(subtask.id);
    for (const planned of stage.operators) {
      if (planned.node.kind !== 'sink') continue;
      const state = restored(planned.uid);
      if (state === undefined) continue;
      const context = this.#context(stage, planned, subtask.id.index, {
        running: subtask.stage,
        stores,
        flow: subtask.stage.flow,
      });
      await this.#sinkOperator(planned.node.sink, context).commitRestored(state);
    }
  }

  async #openSubtask(running: RunningSubtask): Promise<void> {
    const { subtask, stage, stores, inputs, feedback } = running;
    this.#abort.signal.throwIfAborted();
    if (this.#isFinished(subtask.id)) {
      await this.#commitRest(running);
      return;
    }
    let source: SourceOperator<unknown> | undefined;
    const planned = new Map(stage.operators.map((operator) => [operator.uid, operator]));
    const restored = this.#restored(subtask.id);
    const operators: StageOperator[] = [];
    for (const [place, operator] of stage.operators.entries()) {
      const pausing = this.#pauses.due();
      if (pausing !== undefined) await pausing;
      // What is closed by now would never close what is made from here on.
      this.#abort.signal.throwIfAborted();
      const flow = subtask.stage.flow.inSegment(segmentOf(place));
      const created = this.#operator(
        operator,
        this.#context(stage, operator, subtask.id.index, { running: subtask.stage, stores, flow }),
      );
      if (created instanceof SourceOperator) source = created;
      operators.push({ uid: operator.uid, operator: created });
    }
    const stateOf = (uid: OperatorUid): RestoredState | undefined => {
      const state = restored(uid);
      const operator = planned.get(uid);
      if (state !== undefined && operator !== undefined) refuseUnreadState(operator, state, this.#options.clock);
      return state;
    };
    await subtask.open(operators, source, stateOf, this.#pauses.due);
    const { restore } = this.#options;
    if (restore === undefined) return;
    const handles = (restore.subtasks.get(subtaskName(subtask.id)) ?? []).flatMap(({ channels = [] }) => channels);
    const { parallelism, maxParallelism } = stage;
    const taker = { subtask: subtask.id.index, parallelism, maxParallelism };
    const read = (blob: BlobHandle): Promise<Uint8Array> => restore.read(blob);
    await restoreInFlight({ ...taker, inputs, handles: handles.filter(({ kind }) => kind !== 'loop'), read });
    const { serializer = defaultSerializer } = loopNodeOf(stage.operators[0] as PlannedOperator) ?? {};
    const logs = handles.filter(({ kind }) => kind === 'loop');
    subtask.replay(await restoreLoop({ ...taker, feedback, serializer, handles: logs, read }));
  }

  #operator({ node, uid }: PlannedOperator, context: OperatorContext): Operator {
    const { calls } = this.#options;
    switch (node.kind) {
      case 'source':
        return new SourceOperator({
          source: boundedSource(node.source, uid, calls),
          context,
          splits: this.#sources.client(uid, context.subtask),
          checkpointing: this.#options.checkpointing,
        });
      case 'operator':
        return createOperator(node.spec, context);
      case 'sink':
        return this.#sinkOperator(node.sink, context);
    }
  }

  /** What each operator of the subtask restores. */
  #restored(subtask: SubtaskId): (uid: OperatorUid) => RestoredState | undefined {
    const { restore } = this.#options;
    const byOperator = grouped(restore?.subtasks.get(subtaskName(subtask)) ?? [], ({ uid }) => uid);
    return (uid) => {
      // Asked before each operator is opened: in an attempt that has failed, none is opened any more.
      this.#abort.signal.throwIfAborted();
      const parts = byOperator.get(uid);
      if (restore === undefined || parts === undefined) return undefined;
      return restoredState(restore.checkpointId, uid, parts, restore, this.#reading?.from);
    };
  }

  #context(stage: PlannedStage, operator: PlannedOperator, subtask: number, owner?: OperatorOwner): OperatorContext {
    const { parallelism, maxParallelism } = stage;
    const { uid, node } = operator;
    return operatorContext(this.#ofOperators, { uid, name: node.name, subtask, parallelism, maxParallelism }, owner);
  }
}

function loopNodeOf({ node }: PlannedOperator): LoopNode | undefined {
  return node.kind === 'operator' ? node.loop : undefined;
}

function createOperator(spec: OperatorSpec, context: OperatorContext): Operator {
  try {
    return spec.create(context);
  } catch (error) {
    throw operatorFailure(context, error);
  }
}
