import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { barrier, type Barrier } from '../../src/element/element.js';
import { BarrierTimeouts } from '../../src/host/barrier-timeouts.js';

class TimeoutsBench {
  readonly clock = new VirtualClock();
  readonly late: number[] = [];
  readonly timeouts = new BarrierTimeouts(this.clock, (id) => this.late.push(id));

  saw(id: number, ageMs = 0, overtakesAfter = 50): Barrier {
    const seen = { ...barrier(id, this.clock.now() - ageMs), overtakesAfter };
    this.timeouts.saw(seen);
    return seen;
  }
}

describe('a timeout', () => {
  test('is measured from the trigger of the checkpoint, and told once however many barriers come', async () => {
    const bench = new TimeoutsBench();
    const seen = bench.saw(1, 20);
    await bench.clock.advance(29);
    bench.timeouts.saw(seen);
    expect(bench.late).toEqual([]);
    await bench.clock.advance(1);
    expect(bench.late).toEqual([1]);
    bench.timeouts.saw(seen);
    await bench.clock.advance(100);
    expect(bench.late).toEqual([1]);
  });

  test('that is over before the first barrier comes is told at once', () => {
    const bench = new TimeoutsBench();
    bench.saw(1, 70);
    expect(bench.late).toEqual([1]);
  });

  test.each<[string, (bench: TimeoutsBench) => void]>([
    ['the checkpoint is over', (bench) => bench.timeouts.ended(1)],
    ['the subtask is closed', (bench) => bench.timeouts.close()],
  ])('testNoActiveTimeoutAlignmentAfterClose: is not told after %s', async (_what, end) => {
    const bench = new TimeoutsBench();
    bench.saw(1);
    end(bench);
    await bench.clock.advance(100);
    expect(bench.late).toEqual([]);
  });

  test('goes on when an older checkpoint is over, and gives way to a newer one', async () => {
    const bench = new TimeoutsBench();
    bench.saw(1);
    await bench.clock.advance(10);
    bench.saw(2);
    bench.timeouts.ended(1);
    await bench.clock.advance(100);
    expect(bench.late).toEqual([2]);
  });

  test('is none for barriers that overtake at once or never', async () => {
    const bench = new TimeoutsBench();
    bench.saw(1, 0, 0);
    bench.timeouts.saw(barrier(2));
    bench.timeouts.saw({ ...barrier(3, 0, 'savepoint'), overtakesAfter: 5 });
    bench.timeouts.saw({ ...barrier(4), overtakesAfter: 5, isForcedAligned: true });
    await bench.clock.advance(100);
    expect(bench.late).toEqual([]);
  });
});
