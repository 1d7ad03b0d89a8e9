import { Observable } from 'rxjs';
import type { Sink, SinkContext, SinkWriter, SinkWriterContext } from '../contracts/sink.js';
import type { Committable } from '../contracts/snapshot.js';
import type { StreamElement } from '../element/element.js';
import type { CheckpointId, Lineage } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { CommitQueue } from './commit-queue.js';
import { OneAtATime } from './one-at-a-time.js';
import type { Operator, OperatorCapture, OperatorContext, OperatorEnd, RestoredState } from './operator.js';

/** What a sink needs to know of the job around it. */
export interface SinkSurroundings {
  readonly lineage: Lineage;
  readonly restored: boolean;
  readonly checkpointing: boolean;
  /** Rejects once another process or attempt has taken over. */
  readonly verify: () => Promise<void>;
  /** {@link SinkWriterContext.nextBarrier}, for a writer that the barrier `passed` has reached. Absent with checkpointing off. */
  readonly nextBarrier?: ((passed: CheckpointId, until: AbortSignal) => Promise<void>) | undefined;
}

/** What `Sink.prepare` is called with. */
export function sinkContext(context: OperatorContext, surroundings: SinkSurroundings): SinkContext {
  const { job, uid, attempt, parallelism, clock, random, logger, metrics, signal } = context;
  const { lineage, restored, checkpointing } = surroundings;
  return { job, uid, attempt, parallelism, clock, random, logger, metrics, signal, lineage, restored, checkpointing };
}

const WRITER_STATE = 'writer';

/**
 * The tail of a stage: writes batches, and turns what was written into committables before each barrier. Committables stay in every
 * checkpoint until they are confirmed committed, those of aborted checkpoints included (Flink: SinkWriterOperator, CommitterOperator).
 */
export class SinkOperator<T> implements Operator<T, never> {
  readonly #sink: Sink<T>;
  readonly #context: OperatorContext;
  readonly #surroundings: SinkSurroundings;
  #writer: SinkWriter<T> | undefined;
  #commits: CommitQueue | undefined;
  #restoredState: readonly unknown[] = [];
  #uncommitted: Committable[] = [];
  #sequence = 0;
  #passed: CheckpointId = 0;
  readonly #work: OneAtATime;
  #writing = false;

  constructor(sink: Sink<T>, context: OperatorContext, surroundings: SinkSurroundings) {
    this.#sink = sink;
    this.#context = context;
    this.#surroundings = surroundings;
    this.#work = new OneAtATime(context.flow);
  }

  connect(source: Observable<StreamElement<T>>): Observable<StreamElement<never>> {
    return new Observable((target) =>
      source.subscribe({
        next: (element) => {
          if (element.kind !== 'batch') return;
          this.#work.take(() => {
            try {
              this.#write(element.records);
            } catch (error) {
              target.error(this.#failure(error));
            }
          });
        },
        error: (error: unknown) => {
          target.error(error);
        },
        complete: () => {
          target.complete();
        },
      }),
    );
  }

  async restore(state: RestoredState): Promise<void> {
    this.#restoredState = await state.operatorState(WRITER_STATE, this.#serializer);
    this.#uncommitted = [...(await state.committables(this.#serializer))];
  }

  async open(): Promise<void> {
    const context: SinkWriterContext = {
      ...sinkContext(this.#context, this.#surroundings),
      subtask: this.#context.subtask,
      restoredState: this.#restoredState,
      commitNow: (payloads) => this.#commitNow(payloads),
      ...this.#nextBarrier(),
    };
    const committer = await this.#sink.committer?.(context);
    if (committer !== undefined) this.#commits = new CommitQueue(this.#context, committer, this.#surroundings.verify);
    await this.#commitUpTo(Number.POSITIVE_INFINITY);
    this.#writer = await this.#sink.open(context);
  }

  prepare(checkpointId: CheckpointId): Promise<void> | undefined {
    this.#passed = checkpointId;
    const writer = this.#openWriter();
    if (writer.flush === undefined && writer.prepareCommit === undefined) return undefined;
    return this.#prepare(writer, checkpointId);
  }

  async #prepare(writer: SinkWriter<T>, checkpointId: CheckpointId): Promise<void> {
    try {
      await writer.flush?.();
      const payloads = (await writer.prepareCommit?.(checkpointId)) ?? [];
      for (const payload of payloads) this.#uncommitted.push(this.#identify(payload, checkpointId));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  capture(checkpointId: CheckpointId): OperatorCapture | undefined {
    const state = this.#openWriter().state?.(checkpointId) ?? [];
    if (state.length === 0 && this.#uncommitted.length === 0) return undefined;
    return {
      operatorState: [{ name: WRITER_STATE, mode: 'list', serializer: this.#serializer, values: state }],
      committables: { serializer: this.#serializer, values: [...this.#uncommitted] },
    };
  }

  completed(checkpointId: CheckpointId): Promise<void> | undefined {
    return this.#uncommitted.length === 0 ? undefined : this.#commitUpTo(checkpointId);
  }

  /** With checkpointing on, the final checkpoint publishes what is left; without, this does. */
  async finish(): Promise<void> {
    if (!this.#surroundings.checkpointing) await this.#publish();
  }

  async close(end: OperatorEnd): Promise<void> {
    const writer = this.#writer;
    try {
      if (writer !== undefined && end === 'cancelled' && !this.#surroundings.checkpointing) await this.#publish();
    } finally {
      this.#writer = undefined;
      await this.#commits?.idle();
      await writer?.close();
    }
  }

  get #serializer(): typeof defaultSerializer {
    return this.#sink.serializer ?? defaultSerializer;
  }

  #nextBarrier(): Pick<SinkWriterContext, 'nextBarrier'> {
    const { nextBarrier } = this.#surroundings;
    return nextBarrier === undefined ? {} : { nextBarrier: (until) => nextBarrier(this.#passed, until) };
  }

  #openWriter(): SinkWriter<T> {
    if (this.#writer === undefined)
      throw new WeirError('PROTOCOL_VIOLATION', `Sink ${this.#context.uid} was used while not open.`);
    return this.#writer;
  }

  #write(records: readonly T[]): void {
    if (this.#writing) {
      this.#work.suspend(() => {
        this.#write(records);
      });
      return;
    }
    const written = this.#openWriter().write(records);
    if (written === undefined) return;
    this.#writing = true;
    this.#context.flow.waitFor(
      written.then(
        () => {
          this.#writing = false;
        },
        (error: unknown) => {
          throw this.#failure(error);
        },
      ),
    );
  }

  async #publish(): Promise<void> {
    const writer = this.#openWriter();
    try {
      await writer.flush?.();
      await this.#commitNow((await writer.prepareCommit?.(0)) ?? []);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #commitNow(payloads: readonly unknown[]): Promise<void> {
    const committables = payloads.map((payload) => this.#identify(payload, 0));
    await this.#commits?.commit(() => committables);
  }

  async #commitUpTo(checkpointId: CheckpointId): Promise<void> {
    let committing: readonly Committable[] = this.#due(checkpointId);
    if (committing.length === 0) return;
    if (this.#commits === undefined) {
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `Sink ${this.#context.uid} of job ${this.#context.job} has ${String(committing.length)} prepared outputs in its checkpoint but no committer.`,
        { recoverable: false },
      );
    }
    await this.#commits.commit(() => {
      committing = this.#due(checkpointId);
      return committing;
    });
    const committed = new Set(committing);
    this.#uncommitted = this.#uncommitted.filter((committable) => !committed.has(committable));
  }

  #due(checkpointId: CheckpointId): readonly Committable[] {
    return this.#uncommitted.filter(({ identity }) => identity.checkpointId <= checkpointId);
  }

  #identify(payload: unknown, checkpointId: CheckpointId): Committable {
    const { job, uid, attempt, subtask } = this.#context;
    const { lineage } = this.#surroundings;
    return {
      identity: { job, lineage, sink: uid, attempt, checkpointId, subtask, sequence: this.#sequence++ },
      payload,
    };
  }

  #failure(error: unknown): WeirError {
    if (isWeirError(error)) return error;
    const { uid, job, subtask } = this.#context;
    return new WeirError(
      'SINK_FAILED',
      `Sink ${uid} of job ${job} (subtask ${String(subtask)}) failed: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}
