import { filter, groupBy, map, mergeMap, Observable, scan } from 'rxjs';
import { Stopwatch, type Rate } from './rate.js';
import { accept, project, type Input, type Total } from './workload.js';

/** Runs for `ms`. */
export type Program = (records: readonly Input[], ms: number) => Rate;

/** The job by hand: RxJS operators and a Map, no fault tolerance. */
export const rxjsMap: Program = (records, ms) =>
  timed(records, ms, (source) => {
    const totals = new Map<string | number, number>();
    return source.pipe(
      map(project),
      filter(accept),
      map(({ key, value }): Total => {
        const total = (totals.get(key) ?? 0) + value;
        totals.set(key, total);
        return { key, total };
      }),
    );
  });

/** The job as the RxJS documentation would have it. */
export const rxjsGroupBy: Program = (records, ms) =>
  timed(records, ms, (source) =>
    source.pipe(
      map(project),
      filter(accept),
      groupBy(({ key }) => key),
      mergeMap((group) =>
        group.pipe(
          scan((sum: Total, { key, value }): Total => ({ key, total: sum.total + value }), {
            key: group.key,
            total: 0,
          }),
        ),
      ),
    ),
  );

/** A program in its steady state, which computes something. */
export function timed(
  records: readonly Input[],
  ms: number,
  program: (source: Observable<Input>) => Observable<Total>,
): Rate {
  const mask = records.length - 1;
  let position = 0;
  let checksum = 0;
  let rate: Rate | undefined;
  // One pass over all records first: every key is known and the code is warm, as in the steady window of the job.
  const source = new Observable<Input>((subscriber) => {
    for (; position < records.length; position++) subscriber.next(records[position]!);
    const stopwatch = new Stopwatch();
    const start = performance.now();
    const from = position;
    for (let end = start; end - start < ms; end = performance.now()) {
      for (let i = 0; i < 4096; i++) subscriber.next(records[position++ & mask]!);
    }
    rate = stopwatch.rate(position - from);
    subscriber.complete();
  });
  program(source).subscribe(({ total }) => {
    checksum += total;
  });
  if (rate === undefined || !(checksum > 0)) throw new Error('the program computed nothing');
  return rate;
}
