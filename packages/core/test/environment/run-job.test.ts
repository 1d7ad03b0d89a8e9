import { describe, expect, test } from 'vitest';
import { createEnvironment } from '../../src/index.js';
import { filter, flatMap, map, rebalance, rx, union } from '../../src/operators.js';
import { map as rxMap } from 'rxjs';
import { collecting, numbers } from './support.js';

describe('a job without checkpoints', () => {
  test('runs from source to sink and finishes', async () => {
    const env = createEnvironment();
    const out: string[] = [];
    env
      .from(numbers(10))
      .pipe(
        map((n) => n * 2),
        filter((n) => n % 3 === 0),
        rx(rxMap((n) => `<${String(n)}>`)),
      )
      .to(collecting(out));
    expect(await env.execute('job')).toBe('finished');
    expect(out).toEqual(['<0>', '<6>', '<12>', '<18>']);
  });

  test('expands records lazily and keeps order', async () => {
    const env = createEnvironment();
    const out: number[] = [];
    env
      .from(numbers(5))
      .pipe(
        flatMap(function* (n) {
          for (let i = 0; i < 3000; i++) yield n * 3000 + i;
        }),
      )
      .to(collecting(out));
    await env.execute('job');
    expect(out).toEqual(Array.from({ length: 15000 }, (_, i) => i));
  });

  test('merges and deals out streams over several subtasks', async () => {
    const env = createEnvironment({ parallelism: 3 });
    const out: number[] = [];
    const a = env.from(numbers(1000));
    const b = env.from(numbers(500)).pipe(map((n) => n + 1000));
    a.pipe(
      union(b),
      rebalance(),
      map((n) => n + 1),
    ).to(collecting(out));
    await env.execute('job');
    expect(out.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 1500 }, (_, i) => i + 1));
  });
});
