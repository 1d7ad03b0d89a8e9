import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { BarrierWaits } from '../../src/host/barrier-waits.js';

/** Checkpoints as the attempt sees them, and requests that stay open until the test ends them. */
function bench(): {
  readonly clock: VirtualClock;
  readonly waits: BarrierWaits;
  readonly underWay: Set<number>;
  readonly requests: { readonly end: () => void; readonly fail: () => void }[];
  readonly attempt: AbortController;
} {
  const clock = new VirtualClock();
  const underWay = new Set<number>();
  const requests: { end: () => void; fail: () => void }[] = [];
  const attempt = new AbortController();
  const waits = new BarrierWaits({
    clock,
    signal: attempt.signal,
    underWay: () => underWay,
    request: () =>
      new Promise<void>((resolve, reject) => {
        requests.push({ end: resolve, fail: () => reject(new Error('refused')) });
      }),
  });
  return { clock, waits, underWay, requests, attempt };
}
const never = (): AbortSignal => new AbortController().signal;

/** Whether `promise` has settled by now. */
function watch(promise: Promise<void>): { settled: boolean } {
  const state = { settled: false };
  promise.then(
    () => (state.settled = true),
    () => (state.settled = true),
  );
  return state;
}

describe('a writer that waits for a barrier', () => {
  test('need not wait while one is on its way to it', async () => {
    const { waits, underWay, requests, clock } = bench();
    underWay.add(5);
    await waits.next(4, never());
    await clock.settle();
    expect(requests).toHaveLength(0);
  });

  test('is the only reason to look again: with none, the end of a checkpoint leaves no turn of the event loop behind', () => {
    const { waits, clock } = bench();
    let turns = 0;
    clock.nextTurn = () => {
      turns++;
      return () => undefined;
    };
    waits.ended();
    expect(turns).toBe(0);
  });

  test('has one checkpoint asked for, and goes on when its barrier leaves the sources, before it completes', async () => {
    const { waits, underWay, requests, clock } = bench();
    const first = watch(waits.next(0, never()));
    const second = watch(waits.next(0, never()));
    await clock.settle();
    expect([first.settled, second.settled, requests.length]).toEqual([false, false, 1]);
    underWay.add(1);
    waits.triggered();
    await clock.settle();
    expect([first.settled, second.settled, requests.length]).toEqual([true, true, 1]);
  });

  test('waits for the end of a checkpoint that has passed it before it asks for another', async () => {
    const { waits, underWay, requests, clock } = bench();
    underWay.add(1);
    const wait = watch(waits.next(1, never()));
    await clock.settle();
    expect(requests).toHaveLength(0);
    underWay.delete(1);
    waits.ended();
    await clock.settle();
    expect([wait.settled, requests.length]).toEqual([false, 1]);
  });

  test('asks for nothing if it was given room before the turn was over', async () => {
    const { waits, underWay, requests, clock } = bench();
    underWay.add(1);
    const until = new AbortController();
    const wait = watch(waits.next(1, until.signal));
    await clock.settle();
    underWay.delete(1);
    waits.ended();
    until.abort();
    await clock.settle();
    expect([wait.settled, requests.length]).toEqual([true, 0]);
  });

  test('has it asked for again, a while after it was refused', async () => {
    const { waits, requests, clock } = bench();
    void waits.next(0, never());
    await clock.settle();
    requests[0]?.fail();
    await clock.settle();
    expect(requests).toHaveLength(1);
    await clock.advance(100);
    expect(requests).toHaveLength(2);
  });

  test('is let go with the reason when the attempt ends', async () => {
    const { waits, attempt } = bench();
    const wait = waits.next(0, never());
    attempt.abort(new Error('over'));
    await expect(wait).rejects.toThrow('over');
    await expect(waits.next(0, never())).rejects.toThrow('over');
  });
});
