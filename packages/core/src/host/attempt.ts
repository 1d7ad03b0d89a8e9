import { setMaxListeners } from 'node:events';
import type { AlignmentMode } from '../barrier/modes.js';
import { boundedSource } from '../bounds/bounded-source.js';
import { allClosed } from '../contracts/all-of.js';
import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { AttemptGateway, SubtaskReport } from '../contracts/coordinator.js';
import type { EnumeratorSnapshot } from '../contracts/snapshot.js';
import type { TemporaryFiles } from '../contracts/temporary-files.js';
import { untilAborted } from '../contracts/until-aborted.js';
import type { Barrier } from '../element/element.js';
import { grouped } from '../element/grouped.js';
import { subtaskName, type AttemptNumber, type CheckpointId, type SubtaskId } from '../element/ids.js';
import { keyGroupRange } from '../element/key-group.js';
import { WeirError } from '../errors.js';
import type { PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { OperatorContext, OperatorEnd } from '../operator/operator.js';
import { operatorContext, type OperatorOwner, type OperatorServices } from '../stage/operator-context.js';
import { AttemptLoops } from './attempt-loops.js';
import { AttemptSinks, type AttemptSinksOptions } from './attempt-sinks.js';
import { BarrierWaits } from './barrier-waits.js';
import { closingWords } from './closing-words.js';
import { deploy, type DeployedSubtask, type SubtaskPlace } from './deploy.js';
import type { LocalCopies, RestoredBytes } from './local-copies.js';
import { SubtaskOpener } from './open-subtask.js';
import { Pauses } from './pauses.js';
import { Scheduler } from './scheduler.js';
import { Sources } from './sources.js';
import { Subtask } from './subtask.js';
import { showSubtask } from './subtask-metrics.js';

export interface AttemptOptions extends AttemptSinksOptions, Omit<OperatorServices, 'signal'> {
  readonly attempt: AttemptNumber;
  readonly mode: AlignmentMode;
  /** False: what goes round in loops is in no checkpoint. */
  readonly logLoops?: boolean | undefined;
  /** Checkpoints go on after a subtask has finished. Default true. */
  readonly checkpointsAfterFinish?: boolean | undefined;
  /** Copies of keyed state, for a restore that need not wait for the checkpoint storage. */
  readonly localCopies?: LocalCopies | undefined;
  /** Everything was restored; of keyed state so many bytes, where there are local copies. */
  readonly onRead?: ((bytes: RestoredBytes) => void) | undefined;
  /** Place for what does not fit into memory. */
  readonly temporaryFiles: TemporaryFiles;
  /** Asks for a checkpoint; settles when it is over. Absent with checkpointing off. */
  readonly requestCheckpoint?: (() => Promise<unknown>) | undefined;
  readonly report: (report: SubtaskReport) => void;
  readonly onFinished?: ((subtask: SubtaskId) => void) | undefined;
}

/**
 * One run of a job on this thread: makes the subtasks of the plan, opens them with what they restore,
 * runs them, and ends them for certain.
 */
export class Attempt implements AttemptGateway {
  readonly attempt: AttemptNumber;
  readonly #options: AttemptOptions;
  readonly #abort = new AbortController();
  readonly #services: OperatorServices;
  readonly #scheduler: Scheduler;
  readonly #pauses: Pauses;
  readonly #sources = new Sources();
  readonly #subtasks: DeployedSubtask[] = [];
  /** Each takes a subtask's metrics back. */
  readonly #hideMetrics: (() => void)[] = [];
  readonly #locations = new Map<CheckpointId, CheckpointLocation>();
  /** Where keyed state is restored from, if there is anything but the storage. */
  readonly #reading: ReturnType<LocalCopies['reading']> | undefined;
  readonly #barrierWaits: BarrierWaits | undefined;
  readonly #sinks: AttemptSinks;
  readonly #loops: AttemptLoops;
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
    this.#services = { ...options, signal: this.#abort.signal };
    if (options.restore !== undefined) this.#reading = options.localCopies?.reading(options.restore);
    this.#scheduler = new Scheduler(options.clock);
    this.#pauses = new Pauses(options.clock);
    this.#finished = new Set(options.restore?.finished);
    // Every reader, writer and wait of every subtask may listen; more than ten are no leak.
    setMaxListeners(0, this.#abort.signal);
    const { clock, requestCheckpoint: request } = options;
    const underWay = (): Iterable<CheckpointId> => this.#locations.keys();
    if (request !== undefined) this.#barrierWaits = new BarrierWaits({ clock, signal: this.signal, underWay, request });
    this.#sinks = new AttemptSinks(options, this.#barrierWaits);
    this.#loops = new AttemptLoops({ ...options, underWay });
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

  async #make(): Promise<void> {
    await deploy(this.#options.plan, {
      subtaskOf: (place) => this.#subtask(place),
      onDeployed: (deployed) => {
        this.#subtasks.push(deployed);
        this.#hideMetrics.push(showSubtask(this.#options.metrics, this.#options.job, deployed.subtask));
      },
      pauses: this.#pauses,
      signal: this.signal,
    });
    this.#running = this.#subtasks.filter(({ subtask }) => !this.#isFinished(subtask.id)).length;
    this.#loops.watch(this.#subtasks);
  }

  #subtask({ stage, index, inputs, feedback, outputs, stores }: SubtaskPlace): Subtask {
    const { job, attempt, mode, clock, localCopies, report, checkpointsAfterFinish = true } = this.#options;
    const id: SubtaskId = Object.freeze({ stage: stage.id, index });
    return new Subtask({
      job,
      // Events carry it to whoever subscribes.
      id,
      attempt,
      keyGroups: keyGroupRange(index, stage.parallelism, stage.maxParallelism),
      inputCount: stage.inputs,
      inputs,
      loop: this.#loops.of(stage, feedback),
      outputs,
      mode,
      checkpointsAfterEnd: checkpointsAfterFinish,
      clock,
      scheduler: this.#scheduler,
      signal: this.signal,
      location: (checkpointId) => this.#locations.get(checkpointId),
      localCopies,
      isOverBudget: () => stores.some((store) => store.isOverBudget()),
      report,
      onForwarded: (checkpointId) => {
        if (stage.inputs === 0) this.#sources.injected((stage.operators[0] as PlannedOperator).uid, checkpointId);
      },
      onIdle: () => {
        this.#loops.idle(stage.id);
      },
      onEnded: () => {
        if (--this.#running === 0) this.#onAllEnded();
      },
      othersRun: () => this.#running > 0,
      onLeft: () => {
        // Its operators close them.
        stores.length = 0;
        this.#onLeft(id);
      },
      onFailed: (error) => {
        this.fail(error);
      },
    });
  }

  async #open(): Promise<void> {
    this.#pauses.begin();
    this.#making = this.#make();
    await this.#making;
    // What the outside has is looked at before anything is changed there, or a source started.
    await this.#sinks.open((stage, operator) => this.#context(stage, operator, 0));
    await this.#openEnds();
    const opener = new SubtaskOpener(this.#options, {
      sources: this.#sources,
      sinks: this.#sinks,
      pauses: this.#pauses,
      signal: this.signal,
      reading: this.#reading,
      contextOf: (stage, operator, subtask, owner) => this.#context(stage, operator, subtask, owner),
    });
    const opened: Promise<void>[] = [];
    for (const deployed of this.#subtasks) {
      await this.#pauses.due();
      // In the same turn as the others, but for very many.
      opened.push(this.#openSubtask(opener, deployed));
    }
    await Promise.all(opened);
    this.signal.throwIfAborted();
    if (this.#reading !== undefined) this.#options.onRead?.(this.#reading.bytes());
  }

  /** Starts the enumerators of sources, and prepares sinks. */
  async #openEnds(): Promise<void> {
    const { plan, restore, calls } = this.#options;
    for (const stage of plan.stages) {
      for (const operator of stage.operators) {
        const { node, uid } = operator;
        if (node.kind === 'operator' || (node.kind === 'source' && this.#hasFinished(stage))) continue;
        await this.#pauses.due();
        this.signal.throwIfAborted();
        const context = this.#context(stage, operator, 0);
        if (node.kind === 'source')
          await this.#sources.start(boundedSource(node.source, uid, calls), context, restore?.enumerators.get(uid));
        else await this.#sinks.prepare(node.sink, context);
      }
    }
  }

  async #openSubtask(opener: SubtaskOpener, deployed: DeployedSubtask): Promise<void> {
    try {
      if (this.#isFinished(deployed.subtask.id)) await opener.commitRest(deployed);
      else await opener.open(deployed);
    } catch (error) {
      // The others hear of it at once: one that waits for something in vain would keep this attempt
      // from failing.
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

  /** Words for whom the end of the attempt waits for; undefined: for nobody. */
  get waitsFor(): string | undefined {
    return closingWords(this.#subtasks);
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

  #context(stage: PlannedStage, operator: PlannedOperator, subtask: number, owner?: OperatorOwner): OperatorContext {
    const { parallelism, maxParallelism } = stage;
    const { uid, node } = operator;
    return operatorContext(this.#services, { uid, name: node.name, subtask, parallelism, maxParallelism }, owner);
  }
}
