import type { CheckpointMetadata, PlanDescription } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { adoptMaxParallelism } from '../src/max-parallelism.js';
import { Disk } from './disk.js';
import { historyOn, Process } from './harness.js';
import { metadataOf, planOf } from './plan.js';

function takenAt(maxParallelism: number): CheckpointMetadata {
  const metadata = metadataOf({ checkpointId: 4 });
  return { ...metadata, operators: metadata.operators.map((operator) => ({ ...operator, maxParallelism })) };
}
const maximaOf = (plan: PlanDescription): readonly number[] => plan.stages.map(({ maxParallelism }) => maxParallelism);

describe('the maximum parallelism of a checkpoint', () => {
  test.each([64, 720])('is taken over by a job that sets none, here %i', (stored) => {
    expect(maximaOf(adoptMaxParallelism(planOf({ parallelism: 3 }), takenAt(stored)))).toEqual([stored, stored]);
  });

  test('that is the one the user has set changes nothing', () => {
    const plan = planOf({ maxParallelism: 64, isMaxParallelismSet: true });
    expect(adoptMaxParallelism(plan, takenAt(64))).toEqual(plan);
  });

  test('is not changed to the one the user has set: keys would be in other groups', () => {
    const plan = planOf({ maxParallelism: 64, isMaxParallelismSet: true });
    expect(() => adoptMaxParallelism(plan, takenAt(128))).toThrow(
      expect.objectContaining({
        code: 'CHECKPOINT_MAX_PARALLELISM',
        recoverable: false,
        message: expect.stringContaining('taken with maximum parallelism 128, and the job sets 64') as string,
      }),
    );
  });

  test('cannot be exceeded by a parallelism', () => {
    expect(() => adoptMaxParallelism(planOf({ parallelism: 5 }), takenAt(4))).toThrow(
      expect.objectContaining({
        code: 'CHECKPOINT_MAX_PARALLELISM',
        message: expect.stringContaining(
          'operator numbers has parallelism 5; operator out has parallelism 5',
        ) as string,
      }),
    );
  });
});

describe('a job that is started without maximum parallelism on a checkpoint taken with another', () => {
  const stored = { plan: planOf({ maxParallelism: 12, isMaxParallelismSet: true }) };

  test('runs over the key groups of the checkpoint', async () => {
    const disk = new Disk();
    await historyOn(disk, 1, stored);
    const p = new Process({ disk });
    await p.start('auto');
    const { restore } = await p.coordinator.beginAttempt();
    expect(restore?.maxParallelism).toBe(12);
  });

  test('keeps them: its own checkpoint fits a third process that sets the same', async () => {
    const disk = new Disk();
    await historyOn(disk, 1, stored);
    const second = new Process({ disk });
    await second.checkpoint(await second.launch('auto'));
    second.storage.die();
    const third = new Process({ disk, ...stored });
    expect(await third.start('latest')).toMatchObject({ kind: 'restore', checkpointId: 2 });
  });

  test('is refused with another one of its own, and everything stays as it was', async () => {
    const disk = new Disk();
    await historyOn(disk, 1, stored);
    const p = new Process({ disk, plan: planOf({ maxParallelism: 24, isMaxParallelismSet: true }) });
    await expect(p.start('auto')).rejects.toMatchObject({ code: 'CHECKPOINT_MAX_PARALLELISM' });
    expect(disk.complete).toEqual([1]);
  });
});
