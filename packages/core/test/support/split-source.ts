import type { Source, SourceGrade, SourceReader, SourceSplit } from '../../src/contracts/source.js';
import { staticSplits } from '../../src/operator/static-splits.js';

export interface Split<T> extends SourceSplit {
  readonly id: string;
  readonly records: readonly T[];
}
/** What a reader does when it is polled: how many records, and whether it takes a few microtasks. */
export interface Poll {
  readonly count: number;
  readonly isAsync: boolean;
}

/** Reads lists. `polls` says, poll by poll, what a reader does; absent: all that is asked for, at once. Positions count records. */
export function splitSource<T, G extends SourceGrade = 'replayable'>(
  splits: readonly (readonly T[])[],
  options: {
    readonly polls?: (() => Poll) | undefined;
    readonly grade?: G;
    readonly bounded?: boolean;
    /** Before a split is open. */
    readonly onOpen?: (split: string) => Promise<void>;
    readonly onReader?: (split: string, reader: SourceReader<T>) => SourceReader<T>;
  } = {},
): Source<T, G, Split<T>, number> {
  const {
    polls = () => ({ count: Number.POSITIVE_INFINITY, isAsync: false }),
    onReader = (_split: string, reader: SourceReader<T>): SourceReader<T> => reader,
  } = options;
  return {
    grade: options.grade ?? ('replayable' as G),
    bounded: options.bounded ?? true,
    enumerator: () => staticSplits(splits.map((records, i) => ({ id: `split-${String(i)}`, records }))),
    async open({ id, records }, position = 0) {
      await options.onOpen?.(id);
      let next = position;
      let isClosed = false;
      const reader: SourceReader<T, number> = {
        poll(max) {
          if (isClosed) throw new Error(`the reader of ${id} was polled after it was closed`);
          const { count, isAsync } = polls();
          // With nothing to give now, it does not know yet that it is at its end.
          const result =
            next === records.length && count > 0 ? 'end' : records.slice(next, next + Math.min(max, count));
          if (result !== 'end') next += result.length;
          return isAsync ? Promise.resolve().then(() => result) : result;
        },
        position: () => next,
        async close() {
          isClosed = true;
        },
      };
      return onReader(id, reader) as SourceReader<T, number>;
    },
  };
}
