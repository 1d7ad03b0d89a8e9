import { keyBy, map, scan } from '@weir/core/operators';
import { describe, expect, test } from 'vitest';
import { crash, runOperator } from '../../src/index.js';

describe('runOperator', () => {
  test('runs a script without crashes without any plugin, keyed state included', async () => {
    const out = await runOperator([1, 2, 3, 4], (numbers) =>
      numbers.pipe(
        keyBy((n) => n % 2),
        scan(
          (sum, n) => sum + n,
          () => 0,
        ),
      ),
    );
    expect(out).toEqual([1, 2, 4, 6]);
  });

  test('gives the same records at another parallelism', async () => {
    const input = Array.from({ length: 100 }, (_, i) => i);
    const out = await runOperator(input, (numbers) => numbers.pipe(map((n) => -n)), { parallelism: 3 });
    expect([...out].sort((a, b) => b - a)).toEqual(input.map((n) => -n));
  });

  test('refuses a crash that nothing could recover from', async () => {
    await expect(runOperator([1, crash(), 2], (numbers) => numbers)).rejects.toMatchObject({ code: 'PLUGIN_MISSING' });
  });

  test('rejects with what the operator threw, and does not try again', async () => {
    let tries = 0;
    const failing = runOperator([1], (numbers) =>
      numbers.pipe(
        map((): number => {
          tries++;
          throw new RangeError('no such gate');
        }),
      ),
    );
    await expect(failing).rejects.toMatchObject({ code: 'OPERATOR_FAILED', cause: new RangeError('no such gate') });
    expect(tries).toBe(1);
  });
});
