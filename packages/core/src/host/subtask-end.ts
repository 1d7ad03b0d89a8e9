import {
  END_OF_CHANNEL,
  END_OF_DATA,
  FINAL_WATERMARK,
  type EndOfData,
  type IdleFlag,
  type Watermark,
} from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import type { RunningStage } from '../stage/running-stage.js';
import { FinalCheckpoint } from './final-checkpoint.js';
import type { Router } from './router.js';
import type { SubtaskInput } from './subtask-input.js';

/** How an input ends. */
export type InputEnd = Omit<EndOfData, 'kind'>;

export interface SubtaskEndOptions {
  readonly stage: RunningStage;
  readonly router: Router;
  /** Absent for a source. */
  readonly input: SubtaskInput | undefined;
  /** The subtask is past end of data, and finished. */
  readonly onEnded: () => void;
  /** Somebody else is not past its end; otherwise the whole attempt is about to end. */
  readonly othersRun: () => boolean;
  /**
   * Its end is covered by a completed checkpoint, and the output of it is committed: it takes part in
   * nothing any more.
   */
  readonly onLeft: () => void;
}

/** The way of a subtask from the end of its input to where its attempt goes on without it (FLIP-147). */
export class SubtaskEnd {
  readonly #options: SubtaskEndOptions;
  /** End of the input, until it has been carried out. */
  #pending: InputEnd | undefined;
  /** `stopped`: another run may go on from here. */
  #state: 'no' | 'stopped' | 'finished' = 'no';
  readonly #final = new FinalCheckpoint();
  /** Last watermark, held back by the head of a loop until nothing goes round. */
  #finalTime: Watermark | undefined;
  #hasLeft = false;

  constructor(options: SubtaskEndOptions) {
    this.#options = options;
  }

  /** The input has ended, and that has not been carried out. */
  get isPending(): boolean {
    return this.#pending !== undefined;
  }
  get isPast(): boolean {
    return this.#state !== 'no';
  }
  /** Past its end, and no other run goes on from here. */
  get isFinished(): boolean {
    return this.#state === 'finished';
  }
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Its producers go first, and what it has written is durable. */
  get mayLeave(): boolean {
    const { othersRun, input, router } = this.#options;
    return this.#final.isCommitted && othersRun() && input?.gate.isEnded !== false && router.isDrained;
  }

  /** Hands on event time of the input. */
  time(signal: Watermark | IdleFlag): void {
    // What still goes round is not late: the last watermark waits until nothing does.
    if (this.#isOfHead && signal.kind === 'watermark' && signal.time === FINAL_WATERMARK.time) this.#finalTime = signal;
    else this.#options.stage.time(signal);
  }

  endOfData(end: InputEnd): void {
    // What goes round a loop may outlive its input: then the end comes with `endLoop`.
    if (!this.#isOfHead || !end.drain) this.#pending = end;
  }

  /** No record comes before the last watermark any more. */
  endTime(): void {
    if (this.#finalTime !== undefined) this.#options.stage.time(this.#finalTime);
    this.#finalTime = undefined;
  }

  /** Nothing goes round any more: the end of a loop's head is here. */
  endLoop(): void {
    this.#pending = { drain: true };
  }

  /** Carries out the end of the input. */
  endInput(): void {
    if (this.#pending !== undefined) this.end(this.#pending);
  }

  end({ drain, resumable = false }: InputEnd): void {
    const { stage, router, input, onEnded } = this.#options;
    // What goes round a loop, and state that every other subtask restores too, is lost if it is not
    // in every checkpoint.
    const isFinal = drain && !resumable && !this.#isOfHead && !stage.hasUnionState;
    this.#pending = undefined;
    this.#state = isFinal ? 'finished' : 'stopped';
    input?.loop?.end(drain ? 'drain' : 'suspend');
    stage.end(drain, () => {
      router.broadcast(isFinal ? { kind: 'end-of-data', drain } : { kind: 'end-of-data', drain, resumable: true });
      onEnded();
    });
  }

  /** A snapshot was taken. */
  captured(checkpointId: CheckpointId): void {
    if (this.isFinished) this.#final.captured(checkpointId);
  }

  /** The checkpoint is complete; settles once what it covers is committed. */
  async completed(checkpointId: CheckpointId): Promise<void> {
    const { stage } = this.#options;
    await stage.completed(checkpointId);
    stage.post(() => {
      this.#final.committed(checkpointId);
    });
  }

  /** Instead of starting: the checkpoint that is restored says that the subtask has finished. */
  skip(): void {
    const { input, router } = this.#options;
    input?.gate.abandon();
    // Event time was over too: who waits for it has it from nobody else (Flink:
    // FinishedOnRestoreSourceOperator).
    router.broadcast(FINAL_WATERMARK);
    router.broadcast(END_OF_DATA);
    this.leave();
  }

  /** Nothing of it will ever run again, but its attempt goes on. */
  leave(): void {
    this.#hasLeft = true;
    this.#options.router.broadcast(END_OF_CHANNEL);
    this.#options.onLeft();
  }

  get #isOfHead(): boolean {
    return this.#options.input?.loop !== undefined;
  }
}
