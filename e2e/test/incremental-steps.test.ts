import { CrashFileSystem, NAMES_WITHOUT_BYTES, seededRandom, tornBy, type Operation } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { faultsOf, live, NARROW } from './support/lives.js';

// As in every-step.test.ts, with checkpoints that have files in common: the process is stopped before every single operation on its disk, and the
// next one must finish with the output of one that never failed, and leave nothing.

const TIMEOUT = 300_000;
// So many keys that most are as they were in the checkpoint before.
const SHAPE = { ...NARROW, keys: 12 };
const INCREMENTAL = { incremental: true, shape: SHAPE };

async function stoppedAt(step: number): Promise<CrashFileSystem> {
  const disk = new CrashFileSystem();
  disk.stopAt(step);
  await live(disk, disk, INCREMENTAL);
  return disk;
}

async function recover(disk: CrashFileSystem): Promise<readonly string[]> {
  const ending = await live(disk, disk, INCREMENTAL);
  if (ending.kind === 'failed') return [`did not start again: ${String(ending.error)}`];
  const left = disk.paths().filter((path) => /\/chk-|\/shared\/./.test(path));
  return [...(await faultsOf(disk, SHAPE)), ...left.map((path) => `left ${path}`)];
}

async function wholeLife(): Promise<readonly Operation[]> {
  const disk = new CrashFileSystem();
  expect(await recover(disk)).toEqual([]);
  return disk.operations;
}

describe('a process whose checkpoints have files in common, and that ends before any single step', () => {
  test(
    'loses and repeats nothing, and leaves nothing behind, when it is killed',
    async () => {
      const steps = await wholeLife();
      const labels = steps.map(({ op, path }) => `${op} ${path}`);
      for (const wanted of [
        /^write .*\/shared\/./,
        /^sync .*\/shared\/./,
        /^syncDirectory .*\/shared$/,
        /^remove .*\/shared\/./,
      ])
        expect(labels.filter((label) => wanted.test(label)).length, String(wanted)).toBeGreaterThan(1);
      for (let step = 0; step < steps.length; step++) {
        const disk = await stoppedAt(step);
        const faults = await recover(disk.kill());
        expect({ step, label: labels[step], faults }).toEqual({ step, label: labels[step], faults: [] });
      }
    },
    TIMEOUT,
  );

  test(
    'loses and repeats nothing, and leaves nothing behind, when the machine loses its power',
    async () => {
      const steps = (await wholeLife()).length;
      for (let step = 0; step < steps; step++) {
        const disk = await stoppedAt(step);
        // One of them each, so that all steps are tried.
        const outcomes = [{}, NAMES_WITHOUT_BYTES, tornBy(seededRandom(step))];
        const faults = await recover(disk.crash(outcomes[step % outcomes.length]));
        expect({ step, faults }).toEqual({ step, faults: [] });
      }
    },
    TIMEOUT,
  );
});
