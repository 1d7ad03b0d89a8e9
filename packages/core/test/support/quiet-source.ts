import type { Source, SourceReader } from '../../src/contracts/source.js';
import { staticSplits } from '../../src/operator/static-splits.js';

/** Reads its records and is silent from then on, until the attempt ends, or until it is told that there is no more. */
export function quietSource<T>(
  records: readonly T[],
  options: { readonly batchSize?: number; readonly untilEnd?: Promise<void> } = {},
): Source<T, 'replayable', { readonly id: string }, number> {
  const { batchSize = Number.POSITIVE_INFINITY, untilEnd = new Promise<void>(() => undefined) } = options;
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'quiet' }]),
    async open(_split, position = 0): Promise<SourceReader<T, number>> {
      let next = position;
      let onClose: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => {
        onClose = resolve;
      });
      return {
        poll(max) {
          if (next === records.length)
            return Promise.race([untilEnd.then(() => 'end' as const), closed.then(() => [])]);
          const from = next;
          next = Math.min(records.length, from + Math.min(max, batchSize));
          return records.slice(from, next);
        },
        position: () => next,
        async close() {
          onClose();
        },
      };
    },
  };
}
