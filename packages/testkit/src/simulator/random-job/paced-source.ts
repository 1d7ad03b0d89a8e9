import { sleep, staticSplits, type Source } from '@weir/core/contracts';
import type { Item } from './item.js';

export interface PacedSourceOptions {
  readonly name: string;
  /** Records of each split. */
  readonly splits: readonly number[];
  readonly keys: number;
  readonly perPoll: number;
  /** Between two polls of a reader. 0: as fast as it is asked. */
  readonly pauseMs: number;
}

/** Numbered items in several splits; the position is the number of the next. */
export function pacedSource({
  name,
  splits,
  keys,
  perPoll,
  pauseMs,
}: PacedSourceOptions): Source<Item, 'replayable', { readonly id: string; readonly count: number }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits(splits.map((count, i) => ({ id: `${name}${String(i)}`, count }))),
    async open({ id, count }, start = 0, { clock, signal }) {
      let next = start;
      const take = (max: number): readonly Item[] | 'end' => {
        if (next >= count) return 'end';
        const items: Item[] = [];
        for (; items.length < Math.min(max, perPoll) && next < count; next++)
          items.push({ id: `${id}.${String(next)}`, key: (next * 7 + count) % keys });
        return items;
      };
      return {
        poll: (max) => (pauseMs === 0 ? take(max) : sleep(clock, pauseMs, signal).then(() => take(max))),
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}
