import { checkpointCoordinator } from '@weir/coordinator';
import { checkOperator, crash, elapse, runOperator } from '@weir/testkit';
import { expect, test } from 'vitest';
import { mapCheckpoints } from '../examples/plugins/map-storage.js';
import { inGroupsOf } from '../examples/state/batches.js';
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
