// Without fault tolerance. loop: a loop and a Map. rxjs-map: RxJS operators and a Map. rxjs-groupby: as the documentation of RxJS would have it.
import { filter, groupBy, map, mergeMap, Observable, scan } from 'rxjs';
import { Meter, orderFrom } from './meter.js';
import { accept, accepted, item, project, type Item, type Sum } from './work.js';

const order = orderFrom(process.argv.slice(2));
const { engine, keys, count: all } = order;
const meter = new Meter(order);
/** Records come in calls of so many, as from a file or a socket: one endless loop, which V8 optimizes only while it runs, is slower by a third. */
const CALL = 1000;
let count = 0;
let checksum = 0;

const take = ({ total }: Sum): void => {
  count++;
  checksum = (checksum + total) | 0;
};

function inCalls(call: (from: number, to: number) => void): void {
  meter.begin();
  for (let i = 0; i < all; i += CALL) call(i, Math.min(all, i + CALL));
}

function loop(): void {
  const totals = new Map<string, number>();
  inCalls((from, to) => {
    for (let i = from; i < to; i++) {
      if (i === meter.warmAt) meter.warm();
      const projected = project(item(i, keys));
      if (!accept(projected)) continue;
      const { key, value } = projected;
      const total = (totals.get(key) ?? 0) + value;
      totals.set(key, total);
      take({ key, total });
    }
  });
}

const source = new Observable<Item>((subscriber) => {
  inCalls((from, to) => {
    for (let i = from; i < to; i++) {
      if (i === meter.warmAt) meter.warm();
      subscriber.next(item(i, keys));
    }
  });
  subscriber.complete();
});

function rxjsMap(): void {
  const totals = new Map<string, number>();
  source
    .pipe(
      map(project),
      filter(accept),
      map(({ key, value }): Sum => {
        const total = (totals.get(key) ?? 0) + value;
        totals.set(key, total);
        return { key, total };
      }),
    )
    .subscribe(take);
}

function rxjsGroupBy(): void {
  source
    .pipe(
      map(project),
      filter(accept),
      groupBy(({ key }) => key),
      mergeMap((group) =>
        group.pipe(
          scan((sum: Sum, { key, value }): Sum => ({ key, total: sum.total + value }), { key: group.key, total: 0 }),
        ),
      ),
    )
    .subscribe(take);
}

const PROGRAMS: Readonly<Record<string, () => void>> = {
  loop,
  'rxjs-map': rxjsMap,
  'rxjs-groupby': rxjsGroupBy,
};
PROGRAMS[engine]?.();
meter.end();
if (count !== accepted(all)) throw new Error(`counted ${String(count)}, not ${String(accepted(all))}`);
meter.report(count, checksum, undefined, { version: `node ${process.version}` });
