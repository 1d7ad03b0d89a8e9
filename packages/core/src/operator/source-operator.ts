import { Subject } from 'rxjs';
import type { Serializer } from '../contracts/serializer.js';
import type { ReaderContext, Source, SourceContext, SourceSplit } from '../contracts/source.js';
import { BATCH_SIZE, type StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { withPlace } from '../state/with-place.js';
import { OpenReader } from './open-reader.js';
import type { Operator, OperatorCapture, OperatorContext, RestoredState } from './operator.js';

/** Where a source subtask gets its splits: the enumerator behind the host. */
export interface SplitClient {
  /** undefined: nothing now, `onAvailable` is called later; 'end': never again. */
  request(): SourceSplit | 'end' | undefined;
  finished(splitId: string): void;
  onAvailable: (() => void) | undefined;
}
/** What a pull brought: records moved, nothing now (the mailbox is used when there is), or no more records ever. */
export type PullResult = 'moved' | 'waiting' | 'ended';

interface SplitState {
  readonly split: SourceSplit;
  /** Absent: from the beginning. */
  readonly position?: unknown;
}

const STATE = 'splits';

/** What an enumerator is told of the job around it. */
export function sourceContext(context: OperatorContext): SourceContext {
  const { job, uid, attempt, parallelism, clock, random, logger, metrics, signal } = context;
  return { job, uid, attempt, parallelism, clock, random, logger, metrics, signal };
}

/** What a source threw, with its name on it. */
export function sourceFailure({ uid, job }: SourceContext, split: SourceSplit | undefined, error: unknown): WeirError {
  if (isWeirError(error)) return error;
  const what = split === undefined ? '' : `, split ${split.id},`;
  return new WeirError('SOURCE_FAILED', `Source ${uid} of job ${job}${what} could not be read: ${messageOf(error)}`, {
    cause: error,
  });
}

/** The head of a source stage: reads one split after the other and knows, at any time between two batches, where to go on. */
export class SourceOperator<T> implements Operator<never, T> {
  readonly #source: Source<T>;
  readonly #context: OperatorContext;
  readonly #splits: SplitClient;
  readonly #output = new Subject<StreamElement<T>>();
  #restored: SplitState[] = [];
  #active: OpenReader | undefined;
  /** Acknowledging readers whose split has ended stay until a checkpoint that covers their last record is complete. */
  #ended: OpenReader[] = [];
  /** The split that was touched last, for messages. */
  #touched: SourceSplit | undefined;
  #ready: { readonly records: readonly T[]; readonly position: unknown } | undefined;
  #waiting = false;
  #outstanding: Promise<void> | undefined;
  #telling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(source: Source<T>, context: OperatorContext, splits: SplitClient) {
    this.#source = source;
    this.#context = context;
    this.#splits = splits;
  }

  connect(): Subject<StreamElement<T>> {
    return this.#output;
  }

  async restore(state: RestoredState): Promise<void> {
    this.#restored = (await state.operatorState(STATE, this.#serializer)) as SplitState[];
  }

  /** Emits up to `max` records, if there are any now. */
  pull(max: number): PullResult {
    if (this.#waiting) return 'waiting';
    try {
      return this.#active === undefined ? this.#nextSplit() : this.#read(this.#active, max);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  capture(checkpointId: CheckpointId): OperatorCapture {
    for (const open of this.#readers) open.captured(checkpointId);
    const values: SplitState[] = [...this.#restored];
    if (this.#active !== undefined) values.push({ split: this.#active.split, position: this.#active.position });
    const serializer = withPlace(this.#serializer, this.#context.uid, STATE);
    return { operatorState: [{ name: STATE, mode: 'list', serializer, values }] };
  }

  /** One checkpoint after the other, so that no reader is told of two at a time. */
  completed(checkpointId: CheckpointId): Promise<void> {
    const told = this.#telling.then(() => this.#acknowledge(checkpointId));
    this.#telling = told.catch(() => undefined);
    return told;
  }

  aborted(checkpointId: CheckpointId): void {
    for (const open of this.#readers) open.aborted(checkpointId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const readers = this.#readers;
    this.#ended = [];
    this.#active = undefined;
    this.#ready = undefined;
    try {
      await allOf([...readers.map(async ({ reader }) => reader.close()), this.#outstanding ?? Promise.resolve()]);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  get #readers(): readonly OpenReader[] {
    return this.#active === undefined ? this.#ended : [...this.#ended, this.#active];
  }

  get #serializer(): Serializer {
    return this.#source.serializer ?? defaultSerializer;
  }

  #read(active: OpenReader, max: number): PullResult {
    const ready = this.#ready;
    if (ready !== undefined) {
      this.#ready = undefined;
      this.#emit(active, ready.records, ready.position);
      return 'moved';
    }
    const { reader } = active;
    const result = reader.poll(max);
    if (result === 'end') {
      this.#endOfSplit(active);
      return 'waiting';
    }
    if (Array.isArray(result)) {
      const records = result as readonly T[];
      if (records.length === 0) {
        // Nothing yet and no promise of it: ask again next turn, not in a loop.
        this.#await(Promise.resolve(), () => undefined);
        return 'waiting';
      }
      this.#emit(active, records, reader.position());
      return 'moved';
    }
    this.#await(result as Promise<readonly T[] | 'end'>, (records) => {
      if (records === 'end') this.#endOfSplit(active);
      else if (records.length > 0) this.#ready = { records, position: reader.position() };
    });
    return 'waiting';
  }

  /** A reader may give more than it was asked for. What is too much for one batch goes through before any barrier: the position is behind all of it. */
  #emit(active: OpenReader, records: readonly T[], position: unknown, from = 0): void {
    const { flow } = this.#context;
    const to = from + BATCH_SIZE;
    this.#output.next({ kind: 'batch', records: records.length <= BATCH_SIZE ? records : records.slice(from, to) });
    if (to >= records.length) {
      active.position = position;
    } else {
      flow.suspend(() => {
        this.#emit(active, records, position, to);
      });
    }
  }

  #nextSplit(): PullResult {
    const next = this.#restored.shift() ?? this.#request();
    if (next === 'end') return 'ended';
    if (next === undefined) return 'waiting';
    const { split, position } = next;
    this.#touched = split;
    // Until the reader is open the split is still where it was read to.
    this.#restored.unshift(next);
    const context: ReaderContext = { ...sourceContext(this.#context), subtask: this.#context.subtask };
    this.#await(
      this.#source.open(split, position, context),
      (reader) => {
        this.#restored.shift();
        this.#active = new OpenReader(split, reader, position);
      },
      (reader) => reader.close(),
    );
    return 'waiting';
  }

  #request(): SplitState | 'end' | undefined {
    // Set before asking: an enumerator may find a split while it is asked.
    this.#splits.onAvailable = () => {
      this.#context.runInMailbox(() => undefined);
    };
    const split = this.#splits.request();
    return typeof split === 'object' ? { split } : split;
  }

  #endOfSplit(active: OpenReader): void {
    this.#active = undefined;
    active.isAtEnd = true;
    this.#splits.finished(active.split.id);
    if (this.#source.grade === 'acknowledging') {
      this.#ended.push(active);
      this.#context.runInMailbox(() => undefined);
    } else {
      this.#await(active.reader.close(), () => undefined);
    }
  }

  async #acknowledge(checkpointId: CheckpointId): Promise<void> {
    const told = this.#readers.map(async (open) => {
      if (!(await open.acknowledge(checkpointId))) return;
      this.#ended = this.#ended.filter((ended) => ended !== open);
      await open.reader.close();
    });
    try {
      await allOf(told);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Takes no other step until `promise` settles; `then` runs between two records, or `tooLate` if the operator was closed meanwhile. */
  #await<R>(promise: Promise<R>, then: (result: R) => void, tooLate?: (result: R) => Promise<void>): void {
    this.#waiting = true;
    const inMailbox = (action: () => void): void => {
      this.#context.runInMailbox(() => {
        try {
          action();
        } catch (error) {
          throw this.#failure(error);
        }
      });
    };
    this.#outstanding = promise.then(
      async (result) => {
        if (this.#closed) {
          await tooLate?.(result);
          return;
        }
        inMailbox(() => {
          this.#waiting = false;
          then(result);
        });
      },
      (error: unknown) => {
        if (this.#closed) return;
        inMailbox(() => {
          throw error;
        });
      },
    );
  }

  #failure(error: unknown): WeirError {
    return sourceFailure(this.#context, this.#touched, error);
  }
}

/** Settles when all have; rejects with the first error. */
async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === 'rejected') throw outcome.reason;
}
