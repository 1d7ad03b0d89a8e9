import { decodeMetadata, type CheckpointSettings } from '@weir/core/contracts';
import { afterEach, describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { FakeGateway } from './fake-gateway.js';
import { FakeBackend, missing, needed, useless } from './fake-backend.js';
import { Process, deferred, type ProcessOptions } from './harness.js';

/** Files that were missing of a checkpoint that looked complete, at any moment of a test. */
const broken: string[] = [];
afterEach(() => {
  expect(broken.splice(0)).toEqual([]);
});

/** A process whose job runs, with the state backend of its first attempt. */
class Running extends Process {
  backend!: FakeBackend;

  static async on(
    disk: Disk,
    settings: Partial<CheckpointSettings> = {},
    options: ProcessOptions = {},
  ): Promise<Running> {
    const running = new Running({
      disk,
      ...options,
      settings: { incremental: true, tolerableFailures: 9, ...settings },
    });
    disk.onStep = () => broken.push(...missing(disk));
    return running;
  }

  async begin(restoreFrom: Parameters<Process['start']>[0] = 'auto'): Promise<this> {
    await this.start(restoreFrom);
    return this.again();
  }

  /** Another attempt. */
  async again(): Promise<this> {
    const { attempt, restore } = await this.coordinator.beginAttempt();
    this.backend = new FakeBackend(new FakeGateway(this.coordinator, attempt), restore);
    this.coordinator.attemptRunning(this.backend.gateway);
    await this.clock.settle();
    return this;
  }

  /** Triggers a checkpoint and captures it; its id, and what becomes of it. */
  async capture(...captured: Parameters<FakeBackend['capture']> extends [number, ...infer R] ? R : never): Promise<{
    readonly id: number;
    readonly done: Promise<unknown>;
  }> {
    const done = this.coordinator.triggerCheckpoint();
    done.catch(() => undefined);
    await this.clock.settle();
    const id = this.backend.gateway.triggered.at(-1) ?? 0;
    this.backend.capture(id, ...captured);
    return { id, done };
  }

  /** One that completes, with its commits and what is removed for it. */
  async take(...captured: Parameters<Running['capture']>): Promise<number> {
    const { id, done } = await this.capture(...captured);
    this.backend.ack(id);
    await done;
    await this.clock.settle();
    return id;
  }
}

async function launch(settings: Partial<CheckpointSettings> = {}, disk = new Disk()): Promise<Running> {
  return (await Running.on(disk, settings)).begin();
}
const metadataOf = (disk: Disk, id: number) =>
  decodeMetadata(disk.folders.get(id)?.metadata ?? new Uint8Array(), `chk-${String(id)}`);

describe('a file that checkpoints have in common', () => {
  test('goes with the last checkpoint that has it, behind its metadata', async () => {
    const p = await launch();
    await p.take(['a', 'b']);
    p.storage.steps.length = 0;
    await p.take(['c'], ({ key }) => key !== 'a');
    expect(p.storage.steps).toEqual([
      'create 2',
      'verify',
      'publish 2',
      'committed disk/chk-2',
      'verify',
      'delete 1',
      'verify',
      'delete shared a@1',
    ]);
    expect([...p.disk.shared]).toEqual(['b@1', 'c@2']);
    expect(metadataOf(p.disk, 2).selfContained).toBe(false);
  });

  test('stays while any of the retained checkpoints has it', async () => {
    const p = await launch({ numRetained: 2 });
    await p.take(['a']);
    await p.take(['b'], () => false);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2']);
    await p.take([]);
    expect(p.disk.complete).toEqual([2, 3]);
    expect([...p.disk.shared]).toEqual(['b@2']);
  });

  test('is written down as the first that was complete, if two checkpoints were under way and both had to write it', async () => {
    const p = await launch({ maxConcurrent: 2 });
    const first = await p.capture(['a']);
    const second = await p.capture(['a', 'b']);
    p.backend.ack(first.id);
    await first.done;
    p.backend.ack(second.id);
    await second.done;
    await p.clock.settle();
    expect(needed(p.disk)).toEqual(['a@1', 'b@2']);
    expect(useless(p.disk)).toEqual([]);
    // The backend goes on to refer to the one that is not there any more; what it means is known.
    await p.take(['c']);
    expect([...p.disk.shared].sort()).toEqual(['a@1', 'b@2', 'c@3']);
    expect(missing(p.disk)).toEqual([]);
  });

  test('stays for a pending checkpoint that may be made of it, although a newer one without it is complete', async () => {
    const p = await launch({ maxConcurrent: 2 });
    await p.take(['a']);
    const second = await p.capture(['b'], () => false);
    const third = await p.capture(['c']);
    p.backend.ack(second.id);
    await second.done;
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2', 'c@3']);
    p.backend.ack(third.id);
    await third.done;
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1', 'c@3']);
  });

  test('stays for one that was triggered before the first checkpoint was complete, too', async () => {
    const p = await launch({ maxConcurrent: 3 });
    const pending = [
      p.coordinator.triggerCheckpoint(),
      p.coordinator.triggerCheckpoint(),
      p.coordinator.triggerCheckpoint(),
    ];
    await p.clock.settle();
    p.backend.capture(1, ['a']);
    p.backend.ack(1);
    await pending[0];
    await p.clock.settle();
    // 3 captures what 1 is made of, and 2, without that, overtakes it.
    p.backend.capture(3, ['c']);
    p.backend.capture(2, ['b'], () => false);
    p.backend.ack(2);
    await pending[1];
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
    p.backend.ack(3);
    await pending[2];
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1', 'c@3']);
  });

  test('goes once the checkpoint that might have been made of it is given up', async () => {
    const p = await launch({ maxConcurrent: 2 });
    await p.take(['a']);
    const second = await p.capture(['b'], () => false);
    const third = await p.capture(['c']);
    p.backend.ack(second.id);
    await second.done;
    p.backend.gateway.decline(third.id, { stage: 'out', index: 0 });
    await p.take(['d']);
    expect([...p.disk.shared]).toEqual(['b@2', 'd@4']);
  });

  test('stays until every subtask knows of the newer checkpoint, for until then they make checkpoints of the older', async () => {
    const p = await launch();
    await p.take(['a']);
    const told = deferred();
    p.backend.gateway.commit = async (id) => {
      await told.promise;
      p.backend.completed(id);
    };
    await p.take(['b'], () => false);
    const third = await p.capture(['c']);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2', 'c@3']);
    told.resolve();
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
    p.backend.ack(third.id);
    await third.done;
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1', 'c@3']);
    await p.take([], ({ key }) => key !== 'a');
    expect([...p.disk.shared]).toEqual(['c@3']);
  });

  test('testUnregisterInitialCheckpoint, testUnregisterNonInitialCheckpoint: outlives the checkpoint that a job was restored from, which is not kept for it', async () => {
    const disk = new Disk();
    const first = await launch({}, disk);
    await first.take(['a', 'b']);
    first.storage.die();
    const second = await launch({}, disk);
    expect(second.backend.base.map(({ path }) => path)).toEqual(['a@1', 'b@1']);
    await second.take(['c'], ({ key }) => key === 'a');
    expect(disk.complete).toEqual([2]);
    expect([...disk.shared]).toEqual(['a@1', 'c@2']);
    await second.take([]);
    expect(disk.complete).toEqual([3]);
    expect([...disk.shared]).toEqual(['a@1', 'c@2']);
  });
});

describe('files of a checkpoint that does not complete', () => {
  test('go with it, and the next one may use their keys for something else', async () => {
    const p = await launch();
    const { id, done } = await p.capture(['a']);
    p.backend.gateway.decline(id, { stage: 'numbers', index: 0 });
    await expect(done).rejects.toThrow('CHECKPOINT_DECLINED');
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual([]);
    await p.take(['a']);
    expect([...p.disk.shared]).toEqual(['a@2']);
  });

  test('go when it expires, and what comes late goes with its location', async () => {
    const p = await launch({ timeoutMs: 1000 });
    const { id, done } = await p.capture(['a']);
    await p.clock.advance(1000);
    await expect(done).rejects.toThrow('CHECKPOINT_EXPIRED');
    p.backend.ack(id);
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual([]);
  });

  test('go when its metadata cannot be published, and those it has in common with others stay', async () => {
    const p = await launch();
    await p.take(['a']);
    p.storage.intercept = (step, when) => {
      if (step === 'publish 2' && when === 'before') throw new Error('no space left');
    };
    const { id, done } = await p.capture(['b']);
    p.backend.ack(id);
    await expect(done).rejects.toThrow('no space left');
    p.storage.intercept = undefined;
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1']);
    await p.take(['b']);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@3']);
  });

  test('stay while it may be complete all the same, and go when a newer one is', async () => {
    const p = await launch();
    await p.take(['a']);
    p.storage.intercept = (step, when) => {
      if (step === 'publish 2' && when === 'after') throw new Error('connection reset');
    };
    const { id, done } = await p.capture(['b'], () => false);
    p.backend.ack(id);
    await expect(done).rejects.toThrow('connection reset');
    await p.clock.settle();
    expect(p.disk.complete).toEqual([1, 2]);
    expect(missing(p.disk)).toEqual([]);
    p.storage.intercept = undefined;
    // The writer has started over and uses the name once more.
    await p.take(['b']);
    expect(p.disk.complete).toEqual([3]);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@3']);
  });

  test('go although the checkpoint completes, if nobody who had to answer has reported them', async () => {
    const p = await launch();
    const { id, done } = await p.capture(['a']);
    p.backend.capture(id, ['of a subtask that had reported already']);
    p.backend.ack(id, []);
    await done;
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual([]);
  });

  test('go with an attempt that fails', async () => {
    const p = await launch();
    await p.take(['a']);
    await p.capture(['b']);
    await p.coordinator.attemptEnded(1);
    await p.again();
    expect(p.backend.base.map(({ path }) => path)).toEqual(['a@1']);
    await p.take(['b']);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@3']);
  });
});

describe('a checkpoint that could not be restored is not published', () => {
  test('because it refers to a file that is gone', async () => {
    const p = await launch();
    await p.take(['a']);
    const [gone] = p.backend.base;
    await p.take(['b'], () => false);
    const { id, done } = await p.capture([]);
    p.backend.ack(id, gone === undefined ? [] : [gone]);
    await expect(done).rejects.toThrow(/FINALIZE_CHECKPOINT_FAILURE.*refers to shared file a@1/);
    expect(p.disk.complete).toEqual([2]);
  });

  test('nor is a savepoint that is made of what is not the user’s', async () => {
    const p = await launch();
    await p.take(['a']);
    const asked = p.coordinator.triggerSavepoint('savepoints');
    await p.clock.settle();
    p.backend.ack(2, p.backend.base);
    await expect(asked).rejects.toThrow(/Savepoint 2 has files in common with checkpoints/);
  });
});

describe('a savepoint in between', () => {
  test('changes nothing for the checkpoints around it', async () => {
    const p = await launch();
    await p.take(['a']);
    await p.savepoint(p.backend.gateway);
    await p.take(['b']);
    expect(p.disk.complete).toEqual([3]);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@3']);
  });

  test('that the job falls back to leaves the files that the next checkpoint is made of, and the one after it removes them', async () => {
    const p = await launch({ preferCheckpointForRecovery: false });
    await p.take(['a']);
    await p.savepoint(p.backend.gateway);
    await p.clock.settle();
    expect(p.disk.complete).toEqual([2]);
    expect([...p.disk.shared]).toEqual(['a@1']);
    await p.take(['b']);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@3']);
    await p.take(['c'], () => false);
    expect([...p.disk.shared]).toEqual(['c@4']);
  });

  test('that an attempt restores is nothing to make a checkpoint of, and the files of the one before it go', async () => {
    const p = await launch({ preferCheckpointForRecovery: false });
    await p.take(['a']);
    await p.savepoint(p.backend.gateway);
    await p.coordinator.attemptEnded(1);
    await p.again();
    expect(p.backend.base).toEqual([]);
    await p.take(['b']);
    expect([...p.disk.shared]).toEqual(['b@3']);
  });
});

describe('removing', () => {
  test('that fails for a checkpoint keeps its files; both go when it has had a rest', async () => {
    const p = await launch();
    await p.take(['a']);
    p.storage.intercept = (step, when) => {
      if (step === 'delete 1' && when === 'before') throw new Error('busy');
    };
    await p.take(['b'], () => false);
    expect(p.disk.complete).toEqual([1, 2]);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2']);
    p.storage.intercept = undefined;
    await p.take([]);
    await p.clock.advance(1000);
    expect(p.disk.complete).toEqual([3]);
    expect([...p.disk.shared]).toEqual(['b@2']);
  });

  test('that fails for a file is tried again, and keeps no other file', async () => {
    const p = await launch();
    await p.take(['a', 'c']);
    p.storage.intercept = (step, when) => {
      if (step === 'delete shared a@1' && when === 'before') throw new Error('busy');
    };
    await p.take(['b'], () => false);
    expect(p.disk.complete).toEqual([2]);
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2']);
    expect(p.warnings.join()).toMatch(/Shared files that no checkpoint uses could not be removed/);
    p.storage.intercept = undefined;
    await p.clock.advance(1000);
    expect([...p.disk.shared]).toEqual(['b@2']);
  });

  test('that hangs for a file is left to itself: the others go, and it is asked for once', async () => {
    const p = await launch();
    await p.take(['a', 'c']);
    let asked = 0;
    p.storage.intercept = (step, when) => {
      if (step !== 'delete shared a@1' || when !== 'before') return undefined;
      asked++;
      return new Promise<void>(() => undefined);
    };
    await p.take(['b'], () => false);
    await p.clock.advance(60_000);
    for (const key of ['d', 'e']) await p.take([key], () => false);
    await p.clock.advance(600_000);
    expect([...p.disk.shared]).toEqual(['a@1', 'e@4']);
    expect(asked).toBe(1);
  });

  test('is left to the process that has taken the lock', async () => {
    const p = await launch();
    await p.take(['a']);
    const told = deferred();
    p.backend.gateway.commit = () => told.promise;
    await p.take(['b'], () => false);
    p.disk.owner = undefined;
    told.resolve();
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1', 'b@2']);
  });
});

describe('at the start', () => {
  async function diskWith(...keys: readonly string[]): Promise<Disk> {
    const disk = new Disk();
    const p = await launch({ numRetained: 9 }, disk);
    for (const key of keys) await p.take([key], () => false);
    p.storage.die();
    return disk;
  }

  test('files that no checkpoint has are removed', async () => {
    const disk = await diskWith('a');
    disk.shared.add('remains of a crash');
    const p = await launch({}, disk);
    expect([...disk.shared]).toEqual(['a@1']);
    expect(p.warnings).toEqual([]);
  });

  test('files that a dead attempt has written for a checkpoint that it had not published are removed', async () => {
    const disk = new Disk();
    const dead = await launch({}, disk);
    await dead.capture(['a']);
    dead.storage.die();
    await launch({}, disk);
    expect([...disk.shared]).toEqual([]);
    expect([...disk.folders.keys()]).toEqual([]);
  });

  test('nothing is removed without a lock: they may be what another process is writing', async () => {
    const disk = await diskWith('a');
    disk.shared.add('remains of a crash');
    await (await Running.on(disk, {}, { locks: false })).begin();
    expect([...disk.shared]).toEqual(['a@1', 'remains of a crash']);
  });

  test('nothing that was there is removed, then or later, if the metadata of a checkpoint cannot be read', async () => {
    const disk = await diskWith('a', 'b');
    disk.shared.add('remains of a crash');
    disk.damage(1);
    const p = new Running({ disk, settings: { incremental: true } });
    await p.begin();
    expect(p.warnings.join('\n')).toMatch(/chk-1 cannot be read; no shared file that is there now is removed/);
    await p.take(['c'], () => false);
    await p.take(['d'], () => false);
    expect([...disk.shared].sort()).toEqual(['a@1', 'b@2', 'd@4', 'remains of a crash']);
  });

  test('a checkpoint that could not be read at the start, and then is restored, is made use of', async () => {
    const disk = await diskWith('a');
    // To find out which it is, to look at its shared files, to restore it: only the second fails.
    let reads = 0;
    const intercept: ProcessOptions['intercept'] = (step, when) => {
      if (when === 'before' && step === `read ${disk.pointer(1)}` && ++reads === 2) throw new Error('the disk is busy');
      return undefined;
    };
    const p = await (await Running.on(disk, {}, { intercept })).begin();
    expect(p.warnings.join('\n')).toMatch(/chk-1 cannot be read/);
    expect(p.backend.base.map(({ path }) => path)).toEqual(['a@1']);
    await p.take(['b']);
    expect(disk.complete).toEqual([2]);
  });

  test('files of another history stay, for as long as its checkpoints do', async () => {
    const disk = await diskWith('a');
    const fresh = await (await Running.on(disk)).begin('none');
    await fresh.take(['b']);
    await fresh.take(['c'], () => false);
    expect([...disk.shared]).toEqual(['a@1', 'c@3']);
    fresh.storage.die();
    // A user removes the checkpoint that was left.
    disk.folders.delete(1);
    await launch({}, disk);
    expect([...disk.shared]).toEqual(['c@3']);
  });

  test('a checkpoint that is restored by its path without claim gives up none of its files, and nothing is made of it', async () => {
    const disk = await diskWith('a');
    const p = await (await Running.on(disk)).begin({ path: disk.pointer(1) });
    expect(p.backend.base).toEqual([]);
    await p.take(['b']);
    await p.take(['c'], () => false);
    expect(disk.complete).toEqual([1, 3]);
    expect([...disk.shared]).toEqual(['a@1', 'c@3']);
  });

  test('one that is claimed in the directory of the job is made use of, and removed when it is superfluous', async () => {
    const disk = await diskWith('a');
    const p = await (await Running.on(disk, { claimMode: 'claim' })).begin({ path: disk.pointer(1) });
    await p.take(['b']);
    expect([...disk.shared]).toEqual(['a@1', 'b@2']);
    await p.take(['c'], () => false);
    expect([...disk.shared]).toEqual(['c@3']);
  });

  test('one that is claimed leaves the files that it has in common with checkpoints of another history', async () => {
    const disk = new Disk();
    const dead = await launch({ numRetained: 9 }, disk);
    await dead.take(['a']);
    await dead.take(['b']);
    dead.storage.die();
    const settings = { claimMode: 'claim', allowDuplicates: true } as const;
    const p = await (await Running.on(disk, settings)).begin({ path: disk.pointer(1) });
    await p.take(['c'], () => false);
    expect(disk.complete).toEqual([2, 3]);
    expect([...disk.shared]).toEqual(['a@1', 'b@2', 'c@3']);
    expect(missing(disk)).toEqual([]);
  });

  test('one that is claimed elsewhere is read, never referred to, and its shared files stay where they are', async () => {
    const elsewhere = await diskWith('a');
    const disk = new Disk('other');
    disk.elsewhere.push(elsewhere);
    const p = await (await Running.on(disk, { claimMode: 'claim' })).begin({ path: elsewhere.pointer(1) });
    expect(p.backend.base).toEqual([]);
    await p.take(['b']);
    await p.take([]);
    expect(disk.complete).toEqual([3]);
    expect([...disk.shared]).toEqual(['b@2']);
    expect([...elsewhere.shared]).toEqual(['a@1']);
  });

  test('older checkpoints of the history are made use of again, and their files go with them', async () => {
    const disk = await diskWith('a', 'b');
    const p = await launch({ numRetained: 2 }, disk);
    await p.take(['c']);
    expect(disk.complete).toEqual([2, 3]);
    expect([...disk.shared]).toEqual(['b@2', 'c@3']);
  });
});

describe('at the end', () => {
  async function endAs(outcome: Parameters<Process['coordinator']['end']>[0], settings?: Partial<CheckpointSettings>) {
    const p = await launch(settings);
    await p.take(['a']);
    const { done } = await p.capture(['b']);
    await p.coordinator.attemptEnded(1);
    await expect(done).rejects.toThrow();
    await p.coordinator.end(outcome);
    return p.disk;
  }

  test('of a job that has finished, or whose checkpoints are not to be kept, nothing stays', async () => {
    for (const disk of [
      await endAs('finished'),
      await endAs('cancelled'),
      await endAs('failed', { retention: 'no-externalized' }),
    ])
      expect([[...disk.folders.keys()], [...disk.shared]]).toEqual([[], []]);
  });

  test('of one that was stopped with a savepoint only the reference to that stays', async () => {
    const p = await launch();
    await p.take(['a']);
    await p.stop(p.backend.gateway);
    expect([p.disk.complete, [...p.disk.shared]]).toEqual([[2], []]);
  });

  test('of one whose checkpoints are kept, their files stay', async () => {
    for (const disk of [
      await endAs('failed'),
      await endAs('suspended'),
      await endAs('cancelled', { retention: 'retain-on-cancellation' }),
    ])
      expect([[...disk.folders.keys()], [...disk.shared]]).toEqual([[1], ['a@1']]);
  });

  test('what the end of a job that had finished left behind is removed by who looks next', async () => {
    const p = await launch();
    await p.take(['a']);
    p.storage.intercept = (step, when) => {
      if (step === 'delete 1' && when === 'before') p.storage.die();
    };
    await p.coordinator.attemptEnded(1);
    void p.coordinator.end('finished');
    await p.clock.settle();
    expect([...p.disk.shared]).toEqual(['a@1']);
    const next = await Running.on(p.disk);
    expect((await next.start()).kind).toBe('already-finished');
    expect([[...p.disk.folders.keys()], [...p.disk.shared]]).toEqual([[], []]);
  });

  test.each(['finished', 'cancelled'] as const)(
    'of one that was %s no checkpoint stays for a file that cannot be removed, which is said',
    async (outcome) => {
      const p = await launch({ numRetained: 2 });
      await p.take(['a']);
      await p.take(['b'], () => false);
      await p.coordinator.attemptEnded(1);
      p.storage.intercept = (step) => {
        if (step.startsWith('delete shared')) throw new Error('busy');
      };
      await p.coordinator.end(outcome);
      expect(p.warnings.join()).toMatch(/Shared files of job orders that no checkpoint uses .* stay behind.*busy/);
      expect([[...p.disk.folders.keys()], [...p.disk.shared]]).toEqual([[], ['a@1', 'b@2']]);
      expect(p.storage.isClosed).toBe(true);
    },
  );
});
