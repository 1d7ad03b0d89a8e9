import { openCheckpoint } from '@weir/core/state-reader';
import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { EVERY_STATE_JOB, expectedLines, filesOn, lineSink, startEveryState } from './support/every-state-job.js';
import { CASES, loaded, namesIn, RECORDS, type Case } from './support/golden-cases.js';
import { golden, type Golden } from './support/golden-files.js';

// What was once stored is restored for ever. A golden file that is missing is made by
//   WEIR_GOLDEN=write npx vitest run --project e2e e2e/test/golden.test.ts
// and then committed; one that is there is never touched: a new format gets a new name, and the old file stays.

/** Two checkpoints, and then the one to keep. */
async function write(
  { kind, inlineThreshold, checkpointing, reads, backend, writeMs }: Case,
  target: Golden,
): Promise<void> {
  const disk = new CrashFileSystem();
  const storage = filesOn(disk, inlineThreshold);
  const running = await startEveryState({
    storage,
    records: RECORDS,
    parallelism: 2,
    sink: lineSink(writeMs),
    checkpointing,
    ...(backend && { backend }),
  });
  const { job, sink } = running;
  let taken: { readonly checkpointId: number; readonly pointer: string } | undefined;
  for (const [i, what] of (['checkpoint', 'checkpoint', kind] as const).entries()) {
    await running.read(reads[i] ?? 0);
    taken = undefined;
    const stats = what === 'checkpoint' ? job.triggerCheckpoint() : job.triggerSavepoint('/state/savepoints');
    void stats.then((completed) => (taken = completed));
    await (writeMs === undefined ? running.until : running.passing)(() => taken !== undefined);
  }
  const { checkpointId, pointer } = taken!;
  await running.leave();
  // As if the process had died before it knew: what a checkpoint has prepared is to be restored, too.
  await disk.remove(`${pointer}/_committed`);
  const before = sink.visible.filter((each) => each.checkpointId < checkpointId);
  for (const name of await namesIn(disk, `/state/${EVERY_STATE_JOB}`)) {
    if (`/state/${EVERY_STATE_JOB}/${name}` !== pointer && name !== 'shared')
      await disk.removeTree(`/state/${EVERY_STATE_JOB}/${name}`);
  }
  await target.store(
    disk,
    '/state',
    before.map(({ line }) => line),
  );
}

describe.each(CASES)('$name', (each) => {
  const stored = golden(each.name);

  if (process.env['WEIR_GOLDEN'] === 'write' && !stored.exists)
    test('is made', async () => {
      await write(each, stored);
    });

  test.each([1, 2, 3])('is restored at parallelism %i, and the job gives what was missing', async (parallelism) => {
    const { disk, pointer } = await loaded(stored, each);
    const sink = lineSink();
    const storage = filesOn(disk, each.inlineThreshold);
    const running = await startEveryState({
      storage,
      records: RECORDS,
      parallelism,
      restoreFrom: pointer,
      sink,
      checkpointing: each.checkpointing,
      ...(each.backend && { backend: each.backend }),
    });
    await running.finished();
    const committed = stored.committed();
    expect(committed.length).toBeGreaterThan(0);
    expect(sink.visible.length).toBeGreaterThan(RECORDS);
    expect([...committed, ...sink.visible.map(({ line }) => line)].sort()).toEqual(expectedLines(RECORDS));
  });

  test('is read as data', async () => {
    const { disk, pointer } = await loaded(stored, each);
    const checkpoint = await openCheckpoint(pointer, {
      storage: filesOn(disk, each.inlineThreshold),
      backends: each.backend === undefined ? [] : [each.backend],
    });
    expect(checkpoint.metadata).toMatchObject({ job: EVERY_STATE_JOB, kind: each.kind, checkpointId: 3 });
    expect(checkpoint.operator('states').summary.formats).toEqual(each.formats);
    expect(checkpoint.operator('states').summary.inFlight > 0).toBe(each.writeMs !== undefined);
    let overtaken = 0;
    for await (const { edge, record } of checkpoint.operator('states').inFlight<number>()) {
      expect(edge.consumer).toBe('states');
      expect(record).toBeLessThan(RECORDS);
      overtaken++;
    }
    expect(overtaken).toBe(checkpoint.operator('states').summary.inFlight);
    const counts = new Map<string, number>();
    for await (const { key, value } of checkpoint.operator('states').values<{ count: number }, string>('mean'))
      counts.set(key, value.count);
    expect(counts.size).toBe(5);
    for await (const { key, value } of checkpoint.operator('states').values<number, string>('total')) {
      const first = Number(key.slice('key '.length));
      const read = Array.from({ length: counts.get(key) ?? 0 }, (_, i) => first + i * 5);
      expect(value, key).toBe(read.reduce((sum, n) => sum + n, 0));
    }
  });
});
