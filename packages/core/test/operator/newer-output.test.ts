import { expect, test } from 'vitest';
import type { CommitMark } from '../../src/contracts/sink.js';
import { newerOutput } from '../../src/operator/newer-output.js';

const mark = (lineage: string, checkpointId: number, from?: string): CommitMark => ({
  lineage,
  checkpointId,
  ...(from === undefined ? {} : { from: { lineage: from, checkpointId: 3 } }),
});
const restored = { lineage: 'a', checkpointId: 5 };

test.each([
  ['nothing was committed', [], undefined],
  ['up to the checkpoint', [mark('a', 5)], undefined],
  ['beyond it', [mark('x', 9), mark('a', 6)], 'a'],
  ['by a history that went on from it', [mark('a', 5), mark('b', 6, 'a')], 'b'],
  ['by one that went on from that one', [mark('b', 0, 'a'), mark('c', 8, 'b')], 'c'],
  ['by one that has not committed anything', [mark('b', 0, 'a')], undefined],
  ['by what it went on from itself', [mark('z', 9), mark('a', 2, 'z')], undefined],
  ['by others', [mark('x', 9), mark('y', 9, 'x')], undefined],
  ['by histories that claim to come from each other', [mark('x', 9, 'y'), mark('y', 9, 'x')], undefined],
])('what is newer than a checkpoint, where something was committed %s', (_what, committed, expected) => {
  expect(newerOutput(committed, restored)?.lineage).toBe(expected);
});
