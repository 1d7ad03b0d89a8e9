import { staticSplits, WeirError, type Source, type SourceSplit } from '@weir/core/contracts';

export interface PagedSourceOptions<T> {
  /** Each is a split. */
  readonly lists: readonly string[];
  /** A page of a list, the first is 0; undefined behind the last. A page that was given once never changes. */
  readonly fetchPage: (list: string, page: number, signal: AbortSignal) => Promise<readonly T[] | undefined>;
}
/** Go on in this page, behind so many of its records. */
interface Place {
  readonly page: number;
  readonly taken: number;
}

/** Reads lists page by page, and any number of lists at once. */
export function pagedSource<T>({
  lists,
  fetchPage,
}: PagedSourceOptions<T>): Source<T, 'replayable', SourceSplit, Place> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits(lists.map((id) => ({ id }))),
    async open({ id }, position = { page: 0, taken: 0 }, context) {
      const closing = new AbortController();
      const signal = AbortSignal.any([context.signal, closing.signal]);
      let { page, taken } = position;
      let records = await fetchPage(id, page, signal);
      if (taken > (records ?? []).length) {
        throw new WeirError(
          'SOURCE_POSITION_GONE',
          `List ${id} has no record ${String(taken)} on page ${String(page)}.`,
          {
            recoverable: false,
          },
        );
      }

      const take = (max: number): readonly T[] => {
        const next = records?.slice(taken, taken + max) ?? [];
        taken += next.length;
        return next;
      };
      const takeFromNext = async (max: number): Promise<readonly T[] | 'end'> => {
        const next = await fetchPage(id, page + 1, signal);
        if (next === undefined) return 'end';
        records = next;
        page++;
        taken = 0;
        return take(max);
      };
      return {
        poll(max) {
          if (records === undefined) return 'end';
          return taken < records.length ? take(max) : takeFromNext(max);
        },
        position: () => ({ page, taken }),
        close: async () => {
          closing.abort();
        },
      };
    },
  };
}
