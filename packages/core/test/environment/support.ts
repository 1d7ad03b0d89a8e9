import { staticSplits, type Sink, type Source } from '../../src/contracts.js';

/** 0 to count - 1; the position is the next number. */
export function numbers(count: number): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, position = 0) => {
      let next = position;
      return Promise.resolve({
        poll(max: number) {
          if (next >= count) return 'end';
          const records = Array.from({ length: Math.min(max, count - next) }, (_, i) => next + i);
          next += records.length;
          return records;
        },
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Writes into an array. */
export function collecting<T>(out: T[]): Sink<T, 'at-least-once', never> {
  return {
    grade: 'at-least-once',
    open: () => ({
      write(batch) {
        out.push(...batch);
      },
      close: () => undefined,
    }),
  };
}
