import { isWeirError, type FileSystem } from '@weir/core/contracts';
import { CrashFileSystem, seededRandom } from '@weir/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { everyInterleaving, interleave } from '../fixtures/interleave.js';
import { FakeProcesses } from '../fixtures/processes.js';
import { JOB_FOLDER, lockNow, openJob } from '../fixtures/scenario.js';

type Start = 'nothing' | 'a folder' | 'an empty lock' | 'a dead owner' | 'a free lock' | 'two dead owners';

/** A disk as the start says, with attempt 4 recorded if there was an owner. */
async function prepare(start: Start, processes: FakeProcesses): Promise<CrashFileSystem> {
  const disk = new CrashFileSystem();
  if (start === 'nothing') return disk;
  const process = processes.start();
  const lock = await lockNow(await openJob(disk, process, 'before'));
  if (start === 'a folder' || start === 'an empty lock') {
    await disk.removeTree(`${JOB_FOLDER}/_lock`);
    if (start === 'an empty lock') await disk.makeDirectory(`${JOB_FOLDER}/_lock`);
    return disk;
  }
  await lock.recordAttempt(4);
  if (start === 'a free lock') await lock.release();
  process.die();
  if (start === 'two dead owners') {
    const [entry] = await disk.readDirectory(`${JOB_FOLDER}/_lock`);
    await (await disk.open(`${JOB_FOLDER}/_lock/${entry!.name.replace('attempt-4', 'attempt-3')}`, 'create')).close();
  }
  return disk;
}

/** Only operations by which the others see a process, or it sees them, wait for their turn: fewer interleavings that differ in nothing. */
function gated(racer: FileSystem, disk: CrashFileSystem): FileSystem {
  return new Proxy(disk, {
    get: (target, name) => {
      const raced = name === 'readDirectory' || name === 'rename' || name === 'removeTree' ? racer : target;
      return raced[name as keyof FileSystem].bind(raced);
    },
  });
}

interface Outcome {
  owners: number;
  refused: number;
  previous: number[];
}
/** Each wants the lock at once. An owner either keeps it, or gives it back after a while. */
async function race(
  start: Start,
  count: number,
  keep: boolean,
  choose: (waiting: number) => number,
  all = false,
): Promise<Outcome> {
  const processes = new FakeProcesses();
  const disk = await prepare(start, processes);
  const outcome: Outcome = { owners: 0, refused: 0, previous: [] };
  let holding = 0;
  const unexpected: unknown[] = [];
  const life = (index: number) => async (racer: { readonly fileSystem: FileSystem }) => {
    const process = processes.start();
    try {
      const fileSystem = all ? racer.fileSystem : gated(racer.fileSystem, disk);
      const job = await openJob(fileSystem, process, `p${String(index)}`);
      const lock = await lockNow(job);
      holding++;
      if (holding > 1) unexpected.push(new Error('two owners at once'));
      outcome.owners++;
      outcome.previous.push(lock.previousAttempt);
      await lock.verify();
      await job.list();
      await lock.verify();
      if (keep) return;
      holding--;
      await lock.release();
    } catch (error) {
      if (isWeirError(error, 'STORAGE_LOCKED')) outcome.refused++;
      else unexpected.push(error);
    }
  };
  await interleave(
    disk,
    Array.from({ length: count }, (_, index) => life(index)),
    choose,
  );
  expect(unexpected).toEqual([]);
  expect((await disk.readDirectory(`${JOB_FOLDER}/_lock`)).length).toBe(1);
  return outcome;
}

describe('two processes that want the lock at the same moment', () => {
  const starts: readonly Start[] = ['a folder', 'an empty lock', 'a dead owner', 'a free lock', 'two dead owners'];
  test.each(starts)(
    'find %s: exactly one gets it, in every interleaving',
    async (start) => {
      const attempt = start === 'a folder' || start === 'an empty lock' ? 0 : 4;
      const runs = await everyInterleaving(async (choose) => {
        expect(await race(start, 2, true, choose)).toEqual({ owners: 1, refused: 1, previous: [attempt] });
      });
      expect(runs).toBeGreaterThan(20);
    },
    60_000,
  );
});

describe('several processes that come and go', () => {
  test('never own the lock at the same time, and one of them gets it', async () => {
    const anyStart = fc.constantFrom<Start>(
      'nothing',
      'a folder',
      'an empty lock',
      'a dead owner',
      'a free lock',
      'two dead owners',
    );
    await fc.assert(
      fc.asyncProperty(
        anyStart,
        fc.integer({ min: 2, max: 4 }),
        fc.boolean(),
        fc.integer(),
        async (start, count, keep, seed) => {
          const random = seededRandom(seed);
          const { owners, refused } = await race(start, count, keep, (waiting) => Math.floor(random() * waiting), true);
          expect(owners).toBeGreaterThan(0);
          if (keep) expect(owners).toBe(1);
          expect(owners + refused).toBe(count);
        },
      ),
      { numRuns: 500 },
    );
  }, 60_000);
});
