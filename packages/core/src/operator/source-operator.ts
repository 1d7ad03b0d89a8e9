import { Subject } from 'rxjs';
import { allOf } from '../contracts/all-of.js';
import type { Serializer } from '../contracts/serializer.js';
import type { ReaderContext, Source, SourceContext, SourceSplit } from '../contracts/source.js';
import { BATCH_SIZE, FINAL_WATERMARK, type StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Declared, OperatorStateDeclaration } from '../state/state-match.js';
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
/** A split that is read, or opened to be read. */
interface Reading<T> {
  /** Where it is read from: what a checkpoint stores until the reader is open. */
  readonly start: SplitState;
  open: OpenReader | undefined;
  /** What an asynchronous poll has brought. */
  ready: { readonly records: readonly T[]; readonly position: unknown } | undefined;
  /** Something of it has not settled yet. */
  isWaiting: boolean;
  /** Closes a reader that has been opened, until it is in `open`: an attempt that fails in between never gets to that. */
  closeOpened?: (() => Promise<void>) | undefined;
}

const STATE = 'splits';

/** What the subtasks of a source keep in checkpoints. */
export function sourceStates(source: Pick<Source<unknown>, 'serializer'>): Declared<OperatorStateDeclaration> {
  return { states: [{ name: STATE, mode: 'list', serializer: source.serializer ?? defaultSerializer }], dropped: [] };
}

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

/**
 * The head of a source stage: reads splits and knows, at any time between two batches, where to go on. Of a bounded source it reads one after the
 * other; of an endless one all that it has, in turn, because none of them makes room for the next.
 */
export class SourceOperator<T> implements Operator<never, T> {
  readonly #source: Source<T>;
  readonly #context: OperatorContext;
  readonly #splits: SplitClient;
  readonly #output = new Subject<StreamElement<T>>();
  /** Not opened yet. */
  #restored: SplitState[] = [];
  #readings: Reading<T>[] = [];
  /** Acknowledging readers whose split has ended stay until a checkpoint that covers their last record is complete. */
  #ended: OpenReader[] = [];
  /** Splits that are being opened or closed. */
  #changing = 0;
  /** There may be a split that was not there when it was asked for one. */
  #mayAsk = true;
  readonly #outstanding = new Set<Promise<void>>();
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
    if (this.#takesAnother && this.#nextSplit() === 'ended') return 'ended';
    // In turn: none is kept waiting by one that always has records.
    for (let left = this.#readings.length; left > 0; left--) {
      const reading = this.#readings.shift() as Reading<T>;
      this.#readings.push(reading);
      if (!reading.isWaiting && this.#moves(reading, max)) return 'moved';
    }
    return 'waiting';
  }

  /** Nothing will ever follow: event time runs to its end. */
  finish(): void {
    this.#output.next(FINAL_WATERMARK);
  }

  capture(checkpointId: CheckpointId): OperatorCapture {
    for (const open of this.#readers) open.captured(checkpointId);
    const opening = this.#readings.flatMap(({ start, open }) => (open === undefined ? [start] : []));
    const active = this.#readings.flatMap(({ open }) =>
      open === undefined ? [] : [{ split: open.split, position: open.position }],
    );
    const values: SplitState[] = [...opening, ...this.#restored, ...active];
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
    const opened = this.#readings.flatMap(({ closeOpened }) => closeOpened ?? []);
    this.#ended = [];
    this.#readings = [];
    const closing = readers.map(async ({ reader, split }) => this.#named(split, () => reader.close()));
    await allOf([...closing, ...opened.map((close) => close()), ...this.#outstanding]);
  }

  get #readers(): readonly OpenReader[] {
    return [...this.#ended, ...this.#readings.flatMap(({ open }) => (open === undefined ? [] : [open]))];
  }

  get #takesAnother(): boolean {
    if (this.#changing > 0) return false;
    if (this.#readings.length === 0) return true;
    return !this.#source.bounded && (this.#restored.length > 0 || this.#mayAsk);
  }

  get #serializer(): Serializer {
    return this.#source.serializer ?? defaultSerializer;
  }

  #moves(reading: Reading<T>, max: number): boolean {
    try {
      return reading.open !== undefined && this.#read(reading, reading.open, max);
    } catch (error) {
      throw sourceFailure(this.#context, reading.start.split, error);
    }
  }

  /** True: records moved. */
  #read(reading: Reading<T>, open: OpenReader, max: number): boolean {
    const { reader } = open;
    const { ready } = reading;
    if (ready !== undefined) {
      reading.ready = undefined;
      this.#emit(open, ready.records, ready.position);
      return true;
    }
    const result = reader.poll(max);
    if (result === 'end') {
      this.#endOfSplit(reading, open);
      return false;
    }
    if (Array.isArray(result)) {
      const records = result as readonly T[];
      if (records.length > 0) this.#emit(open, records, reader.position());
      // Nothing yet and no promise of it: ask again next turn, not in a loop.
      else this.#await(reading, Promise.resolve(), () => undefined);
      return records.length > 0;
    }
    this.#await(reading, result as Promise<readonly T[] | 'end'>, (records) => {
      if (records === 'end') this.#endOfSplit(reading, open);
      else if (records.length > 0) reading.ready = { records, position: reader.position() };
    });
    return false;
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
    const start = this.#restored.shift() ?? this.#request();
    if (start === 'end') return this.#readings.length === 0 ? 'ended' : 'waiting';
    if (start === undefined) return 'waiting';
    const { split, position } = start;
    // Until the reader is open the split is still where it was read to.
    const reading: Reading<T> = { start, open: undefined, ready: undefined, isWaiting: false };
    this.#readings.push(reading);
    const context: ReaderContext = { ...sourceContext(this.#context), subtask: this.#context.subtask };
    this.#changing++;
    this.#await(
      reading,
      this.#naming(split, () => this.#source.open(split, position, context)),
      (reader) => {
        this.#changing--;
        reading.closeOpened = undefined;
        reading.open = new OpenReader(split, reader, position);
      },
      (reader) => {
        const close = (): Promise<void> => this.#named(split, () => reader.close());
        if (this.#closed) return close();
        reading.closeOpened = close;
        return undefined;
      },
    );
    return 'waiting';
  }

  #request(): SplitState | 'end' | undefined {
    // Set before asking: an enumerator may find a split while it is asked.
    this.#mayAsk = false;
    this.#splits.onAvailable = () => {
      this.#mayAsk = true;
      this.#context.runInMailbox(() => undefined);
    };
    const split = this.#naming(undefined, () => this.#splits.request());
    if (typeof split !== 'object') return split;
    this.#mayAsk = true;
    return { split };
  }

  #endOfSplit(reading: Reading<T>, open: OpenReader): void {
    this.#readings = this.#readings.filter((other) => other !== reading);
    open.isAtEnd = true;
    this.#splits.finished(open.split.id);
    if (this.#source.grade === 'acknowledging') {
      this.#ended.push(open);
      this.#context.runInMailbox(() => undefined);
      return;
    }
    this.#changing++;
    this.#await(reading, open.reader.close(), () => {
      this.#changing--;
    });
  }

  async #acknowledge(checkpointId: CheckpointId): Promise<void> {
    const told = this.#readers.map((open) =>
      this.#named(open.split, async () => {
        if (!(await open.acknowledge(checkpointId))) return;
        this.#ended = this.#ended.filter((ended) => ended !== open);
        await open.reader.close();
      }),
    );
    await allOf(told);
  }

  /** Reads nothing of the split until `promise` settles; `then` runs between two records, `atOnce` before, also if the operator was closed meanwhile. */
  #await<R>(
    reading: Reading<T>,
    promise: Promise<R>,
    then: (result: R) => void,
    atOnce?: (result: R) => Promise<void> | undefined,
  ): void {
    const { split } = reading.start;
    reading.isWaiting = true;
    const inMailbox = (action: () => void): void => {
      this.#context.runInMailbox(() => {
        this.#naming(split, action);
      });
    };
    const settled = promise.then(
      async (result) => {
        await atOnce?.(result);
        if (this.#closed) return;
        inMailbox(() => {
          reading.isWaiting = false;
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
    this.#outstanding.add(settled);
    const forget = (): void => void this.#outstanding.delete(settled);
    settled.then(forget, forget);
  }

  /** What the source throws in `call`, with its name and that of the split on it. */
  #naming<R>(split: SourceSplit | undefined, call: () => R): R {
    try {
      return call();
    } catch (error) {
      throw sourceFailure(this.#context, split, error);
    }
  }

  async #named<R>(split: SourceSplit, call: () => Promise<R>): Promise<R> {
    try {
      return await call();
    } catch (error) {
      throw sourceFailure(this.#context, split, error);
    }
  }
}
