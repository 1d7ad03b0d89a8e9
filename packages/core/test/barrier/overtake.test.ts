import { barrier, batch, cancelMarker, overtake } from '@weir/core/barrier';
import type { InFlight, StreamElement } from '@weir/core/barrier';
import { isWeirError } from '@weir/core/contracts';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';

type Element = StreamElement<number>;

class OvertakeBench {
  readonly left = new Subject<Element>();
  readonly right = new Subject<Element>();
  readonly seen: Element[] = [];
  readonly inFlight: InFlight<number>[] = [];
  error: unknown;

  constructor(maxBuffered = 4) {
    const inFlight = (one: InFlight<number>): unknown => this.inFlight.push(one);
    overtake([this.left, this.right], { maxBuffered, inFlight }).subscribe({
      next: (element) => this.seen.push(element),
      error: (error: unknown) => (this.error = error),
    });
  }
}

describe('overtake', () => {
  test('gives what is in flight channel by channel, once the last barrier is in', () => {
    const bench = new OvertakeBench();
    bench.left.next(batch([1]));
    bench.left.next(barrier(1));
    bench.left.next(batch([2]));
    bench.right.next({ kind: 'batch', records: [10], timestamps: [7] });
    bench.right.next(batch([11, 12]));
    expect(bench.inFlight).toEqual([]);
    bench.right.next(barrier(1));
    bench.right.next(batch([13]));
    const flying = [{ kind: 'batch', records: [10], timestamps: [7] }, batch([11, 12])];
    expect(bench.inFlight).toEqual([{ checkpointId: 1, channels: [[], flying] }]);
    // It has gone on as well, behind the barrier.
    expect(bench.seen).toEqual([batch([1]), barrier(1), batch([2]), ...flying, batch([13])]);
  });

  test('gives nothing of a checkpoint that is cancelled', () => {
    const bench = new OvertakeBench();
    bench.left.next(barrier(1));
    bench.right.next(batch([1, 2, 3]));
    bench.right.next(cancelMarker(1));
    bench.left.next(barrier(2));
    bench.right.next(batch([4, 5, 6]));
    bench.right.next(barrier(2));
    expect(bench.error).toBeUndefined();
    expect(bench.inFlight).toEqual([{ checkpointId: 2, channels: [[], [batch([4, 5, 6])]] }]);
  });

  test('fails with the record that is one too many, counted for one checkpoint', () => {
    const bench = new OvertakeBench(2);
    for (let id = 1; id <= 3; id++) {
      bench.left.next(barrier(id));
      bench.right.next(batch([1, 2]));
      bench.right.next(barrier(id));
    }
    expect(bench.error).toBeUndefined();
    bench.left.next(barrier(4));
    bench.right.next(batch([1, 2]));
    bench.right.next(batch([3]));
    expect(isWeirError(bench.error, 'BUFFER_OVERFLOW')).toBe(true);
    expect(String(bench.error)).toContain('checkpoint 4');
  });

  test('holds back what follows the barrier of a savepoint, within the same bound', () => {
    const bench = new OvertakeBench(2);
    const savepoint = barrier(1, 0, 'savepoint');
    bench.left.next(savepoint);
    bench.left.next(batch([1, 2]));
    bench.right.next(batch([10]));
    expect(bench.seen).toEqual([batch([10])]);
    bench.right.next(savepoint);
    expect(bench.seen).toEqual([batch([10]), savepoint, batch([1, 2])]);
    expect(bench.inFlight).toEqual([]);
    bench.left.next(barrier(2, 0, 'savepoint'));
    bench.left.next(batch([1, 2, 3]));
    expect(String(bench.error)).toContain('maxBuffered = 2');
  });

  test('needs a number of records as its bound', () => {
    for (const maxBuffered of [-1, NaN]) {
      expect(() => overtake([new Subject<Element>()], { maxBuffered, inFlight: () => undefined })).toThrow(
        'CONFIG_INVALID',
      );
    }
  });
});
