import { Observable } from 'rxjs';
import { closeInTurn } from '../contracts/all-of.js';
import type { Serializer } from '../contracts/serializer.js';
import type { Committer, Sink, SinkWriter, SinkWriterContext } from '../contracts/sink.js';
import type { Committable } from '../contracts/snapshot.js';
import { UNWRITTEN, WRITER_STATE } from '../contracts/stored-parts.js';
import type { SnapshotKind, StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Declared, OperatorStateDeclaration } from '../state/state-match.js';
import { withErrorContext } from '../state/with-error-context.js';
import { CommitQueue } from './commit-queue.js';
import { checkedList } from '../bounds/sink-answers.js';
import { HeldBatches } from './held-batches.js';
import { OneAtATime } from './one-at-a-time.js';
import type {
  CapturedCommittables,
  Operator,
  OperatorCapture,
  OperatorContext,
  OperatorEnd,
  RestoredState,
} from './operator.js';
import { sinkContext, sinkFailure, type SinkServices } from './sink-services.js';
import { Uncommitted } from './uncommitted.js';

/** What a sink keeps in checkpoints, besides what it has prepared. */
export function sinkStates(sink: Pick<Sink<unknown>, 'serializer'>): Declared<OperatorStateDeclaration> {
  return {
    states: [
      { name: WRITER_STATE, mode: 'list', serializer: sink.serializer ?? defaultSerializer },
      { name: UNWRITTEN, mode: 'list', serializer: defaultSerializer },
    ],
    dropped: [],
  };
}

/**
 * The tail of a stage: writes batches, and turns what was written into committables before each barrier. Committables stay in every
 * checkpoint until they are confirmed committed, those of aborted checkpoints included (Flink: SinkWriterOperator, CommitterOperator).
 */
export class SinkOperator<T> implements Operator<T, never> {
  readonly #sink: Sink<T>;
  readonly #context: OperatorContext;
  readonly #services: SinkServices;
  #writer: SinkWriter<T> | undefined;
  #committer: Committer | undefined;
  #commits: CommitQueue | undefined;
  #restoredState: readonly unknown[] = [];
  readonly #uncommitted: Uncommitted;
  #passed: CheckpointId = 0;
  readonly #work: OneAtATime;
  readonly #held: HeldBatches<T>;
  #writing = false;

  constructor(sink: Sink<T>, context: OperatorContext, services: SinkServices) {
    this.#sink = sink;
    this.#context = context;
    this.#services = services;
    this.#work = new OneAtATime(context.flow);
    this.#held = new HeldBatches(context.flow, () => {
      this.#writeHeld();
    });
    const { job, uid, attempt, subtask } = context;
    this.#uncommitted = new Uncommitted({ job, lineage: services.lineage, sink: uid, attempt, subtask });
  }

  connect(source: Observable<StreamElement<T>>): Observable<StreamElement<never>> {
    return new Observable((target) =>
      source.subscribe({
        next: (element) => {
          if (element.kind !== 'batch' || element.records.length === 0) return;
          this.#work.take(() => {
            try {
              this.#take(element.records);
            } catch (error) {
              target.error(sinkFailure(this.#context, error));
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
    this.#uncommitted.add(await state.committables(this.#serializer, this.#services.destination?.id));
    this.#held.restore((await state.operatorState(UNWRITTEN, defaultSerializer)) as (readonly T[])[]);
  }

  async open(): Promise<void> {
    const context = this.#writerContext;
    await this.#named(async () => {
      await this.#commitAll(context);
      this.#writer = await this.#sink.open(context);
    });
    if (this.#held.size > 0) this.#work.suspend(() => this.#writeHeld());
  }

  /** All that is left to do for a subtask that had finished: no writer is opened. Not to be opened or closed besides. */
  async commitRestored(state: RestoredState): Promise<void> {
    await this.restore(state);
    try {
      await this.#named(() => this.#commitAll(this.#writerContext));
    } finally {
      await this.close('finished');
    }
  }

  prepare(checkpointId: CheckpointId, kind: SnapshotKind): Promise<void> | undefined {
    this.#passed = checkpointId;
    const writer = this.#openWriter();
    if (writer.flush === undefined && writer.prepareCommit === undefined) return undefined;
    return this.#named(async () => {
      await writer.flush?.();
      const payloads = checkedList(await writer.prepareCommit?.(checkpointId, kind), 'prepareCommit', this.#context);
      this.#uncommitted.add(this.#identify(payloads, checkpointId));
    });
  }

  capture(checkpointId: CheckpointId): OperatorCapture | undefined {
    const state = this.#stateOf(this.#openWriter(), checkpointId);
    const unwritten = this.#held.all;
    if (state.length + unwritten.length + this.#uncommitted.all.length === 0) return undefined;
    const serializer = (of: string): Serializer => withErrorContext(this.#serializer, this.#context.uid, of);
    return {
      operatorState: [
        { name: WRITER_STATE, mode: 'list', serializer: serializer(WRITER_STATE), values: state },
        { name: UNWRITTEN, mode: 'list', serializer: defaultSerializer, values: unwritten },
      ],
      committables: this.#captured(serializer('committables')),
    };
  }

  #captured(serializer: Serializer): CapturedCommittables | undefined {
    const { destination } = this.#services;
    return destination && { destination, serializer, values: this.#uncommitted.all };
  }

  completed(checkpointId: CheckpointId): Promise<void> | undefined {
    return this.#uncommitted.all.length === 0 ? undefined : this.#commitUpTo(checkpointId);
  }

  /** With checkpointing on, the final checkpoint publishes what is left; without, this does. */
  async finish(): Promise<void> {
    if (this.#services.checkpointing) return;
    await this.#named(async () => this.#commitNow(await this.#rest()));
  }

  async close(end: OperatorEnd): Promise<void> {
    const writer = this.#writer;
    const committer = this.#committer;
    const publishes = writer !== undefined && end === 'cancelled' && !this.#services.checkpointing;
    await this.#named(() =>
      closeInTurn([
        async () => (publishes ? this.#commits?.commitLast(this.#identify(await this.#rest(), 0)) : undefined),
        () => {
          this.#writer = undefined;
          this.#committer = undefined;
          return this.#commits?.idle();
        },
        () => writer?.close(),
        () => committer?.close?.(),
      ]),
    );
  }

  get #serializer(): Serializer {
    return this.#sink.serializer ?? defaultSerializer;
  }

  get #writerContext(): SinkWriterContext {
    return {
      ...sinkContext(this.#context, this.#services),
      subtask: this.#context.subtask,
      restoredState: this.#restoredState,
      commitNow: (payloads) => this.#commitNow(payloads),
      ...this.#nextBarrier(),
    };
  }

  async #commitAll(context: SinkWriterContext): Promise<void> {
    if (this.#sink.committer !== undefined) {
      this.#committer = await this.#sink.committer(context);
      const { verify, commitRetries: retries, onRetry } = this.#services;
      this.#commits = new CommitQueue(this.#context, this.#committer, { verify, retries, onRetry });
    }
    await this.#commitUpTo(Number.POSITIVE_INFINITY);
  }

  #nextBarrier(): Pick<SinkWriterContext, 'nextBarrier'> {
    const { nextBarrier } = this.#services;
    return nextBarrier === undefined ? {} : { nextBarrier: (until) => nextBarrier(this.#passed, until) };
  }

  #openWriter(): SinkWriter<T> {
    if (this.#writer === undefined)
      throw new WeirError('PROTOCOL_VIOLATION', `Sink ${this.#context.uid} was used while not open.`);
    return this.#writer;
  }

  #take(records: readonly T[]): void {
    if (this.#writing || this.#held.isInFront) {
      this.#work.suspend(() => {
        this.#take(records);
      });
    } else if (!this.#held.hold(records)) this.#write(records);
  }

  #writeHeld(): void {
    if (this.#held.holdOn()) return;
    const next = this.#held.shift();
    if (next === undefined) return;
    this.#write(next);
    if (this.#held.size > 0) this.#work.suspend(() => this.#writeHeld());
  }

  #write(records: readonly T[]): void {
    let written: Promise<void> | undefined;
    try {
      written = this.#openWriter().write(records) ?? undefined;
    } catch (error) {
      // Also what was suspended or held comes here, with nobody else to name it.
      throw sinkFailure(this.#context, error);
    }
    if (written === undefined) return;
    this.#writing = true;
    this.#context.flow.waitFor(
      written.then(
        () => {
          this.#writing = false;
        },
        (error: unknown) => {
          throw sinkFailure(this.#context, error);
        },
      ),
    );
  }

  /** What was written and is not prepared yet. */
  async #rest(): Promise<readonly unknown[]> {
    const writer = this.#openWriter();
    await writer.flush?.();
    return checkedList(await writer.prepareCommit?.(0, 'checkpoint'), 'prepareCommit', this.#context);
  }

  async #commitNow(payloads: readonly unknown[]): Promise<void> {
    if (this.#services.checkpointing)
      throw this.#violation('tried to commit outside of a checkpoint, although checkpoints are taken');
    const committables = this.#identify(payloads, 0);
    await this.#commits?.commit(() => committables);
  }

  async #commitUpTo(checkpointId: CheckpointId): Promise<void> {
    let committing = this.#uncommitted.upTo(checkpointId);
    if (committing.length === 0) return;
    if (this.#commits === undefined) {
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `Sink ${this.#context.uid} of job ${this.#context.job} has ${String(committing.length)} prepared outputs in its checkpoint but no committer.`,
        { recoverable: false },
      );
    }
    await this.#commits.commit(() => {
      committing = this.#uncommitted.upTo(checkpointId);
      return committing;
    });
    this.#uncommitted.confirm(committing);
  }

  #identify(payloads: readonly unknown[], checkpointId: CheckpointId): readonly Committable[] {
    if (payloads.length > 0 && this.#commits === undefined)
      throw this.#violation('prepared output for a commit, but has no committer');
    return this.#uncommitted.identify(payloads, checkpointId);
  }

  #stateOf(writer: SinkWriter<T>, checkpointId: CheckpointId): readonly unknown[] {
    try {
      return checkedList(writer.state?.(checkpointId), 'state', this.#context);
    } catch (error) {
      throw sinkFailure(this.#context, error);
    }
  }

  /** What the sink throws in `call`, with its name on it. */
  async #named(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      throw sinkFailure(this.#context, error);
    }
  }

  #violation(what: string): WeirError {
    const { uid, job } = this.#context;
    return new WeirError('PROTOCOL_VIOLATION', `Sink ${uid} of job ${job} ${what}.`, { recoverable: false });
  }
}
