import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFsStorage, fsBackend } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { collection } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { keyBy } from '@weir/core/operators';
import { writeSavepoint } from '@weir/core/state-reader';
import { checkOperator, crash, elapse, runOperator, transactionalMemorySink } from '@weir/testkit';
import { expect, test } from 'vitest';
import { mapCheckpoints } from '../examples/plugins/map-storage.js';
import { inGroupsOf } from '../examples/state/batches.js';
import { spending, type Order, type Spent } from '../examples/state/evolution.js';
import { firstWithin } from '../examples/state/first-within.js';

const plugins = [checkpointCoordinator(), mapCheckpoints()];

test('groups are complete but for the last, however the job is run, crashed and restored', async () => {
  await checkOperator(inGroupsOf<number>(3, 'groups'), {
    plugins,
    input: [1, 2, 3, 4, 5, 6, 7],
    // At more parallelism each subtask has groups of its own.
    compare: (actual) => {
      expect(actual.flat().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    },
  });
  expect(await runOperator([1, 2, crash(), 3, 4], inGroupsOf<number>(3, 'groups'), { plugins })).toEqual([
    [1, 2, 3],
    [4],
  ]);
});

test('what was seen is forgotten once it has not been seen for an hour, however the job is run, crashed and restored', async () => {
  const HOUR = 3_600_000;
  await checkOperator(
    firstWithin<string>('1 h', (record) => record, 'first'),
    {
      plugins,
      input: ['a', 'a', elapse(HOUR - 1), 'a', 'b', elapse(HOUR - 1), 'a', elapse(1), 'b', elapse(HOUR - 1), 'a'],
      expected: ['a', 'b', 'b', 'a'],
    },
  );
});

test('what the first program kept of each customer is what the third goes on from', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'weir-'));
  try {
    const { pointer } = await writeSavepoint({
      storage: createFsStorage({ checkpointsDir: path.join(dir, 'state') }),
      directory: path.join(dir, 'savepoints'),
      backend: createMemoryStateBackend(),
      job: 'shop',
      operators: [
        {
          uid: 'spending',
          states: {
            spent: { kind: 'value', entries: [{ key: 'ada', value: 12.34 }] },
            byProduct: { kind: 'map', entries: [{ key: 'ada', mapKey: 'ink', value: 1234 }] },
            visits: { kind: 'value', entries: [{ key: 'ada', value: 3 }] },
          },
        },
      ],
    });
    const sink = transactionalMemorySink<Spent>();
    const env = createEnvironment({
      logger: SILENT,
      plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: path.join(dir, 'state') })],
    });
    env.enableCheckpointing();
    const orders: readonly Order[] = [{ customer: 'ada', article: 'pen', cents: 66 }];
    env
      .from(collection(orders), { uid: 'orders' })
      .pipe(
        keyBy(({ customer }) => customer),
        spending,
      )
      .to(sink, { uid: 'out' });
    await env.execute('shop', { restoreFrom: pointer });
    expect(sink.visible).toEqual([{ amount: 1300, currency: 'EUR' }]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
