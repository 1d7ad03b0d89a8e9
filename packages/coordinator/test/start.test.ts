import { WeirError, classifyFailure, decodeMetadata } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { encodeFinished } from '../src/finished-marker.js';
import { Process, historyOn, unconfirmed } from './harness.js';
import { planOf } from './plan.js';

function lineageOn(disk: Disk, id: number): string {
  return decodeMetadata(disk.folders.get(id)?.metadata ?? new Uint8Array(), disk.pointer(id)).lineage;
}

describe('auto', () => {
  test('with nothing stored starts afresh, and says so', async () => {
    const p = new Process();
    expect(await p.start('auto')).toMatchObject({ kind: 'fresh', reason: 'there is no completed checkpoint' });
    const start = await p.coordinator.beginAttempt();
    expect(start).toMatchObject({ attempt: 1, restore: undefined });
    expect(p.told('fresh-start')).toEqual([{ kind: 'fresh-start', reason: 'there is no completed checkpoint' }]);
  });

  test('SG-04: takes the highest complete one, by number, and never the id of one that is not complete', async () => {
    const disk = new Disk();
    const lineage = await historyOn(disk, 10, { settings: { numRetained: 3 } });
    disk.leaveIncomplete(11);
    disk.leaveIncomplete(12);
    const p = new Process({ disk, settings: { numRetained: 3 } });
    expect(await p.start('auto')).toEqual({ kind: 'restore', lineage, checkpointId: 10, pointer: 'disk/chk-10' });
    expect(await p.checkpoint(await p.run())).toBe(13);
    expect(disk.complete).toEqual([9, 10, 13]);
  });

  test('keeps the lineage, gives the state back, and takes a larger attempt number', async () => {
    const disk = new Disk();
    const lineage = await historyOn(disk, 2, { intercept: unconfirmed });
    const p = new Process({ disk });
    await p.start('auto');
    const { attempt, restore, lineage: kept } = await p.coordinator.beginAttempt();
    expect({ attempt, kept }).toEqual({ attempt: 2, kept: lineage });
    expect(restore?.subtasks.get('out#0')).toMatchObject([{ committables: { newest: 2 } }]);
    expect(p.told('restored')).toEqual([{ kind: 'restored', checkpointId: 2, pointer: 'disk/chk-2', attempt: 2 }]);
    expect(p.coordinator.statistics()).toMatchObject({ counts: { restored: 1 }, latestRestored: { checkpointId: 2 } });
    const blob = restore?.subtasks.get('numbers#0')?.[0]?.operator[0]?.blob;
    expect(blob && (await restore.read(blob))).toEqual(Uint8Array.of(2));
  });

  test('SG-08: restoring consumes nothing: five starts that die before a new checkpoint are all alike', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    for (let i = 0; i < 5; i++) {
      const p = new Process({ disk });
      await p.launch('auto');
      await p.clock.settle();
      expect(p.decision).toMatchObject({ kind: 'restore', checkpointId: 1 });
      p.storage.die();
    }
  });

  test('removes what dead attempts left half written, once it holds the lock', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    disk.leaveIncomplete(2);
    disk.leaveIncomplete(3);
    const p = new Process({ disk });
    await p.start('auto');
    await p.clock.settle();
    expect([...disk.folders.keys()]).toEqual([1]);
    expect(p.storage.steps.indexOf('lock')).toBe(0);
  });

  test('removes nothing half written where no lock tells whose it is', async () => {
    const disk = new Disk();
    await historyOn(disk, 1);
    disk.leaveIncomplete(2);
    const p = new Process({ disk, locks: false });
    const gateway = await p.launch('auto');
    expect(gateway.attempt).toBe(2);
    expect(await p.checkpoint(gateway)).toBe(3);
    expect([...disk.folders.keys()]).toEqual([2, 3]);
  });

  test('older complete ones are kept until the newest has been restored, for a user may need them if it cannot', async () => {
    const disk = new Disk();
    await historyOn(disk, 3, { settings: { numRetained: 3 } });
    const p = new Process({ disk, settings: { numRetained: 1 } });
    await p.start('auto');
    const { attempt } = await p.coordinator.beginAttempt();
    await p.clock.settle();
    expect(disk.complete).toEqual([1, 2, 3]);
    await p.coordinator.attemptEnded(attempt);
    await p.run();
    await p.clock.settle();
    expect(disk.complete).toEqual([3]);
  });

  test('the ids go on above what a restored committable was made for', async () => {
    const disk = new Disk();
    const p = new Process({ disk });
    const gateway = await p.launch();
    const asked = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    const [source, out] = gateway.subtasks.map((subtask) => gateway.ackOf(1, subtask));
    const serializer = { id: 's', version: 1 };
    const committables = {
      destination: { id: 'place', name: 'place' },
      serializer,
      newest: 41,
      count: 1,
      blob: { kind: 'inline' as const, bytes: new Uint8Array() },
    };
    p.coordinator.receive(source!);
    p.coordinator.receive({
      ...out!,
      snapshot: { ...out!.snapshot, operators: [{ uid: 'out', keyed: [], operator: [], committables }] },
    });
    await asked;
    p.storage.die();
    const next = new Process({ disk });
    expect(await next.checkpoint(await next.launch())).toBe(42);
  });

  test('on a job that has finished reports that, removes what was left, and lets go of the lock', async () => {
    const disk = new Disk();
    const lineage = await historyOn(disk, 1);
    disk.finished = encodeFinished({
      job: 'orders',
      lineage,
      attempt: 1,
      checkpointId: 1,
      finishedAt: 0,
      keptForUser: [],
    });
    const p = new Process({ disk });
    expect(await p.start('auto')).toEqual({ kind: 'already-finished', lineage });
    expect(disk.folders.size).toBe(0);
    expect(disk.owner).toBeUndefined();
    expect(p.storage.isClosed).toBe(true);
    await p.coordinator.end('suspended');
    expect(disk.finished).toBeDefined();
  });
});

describe('latest', () => {
  test('OP-04: with nothing stored is an error, and the lock is free again', async () => {
    const p = new Process();
    await expect(p.start('latest')).rejects.toMatchObject({ code: 'CHECKPOINT_NONE', recoverable: false });
    expect(p.disk.owner).toBeUndefined();
    expect(p.storage.isClosed).toBe(true);
    expect(p.disk.folders.size).toBe(0);
  });
});

describe('none', () => {
  test('OP-04: starts afresh beside old checkpoints, says so, and never removes them', async () => {
    const disk = new Disk();
    const old = await historyOn(disk, 2, { settings: { numRetained: 2 } });
    const p = new Process({ disk });
    expect(await p.start('none')).toMatchObject({ kind: 'fresh' });
    expect(p.warnings).toEqual([expect.stringMatching(/starts afresh.*chk-1.*chk-2/)]);
    const gateway = await p.run();
    expect(await p.checkpoint(gateway)).toBe(3);
    expect(await p.checkpoint(gateway)).toBe(4);
    expect(disk.complete).toEqual([1, 2, 4]);
    expect(lineageOn(disk, 4)).not.toBe(old);
    p.storage.die();

    // The next process continues the new history, and still does not touch the old one.
    const next = new Process({ disk });
    await next.checkpoint(await next.launch('auto'));
    expect(next.decision).toMatchObject({ kind: 'restore', checkpointId: 4 });
    expect(disk.complete).toEqual([1, 2, 5]);
    await next.coordinator.attemptEnded(3);
    await next.coordinator.end('cancelled');
    expect(disk.complete).toEqual([1, 2]);
  });

  test.each(['readable', 'damaged'])('runs a job that has finished again, clearing the %s mark', async (state) => {
    const disk = new Disk();
    disk.finished =
      state === 'readable'
        ? encodeFinished({ job: 'orders', lineage: 'l', attempt: 7, checkpointId: 9, finishedAt: 0, keptForUser: [] })
        : Uint8Array.of(1, 2, 3);
    const p = new Process({ disk });
    expect(await p.start('none')).toMatchObject({ kind: 'fresh' });
    expect(disk.finished).toBeUndefined();
    if (state === 'readable') {
      const gateway = await p.run();
      expect(gateway.attempt).toBe(8);
      expect(await p.checkpoint(gateway)).toBe(10);
    }
  });
});

describe('a checkpoint by its id', () => {
  test('an older one is refused for a sink that cannot take output back', async () => {
    const disk = new Disk();
    await historyOn(disk, 3, { settings: { numRetained: 3 } });
    const p = new Process({ disk });
    await expect(p.start({ checkpointId: 2 })).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_NEWEST',
      message: expect.stringMatching(/checkpoint 2 .*output of checkpoint 3.*sink out .*allowDuplicates/),
    });
    expect(disk.complete).toEqual([1, 2, 3]);
  });

  test('an older one that is accepted begins a new lineage, and nothing of the old one is ever removed', async () => {
    const disk = new Disk();
    const old = await historyOn(disk, 3, { settings: { numRetained: 3 } });
    const p = new Process({ disk, settings: { allowDuplicates: true } });
    expect(await p.start({ checkpointId: 2 })).toMatchObject({ kind: 'restore', checkpointId: 2 });
    expect(p.warnings).toEqual([expect.stringMatching(/goes back to checkpoint 2, behind checkpoint 3/)]);
    const gateway = await p.run();
    expect(await p.checkpoint(gateway)).toBe(4);
    expect(await p.checkpoint(gateway)).toBe(5);
    expect(disk.complete).toEqual([1, 2, 3, 5]);
    expect(lineageOn(disk, 5)).not.toBe(old);
  });

  test('the newest is the same as latest', async () => {
    const disk = new Disk();
    const lineage = await historyOn(disk, 2);
    const p = new Process({ disk });
    const gateway = await p.launch({ checkpointId: 2 });
    expect(p.decision).toMatchObject({ lineage });
    await p.checkpoint(gateway);
    expect(disk.complete).toEqual([3]);
  });
});

describe('a path', () => {
  test('OP-04: one that names no checkpoint is an error that repeats the path', async () => {
    const p = new Process();
    await expect(p.start({ path: '/nope' })).rejects.toMatchObject({
      code: 'CHECKPOINT_NONE',
      message: expect.stringContaining('/nope'),
    });
    expect(p.disk.owner).toBeUndefined();
  });

  test('a directory that was moved is restored as a new lineage, with ids above, and its files are never removed', async () => {
    const old = new Disk('old');
    const lineage = await historyOn(old, 4);
    const disk = new Disk();
    disk.elsewhere.push(old);
    const p = new Process({ disk });
    const gateway = await p.launch({ path: 'old/chk-4' });
    expect(p.decision).toMatchObject({ kind: 'restore', checkpointId: 4, pointer: 'old/chk-4' });
    expect(p.decision?.lineage).not.toBe(lineage);
    expect(await p.checkpoint(gateway)).toBe(5);
    expect(await p.checkpoint(gateway)).toBe(6);
    await p.coordinator.attemptEnded(gateway.attempt);
    await p.coordinator.end('cancelled');
    expect(old.complete).toEqual([4]);
    expect(disk.folders.size).toBe(0);
  });

  test("one that leads to the job's own newest keeps the lineage, and that checkpoint is left to the user", async () => {
    const disk = new Disk();
    const lineage = await historyOn(disk, 2);
    const p = new Process({ disk });
    const gateway = await p.launch({ path: 'disk/chk-2' });
    expect(p.decision?.lineage).toBe(lineage);
    await p.checkpoint(gateway);
    await p.checkpoint(gateway);
    expect(disk.complete).toEqual([2, 4]);
  });

  test("one of the job's own that is not claimed stays, whoever starts next, however often, and after the end of the job", async () => {
    const disk = new Disk();
    await historyOn(disk, 2);
    const first = new Process({ disk });
    await first.checkpoint(await first.launch({ path: 'disk/chk-2' }));
    first.storage.die();
    for (const expected of [4, 5]) {
      const next = new Process({ disk });
      expect(await next.checkpoint(await next.launch('auto'))).toBe(expected);
      expect(disk.complete).toEqual([2, expected]);
      next.storage.die();
    }
    const last = new Process({ disk });
    const gateway = await last.launch('auto');
    await last.coordinator.attemptEnded(gateway.attempt);
    await last.coordinator.end('finished');
    expect(disk.complete).toEqual([2]);
    expect(await new Process({ disk }).start('auto')).toMatchObject({ kind: 'already-finished' });
    expect(disk.complete).toEqual([2]);
    const again = new Process({ disk, settings: { claimMode: 'claim', allowDuplicates: true } });
    await again.checkpoint(await again.launch({ path: 'disk/chk-2' }));
    expect(disk.complete).toEqual([6]);
  });

  test('the checkpoint of another job is refused', async () => {
    const old = new Disk('old');
    await historyOn(old, 1);
    const disk = new Disk();
    disk.elsewhere.push(old);
    const p = new Process({ disk, job: 'payments' });
    await expect(p.start({ path: 'old/chk-1' })).rejects.toMatchObject({
      code: 'CHECKPOINT_INCOMPATIBLE',
      message: expect.stringMatching(/job orders, not to job payments/),
    });
    expect(disk.owner).toBeUndefined();
  });
});

describe('a checkpoint that cannot be restored', () => {
  test.each(['auto', 'latest', { checkpointId: 3 }, { path: 'disk/chk-3' }] as const)(
    'damaged: %o is an error that names the older ones, never a fresh start',
    async (restoreFrom) => {
      const disk = new Disk();
      await historyOn(disk, 3, { settings: { numRetained: 3 } });
      disk.damage(3);
      disk.leaveIncomplete(4);
      const p = new Process({ disk });
      await expect(p.start(restoreFrom)).rejects.toMatchObject({
        code: 'CHECKPOINT_UNREADABLE',
        recoverable: false,
        message: expect.stringMatching(/disk\/chk-3 .*1, 2; choose one with restoreFrom \{ checkpoint: 2 \}/),
      });
      // Refused: nothing was changed, so that another choice can be made.
      expect([...disk.folders.keys()]).toEqual([1, 2, 3, 4]);
      expect(disk.owner).toBeUndefined();
    },
  );

  test('the newest that cannot be read for now is not called damaged, and nothing is lost by trying again', async () => {
    const disk = new Disk();
    await historyOn(disk, 2, { settings: { numRetained: 2 } });
    const p = new Process({ disk });
    const read = p.storage.readMetadata.bind(p.storage);
    p.storage.readMetadata = async () => {
      const cause = Object.assign(new Error('EMFILE'), { code: 'EMFILE', syscall: 'open' });
      throw new WeirError('CHECKPOINT_UNREADABLE', 'of a storage that calls everything damage', { cause });
    };
    const failure: unknown = await p.start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'STORAGE_FAILED', recoverable: true });
    expect(classifyFailure(failure)).toBe('transient');
    expect(disk.owner).toBeUndefined();
    p.storage.readMetadata = read;
    expect(await p.start()).toMatchObject({ kind: 'restore', checkpointId: 2 });
  });

  test('an older one that is damaged is left alone and said aloud, and the newest is restored', async () => {
    const disk = new Disk();
    await historyOn(disk, 3, { settings: { numRetained: 3 } });
    disk.damage(1);
    const p = new Process({ disk });
    await p.checkpoint(await p.launch());
    expect(p.warnings).toEqual([expect.stringContaining('disk/chk-1 cannot be read')]);
    expect(disk.complete).toEqual([1, 4]);
  });

  test('state bytes that turn out damaged say what else there is', async () => {
    const disk = new Disk();
    await historyOn(disk, 2, { settings: { numRetained: 2 } });
    const p = new Process({ disk });
    await p.start();
    const { restore } = await p.coordinator.beginAttempt();
    const blob = { kind: 'blob' as const, path: 'x', length: 1, algorithm: 'crc32' as const, checksum: 0 };
    await expect(restore?.read(blob)).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      recoverable: false,
      message: expect.stringMatching(/chk-2\/x is missing.*checkpoint: 1/),
    });
  });

  test('a copy in the place of a newer one is not taken for newer', async () => {
    const disk = new Disk();
    await historyOn(disk, 2);
    disk.copy(2, disk, 9);
    await expect(new Process({ disk }).start()).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
      message: expect.stringContaining('copy of checkpoint 2'),
    });
  });

  test('one that does not fit the job is refused at the start, naming the operator', async () => {
    const disk = new Disk();
    await historyOn(disk, 1, { intercept: unconfirmed });
    const plan = planOf({ sinkGrade: undefined });
    await expect(new Process({ disk, plan }).start()).rejects.toMatchObject({
      code: 'CHECKPOINT_INCOMPATIBLE',
      message: expect.stringContaining('operator out was a sink with output to commit'),
    });
    expect(disk.complete).toEqual([1]);
  });

  test('a damaged mark of a finished job is an error, not a guess', async () => {
    const disk = new Disk();
    disk.finished = Uint8Array.of(1);
    await expect(new Process({ disk }).start()).rejects.toMatchObject({ code: 'CHECKPOINT_UNREADABLE' });
  });
});

test('a second process of the same job is refused while the first lives', async () => {
  const disk = new Disk();
  await new Process({ disk }).launch();
  const second = new Process({ disk });
  await expect(second.start()).rejects.toMatchObject({ code: 'STORAGE_LOCKED' });
  expect(second.storage.isClosed).toBe(true);
});

test('a start that is cancelled while it waits for the lock lets go of everything', async () => {
  const p = new Process();
  const abort = new AbortController();
  p.storage.intercept = (step, when) => {
    if (step === 'lock' && when === 'after') abort.abort(new Error('cancelled'));
  };
  await expect(p.coordinator.start('auto', abort.signal)).rejects.toThrow('cancelled');
  expect(p.disk.owner).toBeUndefined();
  await p.coordinator.end('cancelled');
});
