import type { Awaitable } from '../contracts/awaitable.js';
import type { Clock } from '../contracts/clock.js';
import type { CaptureMode, Slice } from '../contracts/state-backend.js';
import type { ControlElement, IdleFlag, RecordBatch, SnapshotKind, Watermark } from '../element/element.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import type { OperatorEnd, RestoredState } from '../operator/operator.js';
import type { SourceOperator } from '../operator/source-operator.js';
import type { EncodedCapture } from '../snapshot/encode-capture.js';
import { ChunkSize } from './chunk-size.js';
import { Completions } from './completions.js';
import { Mailbox } from './mailbox.js';
import { Overdraft } from './overdraft.js';
import { ProcessingTimers } from './processing-timers.js';
import { Relay } from './segments.js';
import { Stage, type StageOptions } from './stage.js';
import { StageFlow } from './stage-flow.js';

/** Output of a running stage: takes everything, and has no demand while that is more than it should. */
export interface StageOutput {
  readonly hasDemand: boolean;
  /** Records that were emitted so far. */
  readonly records: number;
  emit(batch: RecordBatch<unknown>): void;
  broadcast(element: ControlElement): void;
}

export interface RunningStageOptions {
  readonly clock: Clock;
  readonly output: StageOutput;
  /** Reason for which suspended work is abandoned when the stage is stopped. */
  readonly signal: AbortSignal;
  /** Has `advance` called soon. */
  readonly wake: () => void;
  /** Hands over up to `max` records of the input; false: there are none now. Absent for a source. */
  readonly take?: ((max: number) => boolean) | undefined;
  /** The source has no more records. */
  readonly onSourceEnded: () => void;
  /** Is called with whatever fails until the stage is stopped. */
  readonly onFailed: (error: unknown) => void;
}

/** Operators of a stage, and what they restore. */
export interface StageOpening extends Pick<StageOptions, 'operators' | 'inputs' | 'failureOf' | 'pause'> {
  readonly source: SourceOperator<unknown> | undefined;
  readonly restored: (uid: OperatorUid) => RestoredState | undefined;
}

/**
 * A stage with all that makes it run on one thread: its flow, mailbox, timers and source. Its host
 * says when it may run, where records come from, and what a checkpoint is.
 */
export class RunningStage {
  readonly flow: StageFlow;
  readonly #options: RunningStageOptions;
  readonly #relay = new Relay();
  readonly #mailbox: Mailbox;
  readonly #timers: ProcessingTimers;
  readonly #chunk = new ChunkSize();
  readonly #overdraft = new Overdraft();
  readonly #completions: Completions;
  #stage: Stage | undefined;
  #source: SourceOperator<unknown> | undefined;
  #opening: Promise<void> = Promise.resolve();
  /** What must settle before the next step: an asynchronous prepare or finish. */
  #held: Promise<void> | undefined;
  /** Something due has run since records could move last: it is their turn. */
  #wasDue = false;
  #sentBefore = 0;
  #state: 'created' | 'running' | 'stopped' = 'created';
  #isPastEnd = false;

  constructor(options: RunningStageOptions) {
    this.#options = options;
    const { wake } = options;
    this.#mailbox = new Mailbox(wake);
    this.#timers = new ProcessingTimers(options.clock, wake);
    this.#completions = new Completions(
      (checkpointId) => this.#stage?.completed(checkpointId) ?? Promise.resolve(),
      (error) => {
        this.fail(error);
      },
    );
    this.flow = new StageFlow(
      () => this.#relay.isEmpty && this.maySend,
      (failure) => {
        if (failure !== undefined) this.fail(failure.error);
        else wake();
      },
      // What is held is state of a sink, and a stage that has finished restores none.
      () => this.#isOverdrawn && !this.#isPastEnd,
    );
  }

  /** It has been started, and not been stopped since. */
  get isRunning(): boolean {
    return this.#state === 'running';
  }
  get isStopped(): boolean {
    return this.#state === 'stopped';
  }
  /** An operator waits for something, so nothing moves. */
  get isWaiting(): boolean {
    return this.flow.isWaiting;
  }
  /** An operator has stopped between two records, and goes on before anything new is taken. */
  get isSuspended(): boolean {
    return this.flow.isSuspended;
  }
  /** A prepare or finish is under way. */
  get isHeld(): boolean {
    return this.#held !== undefined;
  }
  get maySend(): boolean {
    return this.#options.output.hasDemand || this.#isOverdrawn;
  }
  get hasUnionState(): boolean {
    return this.#opened.hasUnionState;
  }
  /** Nothing of it is under way or waits for its turn or time. */
  get isQuiet(): boolean {
    return this.#mailbox.isEmpty && !this.isWaiting && !this.isSuspended && !this.isHeld && this.#timers.isEmpty;
  }

  open({ source, restored, ...stage }: StageOpening): Promise<void> {
    const { output } = this.#options;
    this.#source = source;
    this.#stage = new Stage({
      ...stage,
      output: (element) => {
        if (element.kind === 'batch') output.emit(element);
        else output.broadcast(element);
      },
      failed: (error) => {
        this.fail(error);
      },
      drained: () => this.flow.drained(),
      relay: this.#relay,
    });
    this.#opening = this.#stage.restoreAndOpen(restored);
    return this.#opening;
  }

  start(): void {
    this.#state = 'running';
    this.#options.wake();
  }

  /** Runs `action` between two records. */
  post(action: () => void): void {
    this.#mailbox.post(action);
  }

  /**
   * Runs `action` after `delayMs`, when a record could move, unless the input has ended by then. The
   * function returned cancels it.
   */
  after(delayMs: number, action: () => void): () => void {
    return this.#timers.after(delayMs, action);
  }

  beginSlice(slice: Pick<Slice, 'isOver'>): void {
    this.flow.begin(slice);
  }

  readMailbox(): void {
    this.#mailbox.read();
  }

  /** A barrier that waits for nothing is there, or is not: with one, the stage sends without demand. */
  overdraw(isOvertaken: boolean): void {
    if (!this.isRunning || this.isWaiting) return;
    if (isOvertaken) this.#overdraft.begin(this.#moved);
    else if (!this.isHeld) this.#overdraft.end();
  }

  accept(input: number, batch: RecordBatch<unknown>): void {
    this.#stage?.accept(input, batch);
  }

  time(signal: Watermark | IdleFlag): void {
    this.#stage?.time(signal);
  }

  /** Goes on with what was suspended. */
  resume(): void {
    this.flow.resume();
  }

  /**
   * Runs what is due, or moves a chunk of records. False: nothing can move now, and whoever changes
   * that wakes the stage.
   */
  advance(): boolean {
    // In turn with records, so that neither keeps the other waiting.
    this.#wasDue = !this.#wasDue && this.#timers.run();
    if (this.#wasDue) return true;
    const { clock, output, take } = this.#options;
    this.#chunk.gave(output.records - this.#sentBefore);
    this.#sentBefore = output.records;
    const before = clock.monotonic();
    const moved = take === undefined ? this.#pull(this.#chunk.size) : take(this.#chunk.size);
    if (moved) this.#chunk.took(clock.monotonic() - before);
    // Without anything to move it is the turn of what fell due meanwhile: nobody wakes for it again.
    else this.#wasDue = this.#timers.run();
    return moved || this.#wasDue;
  }

  /** Prepares every operator, and goes on with `next`; until then nothing else moves. */
  prepare(checkpointId: CheckpointId, kind: SnapshotKind | undefined, next: () => void): void {
    this.#hold(this.#opened.prepare(checkpointId, kind), next);
  }

  capture(checkpointId: CheckpointId, mode: CaptureMode): readonly EncodedCapture[] {
    return this.#opened.capture(checkpointId, mode);
  }

  /** No input comes any more. With `drain` operators emit what is left in them before `next`. */
  end(drain: boolean, next: () => void): void {
    this.#isPastEnd = true;
    // As in Flink: what waits for a time that has not come stays in the checkpoint, and is not called
    // early (ProcessingTimeService.quiesce).
    this.#timers.close();
    this.#hold(drain ? this.#opened.finish() : undefined, next);
  }

  /** Settles once what this checkpoint covers is committed. */
  completed(checkpointId: CheckpointId): Promise<void> {
    return this.#completions.reached(checkpointId);
  }

  aborted(checkpointId: CheckpointId): void {
    this.#stage?.aborted(checkpointId);
  }

  fail(error: unknown): void {
    if (!this.isStopped) this.#options.onFailed(error);
  }

  /** Nothing new begins. */
  stop(): void {
    this.#state = 'stopped';
    this.#mailbox.close();
    this.#timers.close();
    this.flow.abandon(this.#options.signal.reason);
  }

  /** Settles when no call of an operator is under way; what is being opened is opened to its end. */
  async settled(): Promise<void> {
    await this.#opening.catch(() => undefined);
    await this.#held?.catch(() => undefined);
    await this.flow.idle();
  }

  /** Settles when no commit is under way. */
  committed(): Promise<void> {
    return this.#completions.idle();
  }

  async close(end: OperatorEnd): Promise<void> {
    try {
      await this.#stage?.close(end);
    } finally {
      // A stage that has finished early must not keep its state for as long as others run.
      this.#stage = undefined;
      this.#source = undefined;
    }
  }

  get #opened(): Stage {
    return this.#stage as Stage;
  }

  get #isOverdrawn(): boolean {
    return this.#overdraft.allows(this.#moved);
  }

  /** Records that the stage has sent, or holds to write them later. */
  get #moved(): number {
    return this.#options.output.records + this.flow.heldRecords;
  }

  #pull(max: number): boolean {
    if (this.#isPastEnd || this.#source === undefined) return false;
    const result = this.#source.pull(max);
    if (result === 'ended') this.#options.onSourceEnded();
    return result !== 'waiting';
  }

  /** Goes on with `next` at once, or when `pending` has settled; until then nothing else moves. */
  #hold(pending: Awaitable<void>, next: () => void): void {
    if (pending === undefined) {
      next();
      return;
    }
    this.#held = Promise.resolve(pending).then(
      () => {
        this.#held = undefined;
        this.post(next);
      },
      (error: unknown) => {
        this.#held = undefined;
        this.fail(error);
      },
    );
  }
}
