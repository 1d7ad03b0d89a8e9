import { createReferenceStateBackend } from '@weir/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key } from '../../src/element/key.js';
import { compareCheckpoints, type Difference } from '../../src/reader/compare-checkpoints.js';
import { openCheckpoint, type CheckpointReader } from '../../src/reader/open-checkpoint.js';
import type { OperatorData } from '../../src/reader/savepoint-data.js';
import { writeSavepoint } from '../../src/reader/write-savepoint.js';
import { savepointStorage } from '../support/savepoint-storage.js';

const storage = savepointStorage();

async function savepoint(operators: readonly OperatorData[]): Promise<CheckpointReader> {
  const backend = createReferenceStateBackend();
  const { pointer } = await writeSavepoint({ storage, directory: 'mine', backend, job: 'flights', operators });
  return openCheckpoint(pointer, { storage });
}

function values(uid: string, entries: ReadonlyMap<Key, unknown>, maxParallelism?: number): OperatorData {
  const rows = [...entries].map(([key, value]) => ({ key, value }));
  return { uid, maxParallelism, states: { total: { kind: 'value', entries: rows } } };
}

async function differences(before: CheckpointReader, after: CheckpointReader): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const difference of compareCheckpoints(before, after).differences) found.push(difference);
  return found;
}

test('two checkpoints differ by what was added, removed and changed, whatever their maximum parallelisms', async () => {
  const contents = fc.dictionary(
    fc.constantFrom(...Array.from({ length: 16 }, (_, i) => `key ${String(i)}`)),
    fc.integer({ min: 0, max: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(
      contents,
      contents,
      fc.constantFrom(1, 6, 8, 128),
      fc.constantFrom(1, 4, 9, 128),
      async (a, b, groupsOfA, groupsOfB) => {
        const [old, now] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
        const before = await savepoint([values('delays', old, groupsOfA)]);
        const after = await savepoint([values('delays', now, groupsOfB)]);
        const found = await differences(before, after);
        const of = (change: Difference['change']): unknown[] =>
          found
            .filter((each) => each.change === change)
            .map((each) => (each.change === 'removed' ? each.before.key : each.after.key))
            .sort();
        const keys = [...new Set([...old.keys(), ...now.keys()])].sort();
        expect(of('added')).toEqual(keys.filter((key) => !old.has(key)));
        expect(of('removed')).toEqual(keys.filter((key) => !now.has(key)));
        const both = keys.filter((key) => old.has(key) && now.has(key));
        expect(of('changed')).toEqual(both.filter((key) => old.get(key) !== now.get(key)));
        const [state] = (await compareCheckpoints(before, after).summary()).states;
        if (keys.length > 0) expect(state?.same).toBe(both.filter((key) => old.get(key) === now.get(key)).length);
      },
    ),
    { numRuns: 40 },
  );
});

test('a change has both entries; a list, an entry of a map and a timer are compared as such', async () => {
  const data = (values: readonly unknown[], mapped: unknown, time: number): OperatorData => ({
    uid: 'delays',
    states: {
      recent: { kind: 'list', entries: [{ key: 1, values }] },
      byDay: {
        kind: 'map',
        entries: [
          { key: 1, mapKey: 'mon', value: mapped },
          { key: 1, mapKey: 'tue', value: new Set([1]) },
        ],
      },
    },
    timers: [{ domain: 'event', key: 1, time }],
  });
  const found = await differences(await savepoint([data([1, 2], NaN, 5)]), await savepoint([data([1], -0, 6)]));
  const operator = 'delays';
  expect(new Set(found)).toEqual(
    new Set<Difference>([
      {
        change: 'changed',
        operator,
        state: 'recent',
        before: { kind: 'list', key: 1, values: [1, 2] },
        after: { kind: 'list', key: 1, values: [1] },
      },
      {
        change: 'changed',
        operator,
        state: 'byDay',
        before: { kind: 'map', key: 1, mapKey: 'mon', value: NaN },
        after: { kind: 'map', key: 1, mapKey: 'mon', value: -0 },
      },
      { change: 'removed', operator, state: '~timers-event', before: { kind: 'map', key: 1, mapKey: 5, value: true } },
      { change: 'added', operator, state: '~timers-event', after: { kind: 'map', key: 1, mapKey: 6, value: true } },
    ]),
  );
});

test('the summary names operators and operator state that only one has, or that differ', async () => {
  const list = (values: readonly unknown[]): OperatorData => ({
    uid: 'batches',
    operatorStates: { waiting: { mode: 'list', values } },
  });
  const before = await savepoint([values('old', new Map([[1, 1]])), list(['a', 'b'])]);
  const after = await savepoint([values('new', new Map([[1, 1]])), list(['b', 'a'])]);
  expect(await compareCheckpoints(before, after).summary()).toEqual({
    onlyBefore: ['old'],
    onlyAfter: ['new'],
    states: [
      { operator: 'old', state: 'total', added: 0, removed: 1, changed: 0, same: 0 },
      { operator: 'new', state: 'total', added: 1, removed: 0, changed: 0, same: 0 },
    ],
    operatorStates: [],
  });
  const other = await savepoint([list(['a', 'c'])]);
  expect((await compareCheckpoints(before, other).summary()).operatorStates).toEqual([
    { operator: 'batches', state: 'waiting' },
  ]);
});
