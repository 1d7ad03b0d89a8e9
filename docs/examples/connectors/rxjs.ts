import { memoryBackend } from '@weir/backend-memory';
import { committed, fromObservable, fromResumable, toObservable } from '@weir/connectors/rxjs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { map } from '@weir/core/operators';
import { interval, map as each, range, Subject, take } from 'rxjs';

// Any Observable, at most once: what comes while the job restarts may be lost.
const live = createEnvironment();
const ticks = live.from(fromObservable(interval(5).pipe(take(3)), { overflow: 'drop-oldest', capacity: 1000 })).pipe(
  map((n) => `tick ${String(n)}`),
  toObservable(),
);
ticks.subscribe((tick) => {
  console.log(tick);
});
await live.execute('live');

// A Subject keeps nothing: it may send once it has been subscribed.
const orders = new Subject<string>();
const sent = createEnvironment();
sent
  .from(
    fromObservable(orders, {
      overflow: 'fail',
      onSubscribed: () => {
        orders.next('order 1');
        orders.complete();
      },
    }),
  )
  .pipe(toObservable())
  .subscribe((order) => {
    console.log(order);
  });
await sent.execute('orders');

// Whatever can be opened at a position: replayable, and committed() emits only what a completed checkpoint covers.
const exact = createEnvironment({ plugins: [checkpointCoordinator(), memoryBackend()] });
exact.enableCheckpointing('1 s');
const squares = exact
  .from(
    fromResumable({
      start: 0,
      open: (next) => range(next, 3 - next).pipe(each((n) => ({ value: n, resumeAt: n + 1 }))),
    }),
    { uid: 'numbers' },
  )
  .pipe(
    map((n) => n * n),
    committed({ uid: 'squares' }),
  );
squares.subscribe((square) => {
  console.log(square);
});
await exact.execute('exact');
