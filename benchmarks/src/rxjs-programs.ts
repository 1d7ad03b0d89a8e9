import { filter, groupBy, map, mergeMap, Observable, scan } from 'rxjs';
import { accept, project, type Input, type Total } from './workload.js';

/** Records per second that a program moves while it runs for `ms`. */
export type Program = (records: readonly Input[], ms: number) => number;

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

/** Records per second of a program in its steady state, which computes something. */
export function timed(
  records: readonly Input[],
  ms: number,
  program: (source: Observable<Input>) => Observable<Total>,
): number {
  const mask = records.length - 1;
  let position = 0;
  let checksum = 0;
  let rate = 0;
  // One pass over all records first: every key is known and the code is warm, as in the steady window of the job.
  const source = new Observable<Input>((subscriber) => {
    for (; position < records.length; position++) subscriber.next(records[position]!);
    const start = performance.now();
    const from = position;
    for (let end = start; end - start < ms; end = performance.now()) {
      for (let i = 0; i < 4096; i++) subscriber.next(records[position++ & mask]!);
    }
    rate = (position - from) / ((performance.now() - start) / 1000);
    subscriber.complete();
  });
  program(source).subscribe(({ total }) => {
    checksum += total;
  });
  if (!(checksum > 0)) throw new Error('the program computed nothing');
  return rate;
}
