import { describe, expect, test } from 'vitest';
import { runSuite, sourceSuite, type SourceFixture } from '../../src/index.js';
import { arraySource, type Fault } from './array-source.js';

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
const INPUT = { a: range(0, 40), b: [], c: range(100, 1), d: range(200, 7) };

function fixture(fault?: Fault): SourceFixture<number> {
  return {
    source: () => arraySource(INPUT, fault),
    expected: INPUT,
    gone: { splitId: 'a', position: { next: 41 } },
  };
}
const capabilities = { grade: 'replayable', bounded: true } as const;

describe('a source that keeps the contract', () => {
  sourceSuite(test, { capabilities, create: () => fixture() });
});

describe('the suite finds a source that', () => {
  const faults: Record<Fault, RegExp> = {
    'position before the poll': /goes on with exactly the rest/,
    'shared position': /fresh positions/,
    'position that is no plain data': /goes on with exactly the rest/,
    'more than asked for': /reads every record.*1 at a time/,
    'replans on restore': /goes on from every snapshot/,
    'forgets what is finished': /remembers over several restores/,
    'deals twice': /deals each split out once/,
    'keeps what is handed back': /handed back to others/,
    'snapshot is alive': /fresh snapshots/,
    'loses a record when it waits': /reads every record/,
    'ends and starts again': /ends a split once/,
    'poll outlives close': /settles an outstanding poll/,
    'starts at the beginning if the position is gone': /refuses a position/,
    'state is shared between readers': /take turns/,
  };
  for (const [fault, title] of Object.entries(faults) as [Fault, RegExp][]) {
    test(fault, { timeout: 60_000 }, async () => {
      const { failed } = await runSuite((register) => {
        sourceSuite(register, { capabilities, create: () => fixture(fault) });
      });
      expect(failed.map((f) => f.title).join('\n')).toMatch(title);
    });
  }

  test('is not the one it claims to be', async () => {
    const { failed } = await runSuite((register) => {
      sourceSuite(register, { capabilities: { grade: 'at-most-once', bounded: false }, create: () => fixture() });
    });
    expect(failed.map((f) => f.title)).toContain('declares the grade and the end that it is said to have');
  });
});
