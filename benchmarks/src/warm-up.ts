import { createEnvironment } from '@weir/core';
import { flatMap, map, rx, tap } from '@weir/core/operators';
import { staticSplits, type Source } from '@weir/core/contracts';
import { map as rxMap, Observable, scan as rxScan } from 'rxjs';

/**
 * Several other pipelines first: code that all pipelines share is then as polymorphic as in a real program, for weir and RxJS alike; the first
 * benchmark in a fresh process flatters whoever it measures.
 */
export async function warmUp(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const env = createEnvironment();
    env
      .from(numbers(300_000))
      .pipe(
        map((n) => ({ n, text: String(n) })),
        tap(({ n }) => n),
        flatMap(({ n }) => [n, n + 1]),
        rx(rxMap((n) => n * 2)),
        map((n) => n % 7),
      )
      .to({ grade: 'at-least-once', open: () => ({ write: () => undefined, close: () => undefined }) });
    await env.execute('warm-up');
    new Observable<number>((subscriber) => {
      for (let i = 0; i < 1_000_000; i++) subscriber.next(i);
      subscriber.complete();
    })
      .pipe(
        rxMap((n) => n + round),
        rxMap((n) => `${String(n)}!`),
        rxScan((longest, text) => Math.max(longest, text.length), 0),
      )
      .subscribe();
  }
}

function numbers(count: number): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, start = 0) => {
      let next = start;
      return Promise.resolve({
        poll(max: number) {
          if (next >= count) return 'end';
          const from = next;
          next = Math.min(count, next + max);
          return Array.from({ length: next - from }, (_, i) => from + i);
        },
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}
