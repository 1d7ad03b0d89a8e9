import { checkpointCoordinator } from '@weir/coordinator';
import { checkOperator, crash, runOperator } from '@weir/testkit';
import { expect, test } from 'vitest';
import { changesBy } from '../../examples/plugins/changes-by.js';
import { countBy } from '../../examples/plugins/count-by.js';
import { mapCheckpoints } from '../../examples/plugins/map-storage.js';
import { numbered } from '../../examples/plugins/numbered.js';

const plugins = [checkpointCoordinator(), mapCheckpoints()];

test('countBy gives the same counts however it is run, crashed and restored', async () => {
  const input = ['a', 'b', 'a', 'a', 'b', 'c'];
  const runs = await checkOperator((letters) => letters.pipe(countBy((letter) => letter, 'count')), {
    input,
    plugins,
    expected: [
      { key: 'a', count: 1 },
      { key: 'b', count: 1 },
      { key: 'a', count: 2 },
      { key: 'a', count: 3 },
      { key: 'b', count: 2 },
      { key: 'c', count: 1 },
    ],
  });
  expect(runs.length).toBeGreaterThan(10);
});

test('numbered goes on where it was after a crash', async () => {
  const output = await runOperator(['a', 'b', crash(), 'c', crash(), 'd'], (letters) => letters.pipe(numbered()), {
    plugins,
  });
  expect(output).toEqual([
    [0, 'a'],
    [1, 'b'],
    [2, 'c'],
    [3, 'd'],
  ]);
});

test('changesBy lets through what has changed, however it is run, crashed and restored', async () => {
  const build = { of: ([, value]: readonly [string, number]) => value, by: ([key]: readonly [string, number]) => key };
  await checkOperator<readonly [string, number], readonly [string, number]>(
    (readings) => readings.pipe(changesBy(build.by, build.of, { uid: 'changes' })),
    {
      input: [
        ['a', 1],
        ['a', 1],
        ['b', 1],
        ['a', 2],
        ['b', 1],
        ['a', 2],
        ['a', 1],
      ],
      plugins,
      expected: [
        ['a', 1],
        ['b', 1],
        ['a', 2],
        ['a', 1],
      ],
    },
  );
});
