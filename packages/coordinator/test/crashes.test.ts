import { decodeMetadata, type CheckpointMetadata } from '@weir/core/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { FakeGateway } from './fake-gateway.js';
import { Process } from './harness.js';
import { liveMortally } from './mortal-life.js';

/** What is left when every process is dead: the disk, and what the sink has made visible. */
class World {
  readonly disk = new Disk();
  /** The sink's output is visible up to this checkpoint. */
  visible = 0;
  /** The newest checkpoint that was ever durable. */
  newest = 0;
}

/**
 * One process from its start to the end of the job, with three checkpoints and the final one on the way, that dies at the `dieAt`th point
 * (before or after any step of the storage or of a commit). Tells where it died; undefined if it came to its end.
 */
async function live(world: World, dieAt: number): Promise<string | undefined> {
  const p = new Process({ disk: world.disk, settings: { numRetained: 1 } });
  const onStep = (step: string, when: 'before' | 'after'): void => {
    const [name, id] = step.split(' ');
    if (name === 'publish' && when === 'after') world.newest = Number(id);
  };

  const life = async (makeVisible: (id: number) => Promise<void>): Promise<void> => {
    const decision = await p.start('auto');
    if (decision.kind === 'already-finished') {
      expect(world.visible).toBe(world.newest);
      return;
    }
    const { attempt, restore } = await p.coordinator.beginAttempt();
    // Output beyond what is restored would be produced a second time.
    expect(world.visible).toBeLessThanOrEqual(restore?.checkpointId ?? 0);
    expect(restore?.checkpointId ?? 0).toBe(world.newest);
    if (restore !== undefined) {
      // What the restored checkpoint covers and is not visible yet is in it.
      const { committables } = restore.subtasks.get('out#0')?.[0] ?? {};
      // Or it says that all of it is.
      if (committables === undefined) expect(world.visible).toBe(restore.checkpointId);
      else expect(committables.newest).toBe(restore.checkpointId);
      await makeVisible(restore.checkpointId);
    }
    const gateway = new FakeGateway(p.coordinator, attempt);
    gateway.commit = makeVisible;
    let last = Math.max(world.newest, ...world.disk.folders.keys());
    gateway.onTrigger = (id) => {
      expect(id).toBeGreaterThan(last);
      last = id;
      queueMicrotask(() => {
        gateway.ackAll(id);
      });
    };
    p.coordinator.attemptRunning(gateway);
    for (let i = 0; i < 3; i++) await p.coordinator.triggerCheckpoint();
    await p.coordinator.finalCheckpoint();
    await p.coordinator.attemptEnded(attempt);
    await p.coordinator.end('finished');
  };
  const onVisible = (id: number): void => {
    world.visible = Math.max(world.visible, id);
  };
  return liveMortally({ process: p, dieAt, onStep, onVisible, life });
}

function metadataAt({ disk }: World, id: number): CheckpointMetadata {
  return decodeMetadata(disk.folders.get(id)?.metadata ?? new Uint8Array(), disk.pointer(id));
}

function expectEnded({ disk, visible, newest }: World): void {
  expect(disk.finished).toBeDefined();
  expect(visible).toBe(newest);
  expect([...disk.folders.keys()]).toEqual([]);
  expect(disk.owner).toBeUndefined();
}

describe('a process may die at any point', () => {
  test('between any two steps, and the next one loses nothing, repeats nothing, and goes on with larger ids', async () => {
    const deaths: string[] = [];
    for (let dieAt = 0; ; dieAt++) {
      const world = new World();
      const death = await live(world, dieAt);
      if (death === undefined) break;
      deaths.push(death);
      // Once output is visible there is always a whole checkpoint that covers it, or the mark of the end.
      const newest = world.disk.complete.at(-1);
      if (newest !== undefined) expect(metadataAt(world, newest).checkpointId).toBeGreaterThanOrEqual(world.visible);
      else expect(world.visible === 0 || world.disk.finished !== undefined).toBe(true);
      expect(await live(world, Infinity)).toBeUndefined();
      expectEnded(world);
    }
    // The table is only worth something if it reaches every step of the completion order and of the end.
    for (const step of [
      'lock',
      'attempt 1',
      'create 2',
      'verify',
      'publish 2',
      'commit 2',
      'committed disk/chk-2',
      'delete 1',
      'publish 4',
      'commit 4',
      'finish',
      'delete 4',
      'release',
    ]) {
      expect(deaths).toContain(`before ${step}`);
      expect(deaths).toContain(`after ${step}`);
    }
  });

  test('again and again, also while it restores', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(70), { minLength: 2, maxLength: 6 }), async (deaths) => {
        const world = new World();
        for (const dieAt of deaths) await live(world, dieAt);
        await live(world, Infinity);
        expectEnded(world);
      }),
      { numRuns: 60 },
    );
  });
});
