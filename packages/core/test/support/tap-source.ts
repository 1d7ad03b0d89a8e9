import type { Source, SourceReader } from '../../src/contracts/source.js';
import { staticSplits } from '../../src/operator/static-splits.js';

/** A source that gives what it is told to, when it is told to. */
export interface TapSource<T> extends Source<T, 'replayable', { readonly id: string }, number> {
  push(...records: readonly T[]): void;
  /** No more records ever. */
  end(): void;
  /** How often a split was opened. */
  readonly opened: number;
}

/** Waits for records until it is ended. With several splits all give the same records, and only the first can be ended. */
export function tapSource<T>(name: string, splits = 1): TapSource<T> {
  const records: T[] = [];
  const waiting = new Set<() => void>();
  let isEnded = false;
  let opened = 0;
  const wake = (): void => {
    for (const go of waiting) go();
    waiting.clear();
  };
  const ids = Array.from({ length: splits }, (_, i) => `${name}-${String(i)}`);
  return {
    grade: 'replayable',
    bounded: true,
    get opened() {
      return opened;
    },
    push(...more) {
      records.push(...more);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    enumerator: () => staticSplits(ids.map((id) => ({ id }))),
    async open({ id }, position = 0): Promise<SourceReader<T, number>> {
      opened++;
      let next = position;
      let isClosed = false;
      return {
        async poll() {
          while (next === records.length) {
            if (isClosed || (isEnded && id === ids[0])) return 'end';
            await new Promise<void>((go) => waiting.add(go));
          }
          const taken = records.slice(next);
          next = records.length;
          return taken;
        },
        position: () => next,
        async close() {
          isClosed = true;
          wake();
        },
      };
    },
  };
}
