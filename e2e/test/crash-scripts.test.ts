import { keyBy, map, rebalance, scan, tap, type StreamOperator } from '@weir/core/operators';
import { assertExactlyOnce, crash, runOperator } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { plugins } from './support/memory-disk.js';

/** Sums up by parity, and notes in `seen` what reaches the end of the job, replays included. */
const sums =
  (seen: number[]): StreamOperator<number, number> =>
  (numbers) =>
    numbers.pipe(
      keyBy((n) => n % 2),
      scan(
        (sum, n) => sum + n,
        () => 0,
      ),
      tap((sum) => seen.push(sum)),
    );

describe('a script with crashes', () => {
  test('gives each result once, and reads again the record behind the checkpoint', async () => {
    const seen: number[] = [];
    expect(await runOperator([1, 2, crash(), 3], sums(seen), { plugins })).toEqual([1, 2, 4]);
    expect(seen).toEqual([1, 2, 2, 4]);
  });

  test.each([
    [0, [1, 2, 4, 6]],
    [1, [1, 2, 4, 4, 6]],
    [2, [1, 2, 4, 2, 4, 6]],
    [5, [1, 2, 4, 1, 2, 4, 6]],
    [Infinity, [1, 2, 4, 1, 2, 4, 6]],
  ])('reads again the last %s records before a crash', async (replayed, expected) => {
    const seen: number[] = [];
    expect(await runOperator([1, 2, 3, crash(), 4], sums(seen), { plugins, replayed })).toEqual([1, 2, 4, 6]);
    expect(seen).toEqual(expected);
  });

  test('dies twice at the same place, before the first record and after the last', async () => {
    const seen: number[] = [];
    const script = [crash(), 1, 2, crash(), crash(), 3, crash()];
    expect(await runOperator(script, sums(seen), { plugins })).toEqual([1, 2, 4]);
    expect(seen).toEqual([1, 2, 2, 2, 4, 4]);
  });

  test('takes the crash markers of others', async () => {
    const seen: number[] = [];
    const marker = { '~crash': true } as const;
    expect(await runOperator([1, marker, 2], sums(seen), { plugins })).toEqual([1, 2]);
    expect(seen).toEqual([1, 1, 2]);
  });

  test('dies when everything before has been worked on, in every subtask', async () => {
    const seen = new Set<number>();
    const input = Array.from({ length: 500 }, (_, i) => i);
    let attempts = 0;
    const output = await runOperator(
      [...input.slice(0, 400), crash(), ...input.slice(400)],
      (numbers) =>
        numbers.pipe(
          tap((n) => {
            if (n !== 399) return;
            attempts++;
            if (attempts === 2) expect(seen.size).toBe(400);
          }),
          rebalance(),
          map((n) => n),
          tap((n) => seen.add(n)),
        ),
      { plugins, parallelism: 3, replayed: 100 },
    );
    expect(attempts).toBe(2);
    assertExactlyOnce(output, input);
  });

  test('fails with what the operator throws, however often it crashed before', async () => {
    const script = [1, crash(), 2, crash(), 3];
    const failing = runOperator(
      script,
      (numbers) =>
        numbers.pipe(
          map((n) => {
            if (n === 3) throw new RangeError('three');
            return n;
          }),
        ),
      { plugins },
    );
    await expect(failing).rejects.toMatchObject({ code: 'OPERATOR_FAILED', cause: new RangeError('three') });
  });
});
