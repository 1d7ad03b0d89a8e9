import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { FakeGateway } from './fake-gateway.js';
import { Process } from './harness.js';
import { liveMortally } from './mortal-life.js';

/** What is left when every process is dead: the disk, and what the sink has made visible. */
class World {
  readonly disk = new Disk();
  /** The sink's output is visible up to this checkpoint or savepoint. */
  visible = 0;
  /** The newest that the job has ever known how to go back to. */
  newest = 0;
  isStopped = false;
}

/** With `false` plain savepoints are committed, too. */
interface Life {
  readonly preferCheckpointForRecovery: boolean;
}

/**
 * One process that takes a checkpoint, a savepoint and another checkpoint, and is stopped with a savepoint. It dies at the `dieAt`th point, before
 * or after any step of the storage or of a commit. Tells where it died; undefined if it came to its end.
 */
async function live(world: World, dieAt: number, settings: Life): Promise<string | undefined> {
  const p = new Process({ disk: world.disk, settings });
  const onStep = (step: string, when: 'before' | 'after'): void => {
    const own = /^publish (\d+)$/.exec(step)?.[1];
    if (own !== undefined && when === 'after') world.newest = Number(own);
  };
  const life = async (makeVisible: (id: number) => Promise<void>): Promise<void> => {
    await p.start('auto');
    const { attempt, restore } = await p.coordinator.beginAttempt();
    // Output beyond what is restored would be produced a second time; and nothing that can be gone back to is forgotten.
    expect(world.visible).toBeLessThanOrEqual(restore?.checkpointId ?? 0);
    expect(restore?.checkpointId ?? 0).toBe(world.newest);
    if (restore !== undefined) await makeVisible(restore.checkpointId);
    const gateway = new FakeGateway(p.coordinator, attempt);
    gateway.commit = makeVisible;
    gateway.onTrigger = (id) => {
      queueMicrotask(() => {
        gateway.ackAll(id);
      });
    };
    p.coordinator.attemptRunning(gateway);
    await p.coordinator.triggerCheckpoint();
    await p.coordinator.triggerSavepoint('savepoints');
    await p.coordinator.triggerCheckpoint();
    const { committed } = await p.coordinator.stopWithSavepoint({ directory: 'savepoints', drain: false });
    await committed;
    await p.coordinator.attemptEnded(attempt);
    await p.coordinator.end('stopped');
    world.isStopped = true;
  };
  const onVisible = (id: number): void => {
    world.visible = Math.max(world.visible, id);
  };
  return liveMortally({ process: p, dieAt, onStep, onVisible, life });
}

describe.each<Life>([{ preferCheckpointForRecovery: true }, { preferCheckpointForRecovery: false }])(
  'a process that takes savepoints and is stopped with one (%o) may die at any point',
  (settings) => {
    test('and the next one loses nothing and repeats nothing', async () => {
      const deaths: string[] = [];
      for (let dieAt = 0; ; dieAt++) {
        const world = new World();
        const death = await live(world, dieAt, settings);
        if (death === undefined) break;
        deaths.push(death);
        const complete = [...world.disk.savepoints].filter(([, folder]) => folder.metadata !== undefined);
        expect(await live(world, Infinity, settings)).toBeUndefined();
        expect(world.isStopped).toBe(true);
        expect(world.visible).toBe(world.newest);
        // A savepoint that was complete is nobody's to remove, whatever became of the process.
        for (const [pointer] of complete) expect(world.disk.savepoints.get(pointer)?.metadata).toBeDefined();
        expect([...world.disk.folders.keys()]).toEqual([world.newest]);
        expect(world.disk.owner).toBeUndefined();
      }
      for (const step of [
        'create savepoint 2',
        'publish savepoint 2',
        'create savepoint 4',
        'publish savepoint 4',
        'create 4',
        'publish 4',
        'commit 4',
        'delete 3',
        'release',
      ]) {
        expect(deaths).toContain(`before ${step}`);
        expect(deaths).toContain(`after ${step}`);
      }
      expect(deaths.includes('before commit 2')).toBe(!settings.preferCheckpointForRecovery);
    });
  },
);
