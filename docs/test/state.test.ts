import { checkpointCoordinator } from '@weir/coordinator';
import { checkOperator, crash, runOperator } from '@weir/testkit';
import { expect, test } from 'vitest';
import { mapCheckpoints } from '../examples/plugins/map-storage.js';
import { inGroupsOf } from '../examples/state/batches.js';

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
