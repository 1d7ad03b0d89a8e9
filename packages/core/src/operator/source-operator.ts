import { Subject } from 'rxjs';
import type { Source, SourceReader, SourceSplit } from '../contracts/source.js';
import type { StreamElement } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
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
interface ActiveReader {
  readonly split: SourceSplit;
  readonly reader: SourceReader<unknown>;
  /** After the last record that was emitted: what the next checkpoint stores. */
  position: unknown;
}
/** An acknowledging reader whose split has ended stays until a checkpoint that covers its last record is complete. */
interface EndedReader {
  readonly reader: SourceReader<unknown>;
  coveredBy: CheckpointId | undefined;
}

const STATE = 'splits';

/** The head of a source stage: reads one split after the other and knows, at any time between two batches, where to go on. */
export class SourceOperator<T> implements Operator<never, T> {
  readonly #source: Source<T>;
  readonly #context: OperatorContext;
  readonly #splits: SplitClient;
  readonly #output = new Subject<StreamElement<T>>();
  #restored: SplitState[] = [];
  #active: ActiveReader | undefined;
  #ended: EndedReader[] = [];
  #ready: { readonly records: readonly T[]; readonly position: unknown } | undefined;
  #waiting = false;
  #outstanding: Promise<void> | undefined;
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
    const ready = this.#ready;
    if (ready !== undefined) {
      this.#ready = undefined;
      this.#emit(ready.records, ready.position);
      return 'moved';
    }
    if (this.#active === undefined) return this.#nextSplit();
    const { reader } = this.#active;
    let result: ReturnType<typeof reader.poll>;
    try {
      result = reader.poll(max);
    } catch (error) {
      throw this.#failure(error);
    }
    if (result === 'end') {
      this.#endOfSplit(this.#active);
      return 'waiting';
    }
    if (Array.isArray(result)) {
      if (result.length === 0) {
        // Nothing yet and no promise of it: ask again next turn, not in a loop.
        this.#await(Promise.resolve(), () => undefined);
        return 'waiting';
      }
      this.#emit(result as readonly T[], reader.position());
      return 'moved';
    }
    const active = this.#active;
    this.#await(result as Promise<readonly T[] | 'end'>, (records) => {
      if (records === 'end') this.#endOfSplit(active);
      else if (records.length > 0) this.#ready = { records, position: reader.position() };
    });
    return 'waiting';
  }

  capture(checkpointId: CheckpointId): OperatorCapture {
    for (const ended of this.#ended) ended.coveredBy ??= checkpointId;
    const values: SplitState[] = [...this.#restored];
    if (this.#active !== undefined) values.push({ split: this.#active.split, position: this.#active.position });
    return { operatorState: [{ name: STATE, mode: 'list', serializer: this.#serializer, values }] };
  }

  async completed(checkpointId: CheckpointId): Promise<void> {
    const covered = this.#ended.filter(({ coveredBy }) => coveredBy !== undefined && coveredBy <= checkpointId);
    this.#ended = this.#ended.filter((ended) => !covered.includes(ended));
    try {
      for (const { reader } of covered) {
        await reader.completed?.(checkpointId);
        await reader.close();
      }
      await this.#active?.reader.completed?.(checkpointId);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const readers = [...this.#ended.map(({ reader }) => reader)];
    if (this.#active !== undefined) readers.push(this.#active.reader);
    this.#ended = [];
    this.#active = undefined;
    this.#ready = undefined;
    await Promise.all(readers.map((reader) => reader.close()));
    await this.#outstanding;
  }

  get #serializer(): typeof defaultSerializer {
    return this.#source.serializer ?? defaultSerializer;
  }

  #emit(records: readonly T[], position: unknown): void {
    if (this.#active !== undefined) this.#active.position = position;
    this.#output.next({ kind: 'batch', records });
  }

  #nextSplit(): PullResult {
    const next = this.#restored.shift();
    const split = next?.split ?? this.#splits.request();
    if (split === 'end') return 'ended';
    if (split === undefined) {
      this.#splits.onAvailable = () => {
        this.#splits.onAvailable = undefined;
        this.#context.runInMailbox(() => undefined);
      };
      return 'waiting';
    }
    const position = next?.position;
    const { subtask } = this.#context;
    const opening = this.#source.open(split, position, { ...this.#context, subtask });
    // Until the reader is open the split is still where it was read to.
    this.#restored.unshift({ split, position });
    this.#await(
      opening,
      (reader) => {
        this.#restored.shift();
        this.#active = { split, reader, position };
      },
      (reader) => reader.close(),
    );
    return 'waiting';
  }

  #endOfSplit({ split, reader }: ActiveReader): void {
    this.#active = undefined;
    this.#splits.finished(split.id);
    if (this.#source.grade === 'acknowledging') {
      this.#ended.push({ reader, coveredBy: undefined });
      this.#context.runInMailbox(() => undefined);
    } else {
      this.#await(reader.close(), () => undefined);
    }
  }

  /** Takes no other step until `promise` settles; `then` runs between two records, or `tooLate` if the operator was closed meanwhile. */
  #await<R>(promise: Promise<R>, then: (result: R) => void, tooLate?: (result: R) => Promise<void>): void {
    this.#waiting = true;
    this.#outstanding = promise.then(
      async (result) => {
        if (this.#closed) {
          await tooLate?.(result);
          return;
        }
        this.#context.runInMailbox(() => {
          this.#waiting = false;
          then(result);
        });
      },
      (error: unknown) => {
        if (this.#closed) return;
        this.#context.runInMailbox(() => {
          throw this.#failure(error);
        });
      },
    );
  }

  #failure(error: unknown): WeirError {
    if (isWeirError(error)) return error;
    const { uid, job } = this.#context;
    const split = this.#active?.split.id ?? this.#restored[0]?.split.id;
    return new WeirError(
      'SOURCE_FAILED',
      `Source ${uid} of job ${job}${split === undefined ? '' : `, split ${split},`} could not be read: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
