import { createMemoryStateBackend, createMemoryStorage } from '@weir/backend-memory';
import type { CheckpointStorage } from '@weir/core/contracts';
import {
  compareCheckpoints,
  exportJsonLines,
  openCheckpoint,
  parseJsonLine,
  writeSavepoint,
  type CheckpointReader,
  type StateView,
} from '@weir/core/state-reader';
import { CrashFileSystem } from '@weir/testkit';
import { expect, test } from 'vitest';
import { EVERY_STATE_JOB, expectedLines, filesOn, lineSink, startEveryState } from './support/every-state-job.js';

async function all<E>(view: StateView<E>): Promise<E[]> {
  const entries: E[] = [];
  for await (const entry of view) entries.push(entry);
  return entries;
}

/** A job that was left after `records` of 60, and the checkpoint that it had taken just before. */
async function checkpointAfter(records: number, storage: CheckpointStorage): Promise<string> {
  const running = await startEveryState({ storage, records: 60, parallelism: 2 });
  await running.read(records);
  const taken = running.job.triggerCheckpoint();
  let pointer: string | undefined;
  void taken.then((stats) => (pointer = stats.pointer));
  await running.clock.until(() => pointer !== undefined);
  await running.leave();
  return pointer!;
}

/** By key. */
async function totals(checkpoint: CheckpointReader): Promise<Map<string, number>> {
  const view = checkpoint.operator('states').values<number, string>('total');
  return new Map((await all(view)).map(({ key, value }) => [key, value]));
}

function sumsBelow(records: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (let n = 0; n < records; n++) sums.set(`key ${String(n % 5)}`, (sums.get(`key ${String(n % 5)}`) ?? 0) + n);
  return sums;
}

test.each([
  ['in files', () => filesOn(new CrashFileSystem(), 0)],
  ['inside _metadata', () => filesOn(new CrashFileSystem(), 20_000)],
  ['in memory', () => createMemoryStorage()],
])('the checkpoint of a real job %s is read without the job', async (_, makeStorage) => {
  const storage = makeStorage();
  const pointer = await checkpointAfter(23, storage);
  await using checkpoint = await openCheckpoint(pointer, { storage, job: EVERY_STATE_JOB });
  expect(checkpoint.operators.map(({ uid, parallelism }) => [uid, parallelism])).toEqual(
    expect.arrayContaining([
      ['numbers', 2],
      ['states', 2],
      ['pairs', 2],
      ['lines', 2],
    ]),
  );
  const states = checkpoint.operator('states');
  expect(states.summary.states.map(({ name, kind }) => `${name}: ${kind}`).sort()).toEqual([
    'byTens: map',
    'mean: aggregating',
    'most: reducing',
    'recent: list',
    'total: value',
  ]);
  const read = [...(await totals(checkpoint)).values()].length;
  expect(read).toBe(5);
  const [{ time: next } = { time: 0 }] = (await all(states.timers('event'))).sort((a, b) => a.time - b.time);
  const records = [...(await all(states.values<{ sum: number; count: number }>('mean')))]
    .map(({ value }) => value.count)
    .reduce((sum, count) => sum + count, 0);
  expect(await totals(checkpoint)).toEqual(sumsBelow(records));
  expect(
    (await all(states.lists('recent'))).map(({ values }) => values.at(-1)).sort((a, b) => Number(a) - Number(b)),
  ).toEqual(Array.from({ length: 5 }, (_, i) => records - 5 + i));
  const tens = await all(states.maps<{ count: number }, number, string>('byTens'));
  expect(tens.reduce((sum, { value }) => sum + value.count, 0)).toBe(records);
  expect(next).toBeGreaterThan(0);
  expect(await checkpoint.operator('numbers').enumerator()).toBeDefined();
  // Lines that wait for a third, and those that are prepared: nothing that was read is missing.
  const waiting = await all(checkpoint.operator('pairs').operatorState<string>('waiting'));
  const prepared = await all(checkpoint.operator('lines').committables<readonly string[]>());
  const lines = [...waiting.map(({ value }) => value), ...prepared.flatMap(({ payload }) => payload)];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(expectedLines(60)).toContain(line);
  const rows: unknown[] = [];
  for await (const line of exportJsonLines(checkpoint)) rows.push(parseJsonLine(line).row);
  expect(rows.filter((row) => row === 'committable')).toHaveLength(prepared.length);
});

test('two checkpoints of a job differ by what it has done in between', async () => {
  const storage = filesOn(new CrashFileSystem(), 0);
  const [before, after] = [await checkpointAfter(20, storage), await checkpointAfter(3, storage)];
  const options = { storage };
  const [old, now] = [await openCheckpoint(before, options), await openCheckpoint(after, options)];
  const { states } = await compareCheckpoints(old, now).summary();
  expect(states.find(({ state }) => state === 'total')).toMatchObject({ added: 0, removed: 0 });
  const changed = states.find(({ state }) => state === 'total')!.changed;
  expect(changed).toBeGreaterThan(0);
  const [before3, after3] = [await totals(old), await totals(now)];
  expect(changed).toBe([...before3].filter(([key, value]) => after3.get(key) !== value).length);
});

test.each([1, 3])(
  'a job starts from a savepoint that was written from data, at parallelism %i',
  async (parallelism) => {
    const storage = filesOn(new CrashFileSystem(), 0);
    // What a job that has read 40 records would hold, but for its position: that source begins anew.
    const keys = ['key 0', 'key 1', 'key 2', 'key 3', 'key 4'];
    const { pointer } = await writeSavepoint({
      storage,
      directory: '/mine',
      backend: createMemoryStateBackend(),
      job: EVERY_STATE_JOB,
      operators: [
        {
          uid: 'states',
          watermark: 1,
          states: {
            total: { kind: 'value', entries: keys.map((key) => ({ key, value: 1_000 })) },
            recent: { kind: 'list', entries: keys.map((key) => ({ key, values: [-2, -1] })) },
            byTens: { kind: 'map', entries: keys.map((key) => ({ key, mapKey: -1, value: { count: 7 } })) },
            most: { kind: 'reducing', entries: keys.map((key) => ({ key, value: 99 })) },
            mean: { kind: 'aggregating', entries: keys.map((key) => ({ key, value: { sum: 0, count: 1 } })) },
          },
          timers: keys.map((key) => ({ domain: 'event', key, time: 3_500 })),
        },
        { uid: 'pairs', operatorStates: { waiting: { mode: 'list', values: ['from before', 'as well'] } } },
      ],
    });
    const sink = lineSink();
    const job = await startEveryState({ storage, records: 5, parallelism, restoreFrom: pointer, sink });
    await job.finished();
    const lines = sink.visible.map(({ line }) => line).sort();
    expect(lines).toEqual(
      [
        'from before',
        'as well',
        ...keys.map((key) => `timer 3500 ${key} some true`),
        ...keys.flatMap((key, n) => [
          `${String(n)} ${key} total ${String(1_000 + n)} recent -2+-1+${String(n)} tens -1:7,0:1 most 99 mean ${String(n / 2)}`,
          `timer ${String(n * 1000 + 10_500)} ${key} some true`,
        ]),
      ].sort(),
    );
  },
);

test('what was read is written again, and is the same', async () => {
  const storage = filesOn(new CrashFileSystem(), 0);
  const from = await openCheckpoint(await checkpointAfter(23, storage), { storage });
  const states = from.operator('states');
  const { pointer } = await writeSavepoint({
    storage,
    directory: '/mine',
    backend: createMemoryStateBackend(),
    job: EVERY_STATE_JOB,
    operators: [
      {
        uid: 'states',
        states: {
          total: { kind: 'value', entries: states.values('total') },
          recent: { kind: 'list', entries: states.lists('recent') },
          byTens: { kind: 'map', entries: states.maps('byTens') },
          most: { kind: 'reducing', entries: states.values('most') },
          mean: { kind: 'aggregating', entries: states.values('mean') },
        },
        timers: states.timers(),
      },
    ],
  });
  const copy = await openCheckpoint(pointer, { storage });
  const { states: compared } = await compareCheckpoints(from, copy).summary();
  const changes = compared.map(({ added, removed, changed }) => added + removed + changed);
  expect(compared.length).toBe(6);
  expect(changes).toEqual([0, 0, 0, 0, 0, 0]);
});

test('the place-holder of a savepoint that a job was stopped with leads to it', async () => {
  const disk = new CrashFileSystem();
  const storage = filesOn(disk, 0);
  const running = await startEveryState({ storage, records: 60 });
  await running.read(20);
  let pointer: string | undefined;
  void running.job.stopWithSavepoint({ dir: '/mine' }).then((stats) => (pointer = stats.pointer));
  await running.clock.until(() => pointer !== undefined);
  await running.leave();
  const [left] = (await disk.readDirectory(`/state/${EVERY_STATE_JOB}`)).filter(({ name }) => name.startsWith('chk-'));
  const checkpoint = await openCheckpoint(`/state/${EVERY_STATE_JOB}/${String(left?.name)}`, { storage });
  expect(checkpoint.pointer).toBe(pointer);
  expect((await totals(checkpoint)).size).toBe(5);
});
