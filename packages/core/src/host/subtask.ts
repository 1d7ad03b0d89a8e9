import type { AlignmentAction, AlignmentMode } from '../barrier/modes.js';
import { closeInTurn } from '../contracts/all-of.js';
import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Clock } from '../contracts/clock.js';
import type { SubtaskReport } from '../contracts/coordinator.js';
import type { AbortReason } from '../contracts/job-events.js';
import type { KeyGroupRange } from '../contracts/snapshot.js';
import type { Slice } from '../contracts/state-backend.js';
import {
  cancelMarker,
  END_OF_CHANNEL,
  END_OF_DATA,
  FINAL_WATERMARK,
  type Barrier,
  type EndOfData,
  type RecordBatch,
  type Watermark,
} from '../element/element.js';
import {
  subtaskName,
  type AttemptNumber,
  type CheckpointId,
  type JobName,
  type OperatorUid,
  type StageId,
  type SubtaskId,
} from '../element/ids.js';
import { forwarded, isOvertaking } from '../element/overtaking.js';
import { WeirError } from '../errors.js';
import type { OperatorEnd, RestoredState } from '../operator/operator.js';
import type { SourceOperator } from '../operator/source-operator.js';
import { operatorFailure } from '../operator/user-code.js';
import type { EncodedCapture } from '../snapshot/encode-capture.js';
import { leftToCommit } from '../snapshot/left-to-commit.js';
import { Relay } from '../stage/segments.js';
import { Stage, type StageOperator } from '../stage/stage.js';
import { StageFlow } from '../stage/stage-flow.js';
import { BarrierTimeouts } from './barrier-timeouts.js';
import { ChunkSize } from '../stage/chunk-size.js';
import { Completions } from '../stage/completions.js';
import { ProcessingTimers } from '../stage/processing-timers.js';
import type { InFlightCapture } from './in-flight-capture.js';
import { InputGate, type InputChannel } from './input-gate.js';
import { FinalCheckpoint } from './final-checkpoint.js';
import type { LoopMember } from './loop-end.js';
import { LoopHead, type LoopHeadOptions } from './loop-head.js';
import { Mailbox } from '../stage/mailbox.js';
import type { LocalCopies } from './local-copies.js';
import { Overdraft } from '../stage/overdraft.js';
import type { Pauses } from './pauses.js';
import { Router, type OutputEdge } from './router.js';
import type { Runnable, Scheduler } from './scheduler.js';
import { SnapshotWrites, type SnapshotTiming } from './snapshot-writes.js';

export interface SubtaskOptions {
  readonly job: JobName;
  readonly id: SubtaskId;
  readonly attempt: AttemptNumber;
  readonly keyGroups: KeyGroupRange;
  readonly inputCount: number;
  readonly inputs: readonly InputChannel[];
  /** Of a loop's head. */
  readonly loop?: SubtaskLoop | undefined;
  readonly outputs: readonly OutputEdge[];
  readonly mode: AlignmentMode;
  /** False: a checkpoint under way is aborted when an input ends. */
  readonly checkpointsAfterEnd: boolean;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Aborts with the attempt. */
  readonly signal: AbortSignal;
  /** Where the parts of a pending checkpoint go; undefined once it is no longer pending. */
  readonly location: (checkpointId: CheckpointId) => CheckpointLocation | undefined;
  readonly localCopies?: LocalCopies | undefined;
  /** More records must wait until captures have been written. */
  readonly isOverBudget: () => boolean;
  readonly report: (report: SubtaskReport) => void;
  /** The barrier has gone on. */
  readonly onForwarded: (checkpointId: CheckpointId) => void;
  /** Nothing to do, until something comes. */
  readonly onIdle?: (() => void) | undefined;
  /** Past end of data, and finished. */
  readonly onEnded: () => void;
  /** Somebody else is not past its end; otherwise the whole attempt is about to end. */
  readonly othersRun: () => boolean;
  /** That is covered by a completed checkpoint, and the output of it is committed: it takes part in nothing any more. */
  readonly onLeft: () => void;
  readonly onFailed: (error: unknown) => void;
}

/** What makes a subtask one of a loop's head. */
export type SubtaskLoop = Omit<LoopHeadOptions<unknown>, 'onArrival' | 'onFailed' | 'records' | 'closed' | 'discarded'>;
/** What is to be written once the barrier is back. */
interface WaitingSnapshot {
  readonly captures: readonly EncodedCapture[];
  readonly timing: SnapshotTiming;
  readonly inFlight: InFlightCapture | undefined;
}

/**
 * One parallel instance of a stage in the embedded host: its mailbox, its input, its checkpoints. Everything it does happens in `run`, one step
 * after the other; what comes from elsewhere is put into the mailbox.
 */
export class Subtask implements Runnable, LoopMember {
  readonly id: SubtaskId;
  readonly #options: SubtaskOptions;
  readonly #flow: StageFlow;
  readonly #relay = new Relay();
  readonly #router: Router;
  readonly #gate: InputGate | undefined;
  readonly #loop: LoopHead<WaitingSnapshot> | undefined;
  readonly #writes: SnapshotWrites;
  readonly #chunk = new ChunkSize();
  readonly #timeouts: BarrierTimeouts;
  readonly #overdraft = new Overdraft();
  #sentBefore = 0;
  #stage: Stage | undefined;
  #source: SourceOperator<unknown> | undefined;
  readonly #mailbox: Mailbox;
  readonly #due: ProcessingTimers;
  /** Something due has run since records could move last: it is their turn. */
  #wasDue = false;
  readonly #completions: Completions;
  /** What must settle before the next step: an asynchronous prepare or finish. */
  #step: Promise<void> | undefined;
  /** As it will go on, once the stage is prepared. */
  #preparing: Barrier | undefined;
  /** The savepoint to stop with that this subtask has passed: nothing moves before it is known what became of it. */
  #stopBarrier: CheckpointId | undefined;
  #barriers: Barrier[] = [];
  /** Held back by a loop's head. */
  #finalTime: Watermark | undefined;
  /** What ended the input, until that has been carried out. */
  #ending: Omit<EndOfData, 'kind'> | undefined;
  /** `stopped`: another run may go on from here. */
  #end: 'no' | 'stopped' | 'finished' = 'no';
  readonly #last = new FinalCheckpoint();
  #opening: Promise<void> = Promise.resolve();
  #recordsIn = 0;
  #opened = false;
  #closed = false;
  #closing: Promise<void> | undefined;
  #awaiting: string | undefined;
  #hasLeft = false;

  constructor(options: SubtaskOptions) {
    this.id = options.id;
    this.#options = options;
    const wake = (): void => {
      options.scheduler.wake(this);
    };
    this.#mailbox = new Mailbox(wake);
    this.#due = new ProcessingTimers(options.clock, wake);
    this.#completions = new Completions(
      (checkpointId) => this.#stage?.completed(checkpointId) ?? Promise.resolve(),
      (error) => {
        this.#fail(error);
      },
    );
    this.#router = new Router(options.outputs, options.id.index, wake);
    this.#flow = new StageFlow(
      () => this.#relay.isEmpty && this.#maySend(),
      (failure) => {
        if (failure !== undefined) this.#fail(failure.error);
        else wake();
      },
      // What is held is state of a sink, and who has finished restores none.
      () => this.#isOverdrawn && this.#end === 'no',
    );
    this.#writes = new SnapshotWrites(options, wake);
    this.#timeouts = new BarrierTimeouts(options.clock, (checkpointId) => {
      this.post(() => {
        this.#overtakeFromNowOn(checkpointId);
      });
    });
    if (options.inputs.length > 0) {
      this.#gate = new InputGate(
        options.inputs,
        options.mode,
        () => options.clock.monotonic(),
        {
          records: (input, batch) => {
            this.#recordsIn += batch.records.length;
            this.#stage?.accept(input, batch);
          },
          alignment: (action, inFlight) => {
            this.#align(action, inFlight);
          },
          announced: (barrier) => {
            this.#timeouts.saw(barrier);
          },
          time: (signal) => {
            // What still goes round is not late: the last watermark waits until nothing does.
            if (this.#loop !== undefined && signal.kind === 'watermark' && signal.time === FINAL_WATERMARK.time)
              this.#finalTime = signal;
            else this.#stage?.time(signal);
          },
          endOfData: (end) => {
            // What goes round a loop may outlive its input: then the end comes with endLoop.
            if (this.#loop === undefined || !end.drain) this.#ending = end;
          },
        },
        wake,
        { checkpointsAfterEnd: options.checkpointsAfterEnd },
      );
    }
    if (options.loop !== undefined) this.#loop = this.#loopHead(options.loop, wake);
  }

  /** Records taken from channels. */
  get recordsIn(): number {
    return this.#recordsIn;
  }
  /** Records handed to channels. */
  get recordsOut(): number {
    return this.#router.records;
  }
  /** The output is full: nothing moves until the consumers have caught up. */
  get isBackPressured(): boolean {
    return !this.#router.hasDemand;
  }
  get flow(): StageFlow {
    return this.#flow;
  }

  /** Runs `action` between two records. */
  post(action: () => void): void {
    this.#mailbox.post(action);
  }

  /** Runs `action` after `delayMs`, when a record could move, unless the input has ended by then. The function returned cancels it. */
  after(delayMs: number, action: () => void): () => void {
    return this.#due.after(delayMs, action);
  }

  open(
    operators: readonly StageOperator[],
    source: SourceOperator<unknown> | undefined,
    restored: (uid: OperatorUid) => RestoredState | undefined,
    pause: Pauses['due'],
  ): Promise<void> {
    this.#source = source;
    const { job, inputCount: inputs, id } = this.#options;
    this.#stage = new Stage({
      operators,
      inputs,
      output: (element) => {
        if (element.kind === 'batch') this.#router.emit(element);
        else this.#router.broadcast(element);
      },
      failed: (error) => {
        this.#fail(error);
      },
      drained: () => this.#flow.drained(),
      failureOf: (uid, error) => operatorFailure({ uid, job, subtask: id.index }, error),
      relay: this.#relay,
      pause,
    });
    this.#opening = this.#stage.restoreAndOpen(restored);
    return this.#opening;
  }

  /** Records that went round when the restored checkpoint was taken: they come before anything else. */
  replay(batches: readonly RecordBatch<unknown>[]): void {
    this.#loop?.restore(batches);
  }

  isQuiet(loop: ReadonlySet<StageId>): boolean {
    return (
      this.#mailbox.isEmpty &&
      !this.#flow.isWaiting &&
      !this.#flow.isSuspended &&
      this.#step === undefined &&
      this.#due.isEmpty &&
      this.#gate?.isQuiet(loop) !== false &&
      this.#loop?.isEmpty !== false
    );
  }

  endTime(): void {
    this.post(() => {
      if (this.#finalTime !== undefined) this.#stage?.time(this.#finalTime);
      this.#finalTime = undefined;
    });
  }

  endLoop(): void {
    this.post(() => {
      this.#ending = { drain: true };
    });
  }

  start(): void {
    this.#opened = true;
    this.#options.scheduler.wake(this);
  }

  /** Instead of `start`: the checkpoint that is restored says that it has finished. */
  skip(): void {
    this.#gate?.abandon();
    // Event time was over too: who waits for it has it from nobody else (Flink: FinishedOnRestoreSourceOperator).
    this.#router.broadcast(FINAL_WATERMARK);
    this.#router.broadcast(END_OF_DATA);
    this.#leave();
  }

  run(slice: Pick<Slice, 'isOver'>): boolean {
    try {
      this.#flow.begin(slice);
      const more = this.#work(slice);
      this.#router.flush();
      if (!more) this.#options.onIdle?.();
      return more;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Nobody sends it barriers: it is a source, or all of its producers have finished, and it has taken all that they sent (FLIP-147). */
  get needsTrigger(): boolean {
    return this.#gate?.isEnded !== false;
  }

  /** For a subtask that has left: consumers that have not come to its end yet get the barrier as if it had not. */
  passOn(barrier: Barrier): void {
    this.#router.forwardBeforeEnd(barrier);
  }

  /** Puts a barrier in front of whatever comes next. */
  trigger(barrier: Barrier): void {
    this.post(() => {
      this.#barriers.push(barrier);
      this.#timeouts.saw(barrier);
    });
  }

  /** Settles once what this checkpoint covers is committed. */
  completed(checkpointId: CheckpointId): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#hasLeft) {
        resolve();
        return;
      }
      if (this.#closed) {
        const { job, id } = this.#options;
        reject(new WeirError('JOB_NOT_RUNNING', `Subtask ${subtaskName(id)} of job ${job} is closed.`));
        return;
      }
      this.post(() => {
        this.#timeouts.ended(checkpointId);
        this.#reached(checkpointId).then(resolve, reject);
      });
    });
  }

  aborted(checkpointId: CheckpointId, latestCompleted: CheckpointId): void {
    this.post(() => {
      // Whether that can be committed is for whoever completed it to hear.
      this.#reached(latestCompleted).catch(() => undefined);
      this.#barriers = this.#barriers.filter((barrier) => barrier.checkpointId !== checkpointId);
      this.#timeouts.ended(checkpointId);
      this.#writes.abort(checkpointId);
      this.#gate?.abort(checkpointId);
      this.#loop?.aborted(checkpointId);
      if (this.#preparing?.checkpointId === checkpointId) this.#preparing = undefined;
      if (this.#stopBarrier === checkpointId) this.#stopBarrier = undefined;
      this.#stage?.aborted(checkpointId);
    });
  }

  /** What its end waits for, as words. */
  get closing(): string | undefined {
    return this.#awaiting;
  }

  /** Nothing of this subtask runs any more when it settles. Call it after the attempt's signal was aborted, unless the job finished. */
  close(end: OperatorEnd): Promise<void> {
    this.#closing ??= this.#close(end);
    return this.#closing;
  }

  async #close(end: OperatorEnd): Promise<void> {
    this.#closed = true;
    this.#timeouts.close();
    this.#mailbox.close();
    this.#due.close();
    this.#router.close();
    this.#flow.abandon(this.#options.signal.reason);
    const awaiting =
      (what: string, step: () => Promise<unknown> | undefined): (() => Promise<unknown> | undefined) =>
      () => {
        this.#awaiting = what;
        return step();
      };
    try {
      // Whatever fails on the way, operators are closed: they have files, databases and connections open.
      await closeInTurn([
        // What is being opened is opened to its end, so that it can be closed.
        awaiting('a call of an operator, source or sink', () => this.#opening.catch(() => undefined)),
        () => this.#step?.catch(() => undefined),
        () => this.#flow.idle(),
        () => this.#loop?.close(),
        awaiting('the checkpoint storage, for the snapshot', () => this.#writes.close()),
        awaiting('commits', () => this.#completions.idle()),
        awaiting('closing an operator, source or sink', () => this.#stage?.close(end)),
      ]);
    } finally {
      this.#awaiting = undefined;
      // Whoever has finished early must not keep its state for as long as the others run.
      this.#stage = undefined;
      this.#source = undefined;
    }
  }

  /** Nothing of it will ever run again, but its attempt goes on. */
  #leave(): void {
    this.#hasLeft = true;
    this.#router.broadcast(END_OF_CHANNEL);
    this.close('finished').catch(() => undefined);
    this.#options.onLeft();
  }

  async #reached(checkpointId: CheckpointId): Promise<void> {
    await this.#completions.reached(checkpointId);
    this.post(() => {
      this.#last.committed(checkpointId);
    });
  }

  /** Its producers go first, and what it has written is durable: no checkpoint is under way that still needs it. */
  get #mayLeave(): boolean {
    if (!this.#last.isCommitted || this.#barriers.length > 0 || this.#writes.isBusy) return false;
    if (!this.#options.othersRun()) return false;
    return this.#gate?.isEnded !== false && this.#router.isDrained;
  }

  #work(slice: Pick<Slice, 'isOver'>): boolean {
    for (;;) {
      // What is left of a failed attempt must not reach a checkpoint: nothing moves any more.
      if (this.#options.signal.aborted) return false;
      this.#mailbox.read();
      if (!this.#opened || this.#closed || this.#flow.isWaiting) return false;
      const isOvertaken = this.#isOvertaken;
      if (isOvertaken) this.#overdraft.begin(this.#moved);
      else if (this.#step === undefined) this.#overdraft.end();
      if (this.#flow.isSuspended) {
        // Also during a step: what an operator emits while it prepares must get through before the barrier leaves.
        if (!this.#maySend()) return false;
        this.#flow.resume();
      } else if (this.#step !== undefined) {
        return false;
      } else if (this.#stopBarrier !== undefined) {
        if (this.#loop?.advanceStanding() !== true) return false;
      } else if (this.#gate?.isOvertaken === true) {
        this.#gate.advanceOvertaking();
      } else if (this.#isDrained && this.#gate === undefined) {
        // A source that is drained ends in front of the barrier.
        this.#endInput({ drain: true, resumable: true });
      } else {
        // A loop that is drained ends in front of it too, once nothing goes round any more.
        const barrier = this.#isDrained ? undefined : this.#barriers.shift();
        if (barrier !== undefined) this.#checkpoint(barrier, this.#options.clock.monotonic());
        else if (this.#ending !== undefined) this.#endInput(this.#ending);
        else if (this.#mayLeave) this.#leave();
        else if (!this.#advance()) return false;
      }
      if (slice.isOver()) return true;
    }
  }

  /** A barrier is here that does not wait for what is in front of it, or will not in the outputs. */
  get #isOvertaken(): boolean {
    const next = this.#preparing ?? this.#barriers[0];
    return this.#gate?.isOvertaken === true || (next !== undefined && isOvertaking(next));
  }

  get #isOverdrawn(): boolean {
    return this.#overdraft.allows(this.#moved);
  }

  /** Records that the stage has sent, or holds to write them later. */
  get #moved(): number {
    return this.#router.records + this.#flow.heldRecords;
  }

  #maySend(): boolean {
    return this.#router.hasDemand || this.#isOverdrawn;
  }

  #overtakeFromNowOn(checkpointId: CheckpointId): void {
    const late = (barrier: Barrier): Barrier =>
      barrier.checkpointId === checkpointId ? forwarded(barrier, true) : barrier;
    this.#barriers = this.#barriers.map(late);
    this.#preparing &&= late(this.#preparing);
    this.#gate?.timeout(checkpointId);
  }

  /** Data has to end before the next barrier. */
  get #isDrained(): boolean {
    return this.#barriers[0]?.stop === 'drain' && this.#end === 'no';
  }

  /** False: nothing can move now, and whoever changes that wakes the subtask. */
  #advance(): boolean {
    if (!this.#router.hasDemand || this.#options.isOverBudget() || this.#loop?.isOverBudget === true)
      return this.#advanceControl();
    // In turn with records, so that neither keeps the other waiting.
    this.#wasDue = !this.#wasDue && this.#due.run();
    if (this.#wasDue) return true;
    const { clock } = this.#options;
    this.#chunk.gave(this.#router.records - this.#sentBefore);
    this.#sentBefore = this.#router.records;
    const before = clock.monotonic();
    let moved: boolean;
    if (this.#gate !== undefined) moved = this.#take(this.#gate, this.#chunk.size);
    else if (this.#end !== 'no' || this.#source === undefined) return false;
    else {
      const result = this.#source.pull(this.#chunk.size);
      if (result === 'ended') this.#ending = { drain: true };
      moved = result !== 'waiting';
    }
    if (moved) this.#chunk.took(clock.monotonic() - before);
    // Without anything to move it is the turn of what fell due meanwhile: nobody wakes this subtask for it again.
    else this.#wasDue = this.#due.run();
    return moved || this.#wasDue;
  }

  #take(gate: InputGate, max: number): boolean {
    const loop = this.#loop;
    if (loop === undefined) return gate.advance(max);
    if (loop.isReplaying || this.#isDrained) return loop.advance(max);
    if (loop.letsInputGo && gate.advance(max)) {
      loop.inputWent();
      return true;
    }
    if (loop.advance(max)) return true;
    return loop.isFetching ? gate.advanceControl() : gate.advance(max);
  }

  #advanceControl(): boolean {
    if (this.#loop?.isReplaying === true) return false;
    return this.#loop?.advanceControl() === true || (!this.#isDrained && this.#gate?.advanceControl() === true);
  }

  #endInput({ drain, resumable = false }: Omit<EndOfData, 'kind'>): void {
    const stage = this.#stage as Stage;
    // What goes round a loop, and state that every other subtask restores too, is lost if it is not in every checkpoint.
    const isFinal = drain && !resumable && this.#loop === undefined && !stage.hasUnionState;
    this.#ending = undefined;
    this.#end = isFinal ? 'finished' : 'stopped';
    // As in Flink: what waits for a time that has not come stays in the checkpoint, and is not called early (ProcessingTimeService.quiesce).
    this.#due.close();
    this.#loop?.end(drain ? 'drain' : 'suspend');
    this.#hold(drain ? stage.finish() : undefined, () => {
      this.#router.broadcast(
        isFinal ? { kind: 'end-of-data', drain } : { kind: 'end-of-data', drain, resumable: true },
      );
      this.#options.onEnded();
    });
  }

  #align(action: AlignmentAction, inFlight: InFlightCapture | undefined): void {
    switch (action.kind) {
      case 'block':
      case 'unblock-all':
      case 'let-overtake':
      case 'persist':
      case 'persisted':
      case 'inputs-complete':
        // The gate itself asks the alignment before it takes from a channel, and keeps what is in flight.
        return;
      case 'snapshot':
        if (this.#loop !== undefined && action.barrier.stop === 'drain') this.#barriers.push(action.barrier);
        else this.#checkpoint(action.barrier, action.startedAt, inFlight);
        return;
      case 'abort':
        this.#writes.abort(action.checkpointId);
        this.#router.broadcast(cancelMarker(action.checkpointId));
        if (action.reason !== undefined) this.#decline(action.checkpointId, action.reason, undefined);
    }
  }

  /**
   * The steps of a snapshot, nothing in between (Flink: SubtaskCheckpointCoordinatorImpl.checkpointState).
   * 1. prepare, head to tail: what it emits belongs before the barrier
   * 2. the barrier goes on, so that consumers start to align, or to snapshot
   * 3. capture, tail to head
   * 4. records move again, and the capture is written meanwhile, with what other inputs deliver before an unaligned barrier
   */
  #checkpoint(barrier: Barrier, startedAt: number, inFlight?: InFlightCapture): void {
    const stage = this.#stage as Stage;
    const { clock, mode } = this.#options;
    const { checkpointId } = barrier;
    const begun = clock.monotonic();
    this.#preparing = barrier;
    // Also where barriers are forced into line: what this one finds in the outputs it may overtake.
    this.#timeouts.saw(barrier);
    this.#hold(stage.prepare(checkpointId, barrier.snapshot), () => {
      const prepared = this.#preparing;
      if (prepared?.checkpointId !== checkpointId) {
        this.#router.broadcast(cancelMarker(checkpointId));
        return;
      }
      this.#preparing = undefined;
      this.#router.forward(prepared);
      this.#options.onForwarded(checkpointId);
      if (barrier.stop !== undefined) this.#stopBarrier = checkpointId;
      const captures = stage.capture(checkpointId, barrier.isIncremental === true ? 'incremental' : 'full');
      const timing = { alignmentMs: begun - startedAt, syncMs: clock.monotonic() - begun };
      if (this.#loop !== undefined) {
        this.#loop.snapshotTaken(checkpointId, { captures, timing, inFlight });
        return;
      }
      if (this.#end === 'finished') this.#last.captured(checkpointId);
      // Where barriers are counted only, the end may have come behind the barrier of another input: what is read again has to find its state.
      const isFinished = this.#end === 'finished' && mode !== 'counting';
      const parts = isFinished ? leftToCommit(captures) : captures;
      this.#writes.start(checkpointId, parts, timing, inFlight, undefined, isFinished);
    });
  }

  /** The snapshot of a loop's head is complete once the barrier has gone round. */
  #loopHead(options: SubtaskLoop, wake: () => void): LoopHead<WaitingSnapshot> {
    return new LoopHead<WaitingSnapshot>({
      ...options,
      onArrival: wake,
      onFailed: (error) => {
        this.#fail(error);
      },
      records: (batch) => this.#stage?.accept(0, batch),
      closed: ({ checkpointId, captured: { captures, timing, inFlight }, state }) => {
        this.#writes.start(checkpointId, captures, timing, inFlight, state);
      },
      discarded: ({ captures, inFlight }) => {
        inFlight?.discard();
        for (const { keyed } of captures) keyed?.release();
      },
    });
  }

  /** Goes on with `next` at once, or when `pending` has settled; until then nothing else moves. */
  #hold(pending: PromiseLike<void> | void, next: () => void): void {
    if (pending === undefined) {
      next();
      return;
    }
    this.#step = Promise.resolve(pending).then(
      () => {
        this.#step = undefined;
        this.post(next);
      },
      (error: unknown) => {
        this.#step = undefined;
        this.#fail(error);
      },
    );
  }

  #decline(checkpointId: CheckpointId, reason: AbortReason, error: unknown): void {
    const { attempt, report } = this.#options;
    report({ kind: 'decline', attempt, subtask: this.id, checkpointId, reason, error });
  }

  #fail(error: unknown): void {
    if (!this.#closed) this.#options.onFailed(error);
  }
}
