import {
  END_OF_CHANNEL,
  END_OF_DATA,
  barrier,
  batch,
  cancelMarker,
  filterRecords,
  mapRecords,
} from '@weir/core/barrier';
import type { StreamElement } from '@weir/core/barrier';
import { lastValueFrom, of, toArray, type OperatorFunction } from 'rxjs';
import { describe, expect, test } from 'vitest';

const through = <A, B>(
  operator: OperatorFunction<StreamElement<A>, StreamElement<B>>,
  ...elements: readonly StreamElement<A>[]
): Promise<readonly StreamElement<B>[]> => lastValueFrom(of(...elements).pipe(operator, toArray()));

const control: readonly StreamElement<never>[] = [
  { kind: 'watermark', time: 1 },
  { kind: 'idle', idle: true },
  barrier(1),
  cancelMarker(2),
  END_OF_DATA,
  END_OF_CHANNEL,
];
const timed: StreamElement<number> = { kind: 'batch', records: [1, 2, 3, 4], timestamps: [10, 20, 30, 40] };

describe('mapRecords', () => {
  const double = mapRecords((n: number) => n * 2);

  test('projects every record of a batch and keeps its timestamps', async () => {
    expect(await through(double, timed)).toEqual([
      { kind: 'batch', records: [2, 4, 6, 8], timestamps: [10, 20, 30, 40] },
    ]);
  });

  test('leaves the batch that came in as it was', async () => {
    const records = Object.freeze([1, 2]);
    expect(await through(double, batch(records))).toEqual([batch([2, 4])]);
    expect(records).toEqual([1, 2]);
  });

  test('passes on everything else, the same objects in the same order', async () => {
    const out = await through(double, ...control);
    expect(out).toHaveLength(control.length);
    for (const [i, element] of out.entries()) expect(element).toBe(control[i]);
  });

  test('does not emit an empty batch', async () => {
    expect(await through(double, batch<number>([]), batch([1]))).toEqual([batch([2])]);
  });

  test('fails with what the projection threw', async () => {
    const failing = mapRecords((n: number) => {
      if (n === 2) throw new Error('no two');
      return n;
    });
    await expect(through(failing, batch([1]), batch([2]))).rejects.toThrow('no two');
  });
});

describe('filterRecords', () => {
  const even = filterRecords((n: number) => n % 2 === 0);

  test('keeps the records that satisfy the predicate, each with its timestamp', async () => {
    expect(await through(even, timed)).toEqual([{ kind: 'batch', records: [2, 4], timestamps: [20, 40] }]);
  });

  test('passes on everything else, the same objects in the same order', async () => {
    const out = await through(even, ...control);
    expect(out).toHaveLength(control.length);
    for (const [i, element] of out.entries()) expect(element).toBe(control[i]);
  });

  test('does not emit a batch of which nothing is left', async () => {
    expect(await through(even, batch([1, 3]), barrier(1), batch([2]))).toEqual([barrier(1), batch([2])]);
  });

  test('fails with what the predicate threw', async () => {
    const failing = filterRecords((n: number): boolean => {
      throw new Error(`not ${n}`);
    });
    await expect(through(failing, batch([1]))).rejects.toThrow('not 1');
  });
});
