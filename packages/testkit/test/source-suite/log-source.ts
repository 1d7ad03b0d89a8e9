import { staticSplits, type Source, type SourceSplit } from '@weir/core/contracts';

/** One thing that this source does wrong. */
export type LogFault =
  | 'begins at a new end until a record was read'
  | 'begins at a new end until it was opened'
  | 'begins at a new end until its split was dealt out'
  | 'goes to the end when nothing came';

export interface LogSplit extends SourceSplit {
  readonly start: number;
}

/** Records that come one after the other, for ever. */
export class Log {
  readonly records: number[] = [];
  readonly #waiting = new Set<() => void>();

  append(...records: readonly number[]): void {
    this.records.push(...records);
    this.release();
  }
  more(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
  release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Follows a log from the end that it has in the first run; right in everything but its fault. */
export function logSource(log: Log, fault?: LogFault): Source<number, 'replayable', LogSplit, number> {
  const end = log.records.length;
  return {
    grade: 'replayable',
    bounded: false,
    enumerator() {
      const inner = staticSplits<LogSplit>([{ id: 'log', start: end }]);
      if (fault !== 'begins at a new end until its split was dealt out') return inner;
      return {
        ...inner,
        assign(subtask) {
          const split = inner.assign(subtask);
          return typeof split === 'object' ? { ...split, start: end } : split;
        },
      };
    },
    async open({ start }, position, { signal }) {
      const isLate =
        fault === 'begins at a new end until it was opened' || fault === 'begins at a new end until a record was read';
      let next = position ?? (isLate ? log.records.length : start);
      let isClosed = false;
      let hasRead = position !== undefined;
      let isIdle = false;
      const close = async (): Promise<void> => {
        isClosed = true;
        log.release();
      };
      signal.addEventListener('abort', () => void close());
      return {
        async poll(max) {
          isIdle = next === log.records.length;
          while (next === log.records.length && !isClosed) await log.more();
          const records = isClosed ? [] : log.records.slice(next, next + max);
          next += records.length;
          hasRead ||= records.length > 0;
          return records;
        },
        position() {
          if (fault === 'begins at a new end until a record was read' && !hasRead) return undefined as never;
          return fault === 'goes to the end when nothing came' && isIdle ? next + 1 : next;
        },
        close,
      };
    },
  };
}
