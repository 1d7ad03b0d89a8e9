import { CrashFileSystem, NAMES_WITHOUT_BYTES, seededRandom, tornBy, type Operation } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { faultsOf, live, RECORDS, type LifeOptions } from './support/lives.js';

// A job that takes a savepoint on its way and is stopped with another is stopped before every single operation on its disk. Whatever is left, the
// next process goes on from it, and in the end the output is that of a job that was never stopped.

const TIMEOUT = 300_000;
const LIFE: LifeOptions = { savepointAt: 30, stopAt: 50 };

interface WholeLife {
  readonly disk: CrashFileSystem;
  /** Where the savepoint on the way is, and the one it was stopped with. */
  readonly savepoints: readonly string[];
}

async function wholeLife(options: LifeOptions = LIFE): Promise<WholeLife> {
  const disk = new CrashFileSystem();
  const savepoints: string[] = [];
  const onSavepoint = (pointer: string): void => void savepoints.push(pointer);
  expect(await live(disk, disk, { ...options, onSavepoint })).toEqual({ kind: 'ended', end: 'stopped' });
  // Its caller is told after everybody else.
  await Promise.resolve();
  expect(savepoints).toHaveLength(2);
  return { disk, savepoints };
}

function labelOf({ op, path, to }: Operation): string {
  return `${op} ${path}${to === undefined ? '' : ` → ${to}`}`;
}

/** Lets the next process go on from the disk to the end of all data. What is wrong afterwards. */
async function goOn(disk: CrashFileSystem, options: LifeOptions = {}): Promise<readonly string[]> {
  const ending = await live(disk, disk, options);
  if (ending.kind !== 'ended') return [`did not go on: ${ending.kind === 'failed' ? String(ending.error) : 'stopped'}`];
  return faultsOf(disk);
}

describe('a process that is stopped with a savepoint', () => {
  test('has published what the savepoint covers, and the next one goes on behind it', async () => {
    const { disk, savepoints } = await wholeLife();
    const published = (await faultsOf(disk)).filter((fault) => fault.startsWith('lost'));
    expect(published.length).toBeGreaterThan(0);
    expect(published.length).toBeLessThan(RECORDS);
    expect((await faultsOf(disk)).filter((fault) => fault.startsWith('repeated'))).toEqual([]);
    expect(await goOn(disk)).toEqual([]);
    for (const savepoint of savepoints) expect((await disk.stat(`${savepoint}/_metadata`)).kind).toBe('file');
  });

  test(
    'may be killed before any single step on the way',
    async () => {
      const labels = (await wholeLife()).disk.operations.map(labelOf);
      for (const wanted of [
        /^write \/data\/savepoints\/savepoint-lives-[^/]+\/[^_]/,
        /^sync \/data\/savepoints\/savepoint-lives-[^/]+\/[^_]/,
        /^rename \/data\/savepoints\/[^/]+\/_metadata.* → /,
        /^syncDirectory \/data\/savepoints$/,
        /^rename .*\/chk-\d+\/_metadata.* → /,
        /^rename \/sink\/out\/\..* → \/sink\/out\/[^.]/,
        /^removeTree .*\/chk-\d+$/,
      ]) {
        expect(labels.filter((label) => wanted.test(label)).length, String(wanted)).toBeGreaterThan(1);
      }
      for (const [step, label] of labels.entries()) {
        const disk = new CrashFileSystem();
        disk.stopAt(step);
        await live(disk, disk, LIFE);
        expect({ step, label, faults: await goOn(disk.kill()) }).toEqual({ step, label, faults: [] });
      }
    },
    TIMEOUT,
  );

  test(
    'may lose its power before any single step on the way',
    async () => {
      const steps = (await wholeLife()).disk.operations.length;
      for (let step = 0; step < steps; step++) {
        const disk = new CrashFileSystem();
        disk.stopAt(step);
        await live(disk, disk, LIFE);
        const outcome = [{}, NAMES_WITHOUT_BYTES, tornBy(seededRandom(step))][step % 3];
        expect({ step, faults: await goOn(disk.crash(outcome)) }).toEqual({ step, faults: [] });
      }
    },
    TIMEOUT,
  );

  test('keeps its savepoint through a loss of power right after, where a user looks for it', async () => {
    const { disk, savepoints } = await wholeLife();
    expect(await goOn(disk.crash({}), { restoreFrom: savepoints[1] })).toEqual([]);
  });

  test('goes on from its savepoint when that was moved, and named', async () => {
    const { disk, savepoints } = await wholeLife();
    const [first, last] = savepoints;
    await disk.makeDirectory('/backup');
    await disk.rename(last ?? '', '/backup/of-friday');
    await disk.removeTree(first ?? '');
    expect(await live(disk)).toMatchObject({ kind: 'failed', error: { code: 'CHECKPOINT_UNREADABLE' } });
    expect(await goOn(disk, { restoreFrom: '/backup/of-friday' })).toEqual([]);
  });

  test('is not taken back to the savepoint before without a word', async () => {
    const { disk, savepoints } = await wholeLife();
    expect(await live(disk, disk, { restoreFrom: savepoints[0] })).toMatchObject({
      kind: 'failed',
      error: { code: 'CHECKPOINT_NOT_NEWEST' },
    });
    expect(await goOn(disk)).toEqual([]);
  });

  test('drained: has published all that it had read, and may still be gone on from', async () => {
    const { disk } = await wholeLife({ ...LIFE, drain: true });
    expect((await faultsOf(disk)).filter((fault) => fault.startsWith('repeated'))).toEqual([]);
    expect(await goOn(disk)).toEqual([]);
  });
});
