import { staticSplits, WeirError, type Source, type SourceReader, type SourceSplit } from '@weir/core/contracts';
import { CollectionCrash, isCrash, type Crash } from './crash.js';

/**
 * The values of an array or another iterable, once and in their order, by one subtask. A checkpoint holds the index of the next value, so the same
 * values have to be there after a restart. A {@link crash} among them fails the job the first time that it is reached, and counts for nothing else.
 */
export function collection<T>(values: Iterable<T | Crash>): Source<T, 'replayable', SourceSplit, number> {
  const script = new Script<T>(values);
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: (context) => staticSplits([{ id: 'collection' }], { context, fixed: true }),
    async open(_split, position = 0, { job, uid }) {
      const { length } = script.records;
      if (position <= length) return new CollectionReader(script, position);
      throw new WeirError(
        'SOURCE_POSITION_GONE',
        `Source ${uid} of job ${job}: the checkpoint goes on at index ${String(position)}, but the collection has only ` +
          `${String(length)} values.`,
        { recoverable: false },
      );
    },
  };
}

/** The records, and where among them it crashes; shared by all attempts. */
class Script<T> {
  readonly records: readonly T[];
  /** For each marker, the index of the record behind it. */
  readonly #markers: readonly number[];
  readonly #passed = new Set<number>();

  constructor(values: Iterable<T | Crash>) {
    const records: T[] = [];
    const markers: number[] = [];
    for (const value of values) {
      if (isCrash(value)) markers.push(records.length);
      else records.push(value);
    }
    this.records = records;
    this.#markers = markers;
  }

  /** Up to where it can be read from `next` on. Fails if that is nowhere, once for each marker. */
  endFrom(next: number): number {
    const marker = this.#markers.findIndex((index, number) => index >= next && !this.#passed.has(number));
    const end = this.#markers[marker];
    if (end !== next) return end ?? this.records.length;
    this.#passed.add(marker);
    throw new CollectionCrash(next);
  }
}

class CollectionReader<T> implements SourceReader<T, number> {
  readonly #script: Script<T>;
  #next: number;

  constructor(script: Script<T>, next: number) {
    this.#script = script;
    this.#next = next;
  }

  poll(max: number): readonly T[] | 'end' {
    const from = this.#next;
    const end = this.#script.endFrom(from);
    if (from === end) return 'end';
    this.#next = Math.min(end, from + max);
    return this.#script.records.slice(from, this.#next);
  }

  position(): number {
    return this.#next;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
