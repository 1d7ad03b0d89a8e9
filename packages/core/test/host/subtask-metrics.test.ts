import { expect, test } from 'vitest';
import { createEnvironment } from '../../src/index.js';
import type { Metrics } from '../../src/contracts/metrics.js';
import { SILENT } from '../../src/contracts/logger.js';
import { flatMap, rebalance } from '../../src/operators.js';
import { splitSource } from '../support/split-source.js';

test('shows how many records each subtask has taken and handed on, for as long as the job runs', async () => {
  const gauges = new Map<string, () => number>();
  const metrics: Metrics = {
    counter: () => ({ add: () => undefined }),
    histogram: () => ({ record: () => undefined }),
    gauge(name, read, labels = {}) {
      const key = `${name} ${String(labels['stage'])}#${String(labels['subtask'])}`;
      gauges.set(key, read);
      return () => gauges.delete(key);
    },
  };
  const seen: Record<string, number> = {};
  const env = createEnvironment({ logger: SILENT, metrics });
  env
    .from(splitSource([[1, 2, 3]]), { uid: 'numbers' })
    .pipe(
      flatMap((n) => [n, n]),
      rebalance(),
    )
    .to(
      {
        grade: 'at-least-once',
        open: () => ({ write: () => undefined, close: () => gauges.forEach((read, key) => (seen[key] = read())) }),
      },
      { uid: 'out' },
    );
  await env.execute('counted');
  expect(seen).toMatchObject({
    'weir.subtask.records_in numbers#0': 0,
    'weir.subtask.records_out numbers#0': 6,
    'weir.subtask.records_in out#0': 6,
    'weir.subtask.records_out out#0': 0,
    'weir.subtask.back_pressured numbers#0': 0,
  });
  expect(gauges.size).toBe(0);
});
