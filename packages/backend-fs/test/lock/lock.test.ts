import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/lock/take-lock.js';
import { FakeProcesses } from '../fixtures/processes.js';
import { JOB_FOLDER, lockNow, openJob } from '../fixtures/scenario.js';

const LOCK = `${JOB_FOLDER}/_lock`;
const entriesOf = async (disk: CrashFileSystem): Promise<string[]> =>
  (await disk.readDirectory(LOCK)).map(({ name }) => name);

describe('the lock', () => {
  test('says who has it, and for how long somebody has waited', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const first = processes.start();
    await lockNow(await openJob(disk, first));
    const refused = lockNow(await openJob(disk, processes.start(), 'other'));
    await expect(refused).rejects.toThrow(
      `STORAGE_LOCKED: Job orders is run by process ${String(first.self.pid)}, which has held ${LOCK} since 1970-01-01T00:00:00.000Z; waited 0 ms.`,
    );
    const again = lockNow(await openJob(disk, first, 'again'));
    await expect(again).rejects.toThrow(`is run by this process (${String(first.self.pid)})`);
  });

  test.each([
    ['in another container of this machine', { pidNamespace: '2', host: 'c-2' }],
    ['in another container with the name of this host', { pidNamespace: '2' }],
    ['on another machine', { bootId: 'other', host: 'node-2' }],
  ])('of a process %s is not taken, and the error says how', async (_where, other) => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const first = processes.start(other);
    const lock = await lockNow(await openJob(disk, first));
    await lock.recordAttempt(5);
    // Its number is nobody's here.
    first.die();
    const next = await openJob(disk, processes.start(), 'next');
    const refused: unknown = await lockNow(next).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'STORAGE_LOCKED',
      message: expect.stringMatching(`of host or container '${first.self.host}'.*cannot be seen from here`),
    });
    await lock.verify();
    const [, held, free] = /: mv '(.*)' '(.*)'$/.exec((refused as Error).message) ?? [];
    await disk.rename(held!, free!);
    await expect(lock.verify()).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    expect((await lockNow(next)).previousAttempt).toBe(5);
  });

  test('of a process that ran before this machine was started again is taken', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const first = processes.start({ bootId: 'before', pidNamespace: '2' });
    await (await lockNow(await openJob(disk, first))).recordAttempt(2);
    first.die();
    expect((await lockNow(await openJob(disk, processes.start(), 'next'))).previousAttempt).toBe(2);
  });

  test('whose entry has numbers that nobody writes is an error at once', async () => {
    const disk = new CrashFileSystem();
    const processes = new FakeProcesses();
    await (await lockNow(await openJob(disk, processes.start()))).release();
    for (const { name } of await disk.readDirectory(LOCK)) await disk.remove(`${LOCK}/${name}`);
    await (await disk.open(`${LOCK}/attempt-99999999999999999999999.free`, 'create')).close();
    await expect(lockNow(await openJob(disk, processes.start(), 'next'))).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
    });
  });

  test('tells the owner that lost it who has it now', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const first = processes.start();
    const lost = await lockNow(await openJob(disk, first, 'first'));
    first.die();
    const second = processes.start();
    await lockNow(await openJob(disk, second, 'second'));
    const fenced = { code: 'STORAGE_FENCED', recoverable: false };
    await expect(lost.verify()).rejects.toMatchObject(fenced);
    await expect(lost.verify()).rejects.toThrow(`${LOCK} was taken over by process ${String(second.self.pid)}`);
    await expect(lost.recordAttempt(9)).rejects.toMatchObject(fenced);
    expect((await entriesOf(disk)).length).toBe(1);
  });

  test('is given back when the storage is closed', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const job = await openJob(disk, processes.start());
    const lock = await lockNow(job);
    await lock.recordAttempt(3);
    await job.close();
    await expect(lock.verify()).rejects.toThrow(`STORAGE_FENCED: ${LOCK} was given back`);
    await expect(lock.recordAttempt(3)).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    expect(await entriesOf(disk)).toEqual(['attempt-3.free']);
    await job.close();
    expect((await lockNow(await openJob(disk, processes.start(), 'next'))).previousAttempt).toBe(3);
  });

  test('counts as held while the attempt is recorded and checked at the same time', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const lock = await lockNow(await openJob(disk, processes.start()));
    await Promise.all([
      lock.recordAttempt(1),
      lock.verify(),
      lock.recordAttempt(2),
      lock.verify(),
      lock.recordAttempt(2),
    ]);
    expect(await entriesOf(disk)).toEqual([expect.stringMatching(/^attempt-2\.pid-/)]);
  });

  test('ignores what other programs leave in its folder', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    const first = processes.start();
    const lock = await lockNow(await openJob(disk, first));
    await lock.recordAttempt(2);
    await (await disk.open(`${LOCK}/.DS_Store`, 'create')).close();
    await lock.verify();
    first.die();
    expect((await lockNow(await openJob(disk, processes.start(), 'next'))).previousAttempt).toBe(2);
  });

  test('fails with the cause when its folder cannot be made or read', async () => {
    for (const fault of [{ op: 'rename' }, { op: 'lstat' }, { op: 'makeDirectory', path: /_lock/ }] as const) {
      const disk = new CrashFileSystem();
      disk.fail(fault, 'EACCES');
      const job = await openJob(disk, new FakeProcesses().start());
      await expect(lockNow(job)).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code: 'EACCES' } });
      expect((await lockNow(job)).previousAttempt).toBe(0);
    }
  });

  test('lets its next owner clean up what dead processes had not published', async () => {
    const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
    await disk.makeDirectory('/data');
    await disk.makeDirectory('/data/checkpoints');
    await disk.makeDirectory(JOB_FOLDER);
    await disk.makeDirectory(`${JOB_FOLDER}/_lock.dead-1`);
    for (const name of ['_lock.dead-1/attempt-0.free', '_finished.dead-2.tmp', 'notes.tmp', '_finished']) {
      await (await disk.open(`${JOB_FOLDER}/${name}`, 'create')).close();
    }
    const lock = await lockNow(await openJob(disk, processes.start()));
    await lock.release();
    expect(disk.paths().filter((path) => path.startsWith(`${JOB_FOLDER}/`) && path !== `${JOB_FOLDER}/`)).toEqual([
      `${JOB_FOLDER}/_finished`,
      `${LOCK}/`,
      `${LOCK}/attempt-0.free`,
      `${JOB_FOLDER}/notes.tmp`,
    ]);
  });

  test('is taken although remains cannot be removed', async () => {
    const disk = new CrashFileSystem();
    disk.fail({ op: 'readDirectory', path: /orders$/ }, 'EIO');
    expect((await lockNow(await openJob(disk, new FakeProcesses().start()))).previousAttempt).toBe(0);
  });
});

describe('of several entries that a crash brought back', () => {
  const processes = new FakeProcesses();
  const entry = (attempt: number, token: string, owner = processes.start()) => ({
    attempt,
    owner: { process: owner.self, since: 0, token },
  });
  const dead = (attempt: number, token: string) => {
    const process = processes.start();
    process.die();
    return entry(attempt, token, process);
  };
  const observer = processes.start();

  test('a living owner counts', () => {
    const alive = entry(1, 'a');
    expect(decide([dead(3, 'b'), alive, dead(2, 'c')], observer)).toEqual({ kind: 'held', entry: alive });
  });
  test('else the latest attempt, in the same order for everybody', () => {
    const [one, two, three] = [dead(1, 'z'), dead(2, 'a'), dead(2, 'b')];
    const expected = { kind: 'takeable', entry: three, others: [two, one] };
    expect(decide([one, two, three], observer)).toEqual(expected);
    expect(decide([three, one, two], observer)).toEqual(expected);
  });
});
