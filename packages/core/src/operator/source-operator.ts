import { Subject } from 'rxjs';
import { allClosed, allOf } from '../contracts/all-of.js';
import { isPromiseLike } from '../contracts/awaitable.js';
import type { Serializer } from '../contracts/serializer.js';
import type { ReaderContext, Source, SourceReader, SourceSplit } from '../contracts/source.js';
import { BATCH_SIZE, FINAL_WATERMARK, type StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { withErrorContext } from '../state/with-error-context.js';
import { OpenReader } from './open-reader.js';
import type { Operator, OperatorCapture, OperatorContext, RestoredState } from './operator.js';
import { checkedPosition, checkedReader, checkedRecords } from './source-answers.js';
import { sourceContext, sourceFailure } from './source-context.js';
import { SPLITS, type SplitState } from './source-states.js';
import type { SplitClient } from './split-client.js';

/** What a pull brought: records moved, nothing now (the mailbox is used when there is), or no more records ever. */
export type PullResult = 'moved' | 'waiting' | 'ended';

/** A split that is read, or opened to be read. */
interface Reading<T> {
  /** Where it is read from: what a checkpoint stores until the reader is open. */
  readonly start: SplitState;
  open: OpenReader | undefined;
  /** What an asynchronous poll has brought. */
  ready: { readonly records: readonly T[]; readonly position: unknown } | undefined;
  /** Something of it has not settled yet. */
  isWaiting: boolean;
  /** When that has settled, one way or the other, its mail is in the mailbox. */
  settled: Promise<void> | undefined;
  /** Closes a reader that has been opened, until it is in `open`: an attempt that fails in between never gets to that. */
  closeOpened?: (() => Promise<void>) | undefined;
}

export interface SourceOperatorOptions<T> {
  readonly source: Source<T>;
  readonly context: OperatorContext;
  readonly splits: SplitClient;
  /** False: nothing will ever be completed, so no reader is kept for that. */
  readonly checkpointing: boolean;
}

/**
 * The head of a source stage: reads splits and knows, at any time between two batches, where to go on. Of a bounded source it reads one after the
 * other; of an endless one all that it has, in turn, because none of them makes room for the next.
 */
export class SourceOperator<T> implements Operator<never, T> {
  readonly #source: Source<T>;
  readonly #context: OperatorContext;
  readonly #splits: SplitClient;
  readonly #checkpointing: boolean;
  readonly #output = new Subject<StreamElement<T>>();
  /** Not opened yet. */
  #restored: SplitState[] = [];
  #readings: Reading<T>[] = [];
  /** Readers that are to hear how far they are covered stay behind the end of their split, until a checkpoint that covers it is complete. */
  #ended: OpenReader[] = [];
  /** Splits that are being opened or closed. */
  #changing = 0;
  /** There may be a split that was not there when it was asked for one. */
  #mayAsk = true;
  readonly #outstanding = new Set<Promise<void>>();
  #telling: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ source, context, splits, checkpointing }: SourceOperatorOptions<T>) {
    this.#source = source;
    this.#context = context;
    this.#splits = splits;
    this.#checkpointing = checkpointing;
  }

  connect(): Subject<StreamElement<T>> {
    return this.#output;
  }

  async restore(state: RestoredState): Promise<void> {
    this.#restored = (await state.operatorState(SPLITS, this.#serializer)) as SplitState[];
    for (const { split } of this.#restored) this.#splits.restored(split.id);
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

  /** Where a split begins may be for its reader to say ("now"): a checkpoint without that would let the next one begin somewhere else. */
  prepare(): Promise<void> | undefined {
    return this.#readings.find(({ open, start }) => open === undefined && start.position === undefined)?.settled;
  }

  capture(checkpointId: CheckpointId): OperatorCapture {
    for (const open of this.#readers) open.captured(checkpointId);
    const opening = this.#readings.flatMap(({ start, open }) => (open === undefined ? [start] : []));
    const active = this.#readings.flatMap(({ open }) =>
      open === undefined ? [] : [{ split: open.split, position: open.position }],
    );
    const values: SplitState[] = [...opening, ...this.#restored, ...active];
    const serializer = withErrorContext(this.#serializer, this.#context.uid, SPLITS);
    return { operatorState: [{ name: SPLITS, mode: 'list', serializer, values }] };
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
    await allClosed([...closing, ...opened.map((close) => close()), ...this.#outstanding]);
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
    const result: unknown = reader.poll(max);
    if (isPromiseLike(result)) {
      this.#await(reading, result, (answer) => {
        const records = checkedRecords<T>(this.#context, open.split, answer);
        const position = this.#positionOf(open);
        if (records !== 'end' && records.length > 0) reading.ready = { records, position };
        else this.#moveOn(reading, open, records, position);
      });
      return false;
    }
    const records = checkedRecords<T>(this.#context, open.split, result);
    const position = this.#positionOf(open);
    if (records !== 'end' && records.length > 0) {
      this.#emit(open, records, position);
      return true;
    }
    this.#moveOn(reading, open, records, position);
    // Nothing yet and no promise of it: ask again next turn, not in a loop.
    if (records !== 'end') this.#await(reading, Promise.resolve(), () => undefined);
    return false;
  }

  /** A poll without records may have moved the reader all the same: past what it leaves out, or what was acknowledged before. */
  #moveOn(reading: Reading<T>, open: OpenReader, answer: readonly T[] | 'end', position: unknown): void {
    open.position = position;
    if (answer === 'end') this.#endOfSplit(reading, open);
  }

  #positionOf({ reader, split, position }: OpenReader): unknown {
    return checkedPosition(this.#context, split, reader.position(), position);
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
    const reading: Reading<T> = {
      start,
      open: undefined,
      ready: undefined,
      isWaiting: false,
      settled: undefined,
    };
    this.#readings.push(reading);
    this.#changing++;
    this.#await(
      reading,
      this.#openReader(split, position),
      (reader) => {
        this.#changing--;
        reading.closeOpened = undefined;
        reading.open = new OpenReader(split, reader, position);
        reading.open.position = this.#positionOf(reading.open);
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

  async #openReader(split: SourceSplit, position: unknown): Promise<SourceReader<T>> {
    const context: ReaderContext = { ...sourceContext(this.#context), subtask: this.#context.subtask };
    const reader = await this.#source.open(split, position, context);
    return checkedReader(context, split, reader, this.#source.grade === 'acknowledging');
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
    if (this.#checkpointing && open.reader.completed !== undefined) {
      this.#ended.push(open);
      this.#context.runInMailbox(() => undefined);
      return;
    }
    this.#changing++;
    const close = async (): Promise<void> => open.reader.close();
    this.#await(reading, close(), () => {
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
    promise: PromiseLike<R>,
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
    const settled = Promise.resolve(promise).then(
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
    reading.settled = settled;
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
