import type { BlobHandle, CheckpointLocation, FileBlob, JobStorage } from '@weir/core/contracts';
import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { FakeProcesses } from './fixtures/processes.js';
import { fill, lossesOf, nothingPromised, openJob, writeCheckpoint } from './fixtures/scenario.js';

interface Started {
  readonly disk: CrashFileSystem;
  readonly processes: FakeProcesses;
  readonly job: JobStorage;
  /** Every path. */
  readonly before: readonly string[];
}
/** A disk with checkpoint 1. */
async function start(): Promise<Started> {
  const [disk, processes] = [new CrashFileSystem(), new FakeProcesses()];
  const process = processes.start();
  const job = await openJob(disk, process);
  await writeCheckpoint(job, 1);
  process.die();
  return { disk, processes, job, before: disk.paths() };
}

/** Checkpoint 2 as a coordinator takes it: whatever fails, it is discarded. */
async function attempt(job: JobStorage): Promise<void> {
  let location: CheckpointLocation | undefined;
  try {
    location = await job.create(2);
    await location.publish(await fill(location));
  } catch (error) {
    await location?.discard();
    throw error;
  }
}

const published1 = { ...nothingPromised(), published: new Set([1]) };
/** What is there of checkpoint 2: its folder, and what is shared since checkpoint 1. */
const remains = ({ disk, before }: Started, now = disk): string[] =>
  now.paths().filter((path) => path.includes('chk-2') || (path.includes('/shared/') && !before.includes(path)));
const ids = async (job: JobStorage): Promise<number[]> => (await job.list()).map(({ id }) => id);

describe('a checkpoint that meets a fault', () => {
  test.each(['ENOSPC', 'EIO', 'EROFS'])('fails at whatever operation %s comes, and leaves nothing', async (code) => {
    const undisturbed = await start();
    const before = undisturbed.disk.operations.length;
    await attempt(undisturbed.job);
    const operations = undisturbed.disk.operations.slice(before);
    expect(operations.length).toBeGreaterThan(15);
    for (const [index, { op }] of operations.entries()) {
      const started = await start();
      const { disk, processes, job } = started;
      disk.fail({}, code, { nth: index + 1 });
      await expect(attempt(job)).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code } });
      expect(disk.openHandles).toBe(op === 'close' ? 1 : 0);
      expect(remains(started)).toEqual([]);
      expect(await ids(job)).toEqual([1]);
      expect(await lossesOf(disk, published1, processes)).toEqual([]);
      await writeCheckpoint(job, 3);
      expect(await ids(job)).toEqual([1, 3]);
    }
  });

  test('fails wherever the disk gets full, leaves nothing, and the next succeeds when there is space again', async () => {
    for (let space = 0; space <= 750; space += 50) {
      const started = await start();
      const { disk, processes, job } = started;
      const free = disk.fail({ op: 'write' }, 'ENOSPC', { afterBytes: space, times: Infinity });
      await expect(attempt(job)).rejects.toMatchObject({ code: 'STORAGE_FAILED', cause: { code: 'ENOSPC' } });
      expect(remains(started)).toEqual([]);
      expect(await lossesOf(disk, published1, processes)).toEqual([]);
      free();
      await writeCheckpoint(job, 3);
      expect(await ids(job)).toEqual([1, 3]);
    }
  });

  test('and failed to publish at the very end does not come back damaged while it is discarded', async () => {
    for (let step = 0, isDiscarded = false; !isDiscarded; step++) {
      const started = await start();
      const { disk, processes, job } = started;
      const location = await job.create(2);
      const metadata = await fill(location);
      // `_metadata` is in place, but whether the disk keeps it is not known.
      disk.fail({ op: 'syncDirectory', path: /chk-2$/ }, 'EIO', { nth: 2 });
      await expect(location.publish(metadata)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      await expect(location.publish(metadata)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
      expect(location.complete).toBe(false);
      disk.stopAt(disk.operations.length + step);
      isDiscarded = await Promise.race([location.discard().then(() => true), disk.stopped.then(() => false)]);
      expect(await lossesOf(disk, published1, processes)).toEqual([]);
      if (isDiscarded) expect(remains(started, disk.crash({ name: () => true }))).toEqual([]);
    }
  });
});

describe('reading a checkpoint', () => {
  /** Reads `_metadata`, and a blob as a whole and in part, of which the operation `op` fails with `code`. */
  async function readings(op: 'open' | 'read' | 'readFile', code: string): Promise<unknown[]> {
    const { disk, processes } = await start();
    const job = await openJob(disk, processes.start());
    const [stored] = await job.list();
    if (stored === undefined) throw new Error('checkpoint 1 is not listed');
    const metadata = JSON.parse(Buffer.from(await job.readMetadata(stored)).toString('utf8')) as BlobHandle[];
    const blob = metadata.find(({ kind }) => kind === 'blob') as FileBlob;
    const failures: unknown[] = [];
    for (const read of [
      () => job.readMetadata(stored),
      () => job.read(stored, blob),
      async () => job.readPart?.(stored, blob, { offset: 1, length: 2 }),
    ]) {
      const end = disk.fail({ op, path: /chk-1/ }, code, { times: Infinity });
      await read().catch((error: unknown) => failures.push(error));
      end();
      await read();
    }
    expect(disk.openHandles).toBe(0);
    return failures;
  }

  test.each(['EMFILE', 'ENFILE', 'EIO', 'EAGAIN', 'ESTALE'])(
    'fails for now with what passes by itself, and says nothing of another checkpoint (%s)',
    async (code) => {
      const failures = [
        ...(await readings('open', code)),
        ...(await readings('read', code)),
        ...(await readings('readFile', code)),
      ];
      expect(failures.length).toBeGreaterThanOrEqual(3);
      for (const failure of failures) {
        expect(failure).toMatchObject({ code: 'STORAGE_FAILED', recoverable: true, cause: { code } });
        expect((failure as Error).message).toContain('chk-1');
        expect((failure as Error).message).not.toContain('another checkpoint');
      }
    },
  );

  test('says what to do where reading is not allowed', async () => {
    for (const failure of [...(await readings('open', 'EACCES')), ...(await readings('readFile', 'EACCES'))])
      expect(failure).toMatchObject({
        code: 'CHECKPOINT_UNREADABLE',
        recoverable: false,
        message: expect.stringContaining('Give this process the right to read it'),
      });
  });
});
