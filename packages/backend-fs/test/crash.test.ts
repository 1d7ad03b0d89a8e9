import type { FileHandle, FileSystem } from '@weir/core/contracts';
import { CrashFileSystem } from '@weir/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeProcesses } from './fixtures/processes.js';
import { JOB_FOLDER, liveUntil, lossesOf, nothingPromised } from './fixtures/scenario.js';

/** Stops a life before each of its operations, one after the other, and hands over what each crash then loses. */
async function* everyStop(wrap?: (disk: CrashFileSystem) => FileSystem): AsyncGenerator<readonly string[]> {
  for (let stop = 0, ended = false; !ended; stop++) {
    const [disk, promised, processes] = [new CrashFileSystem(), nothingPromised(), new FakeProcesses()];
    ended = await liveUntil(disk, stop, promised, processes, wrap);
    yield await lossesOf(disk, promised, processes);
  }
}

/** A disk on which one kind of sync does nothing: the nth one of the matching path (of each such path), or all of them. */
function forgetting(target: 'file' | 'folder', path: RegExp, nth?: number): (disk: CrashFileSystem) => FileSystem {
  return (disk) => {
    const seen = new Map<string, number>();
    const isForgotten = (kind: string, name: string): boolean => {
      if (kind !== target || !path.test(name)) return false;
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      return nth === undefined || count === nth;
    };
    return {
      open: async (name, mode): Promise<FileHandle> => {
        const handle = await disk.open(name, mode);
        return { ...handle, sync: () => (isForgotten('file', name) ? Promise.resolve() : handle.sync()) };
      },
      readFile: (name) => disk.readFile(name),
      readDirectory: (name) => disk.readDirectory(name),
      stat: (name) => disk.stat(name),
      realPath: (name) => disk.realPath(name),
      lstat: (name) => disk.lstat(name),
      makeDirectory: (name) => disk.makeDirectory(name),
      rename: (from, to) => disk.rename(from, to),
      remove: (name) => disk.remove(name),
      removeTree: (name) => disk.removeTree(name),
      syncDirectory: (name) => (isForgotten('folder', name) ? Promise.resolve() : disk.syncDirectory(name)),
    };
  };
}

describe('a crash at any step', () => {
  test('leaves every promise kept, no half checkpoint that looks complete, and a job that can go on', async () => {
    let stops = 0;
    for await (const losses of everyStop()) {
      expect(losses).toEqual([]);
      stops++;
    }
    expect(stops).toBeGreaterThan(50);
  }, 60_000);

  test('loses nothing of what the next process did either, wherever the first one was killed', async () => {
    for (let stop = 0, ended = false; !ended; stop++) {
      const [disk, promised, processes] = [new CrashFileSystem(), nothingPromised(), new FakeProcesses()];
      ended = await liveUntil(disk, stop, promised, processes);
      const next = disk.kill();
      await liveUntil(next, undefined, promised, processes);
      expect(await lossesOf(next, promised, processes)).toEqual([]);
    }
  }, 60_000);

  test('may come at any step of any of two processes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(120), fc.nat(120), async (first, second) => {
        const [disk, promised, processes] = [new CrashFileSystem(), nothingPromised(), new FakeProcesses()];
        await liveUntil(disk, first, promised, processes);
        const next = disk.kill();
        await liveUntil(next, second, promised, processes);
        expect(await lossesOf(next, promised, processes)).toEqual([]);
      }),
    );
  }, 60_000);

  const job = new RegExp(`^${JOB_FOLDER}$`);
  const needed: [what: string, loss: string, forget: (disk: CrashFileSystem) => FileSystem][] = [
    ['a blob file', 'checkpoint 1 looks complete but is not', forgetting('file', /\/chk-\d+\/blob-p\d+-\d+$/)],
    ['a shared file', 'checkpoint 1 looks complete but is not', forgetting('file', /\/shared\//)],
    [
      'the folder of shared files before _metadata',
      'checkpoint 1 looks complete but is not',
      forgetting('folder', /\/shared$/),
    ],
    ['the _metadata file', 'checkpoint 2 looks complete but is not', forgetting('file', /\/_metadata\..*\.tmp$/)],
    [
      "a checkpoint's folder before _metadata",
      'checkpoint 1 looks complete but is not',
      forgetting('folder', /\/chk-\d+$/, 1),
    ],
    ["a checkpoint's folder after _metadata", 'checkpoint 1 is lost', forgetting('folder', /\/chk-\d+$/, 2)],
    [
      "a checkpoint's folder while it is deleted",
      'checkpoint 1 looks complete but is not',
      forgetting('folder', /\/chk-1$/, 3),
    ],
    [
      'the _committed file',
      'the mark that checkpoint 2 is committed is damaged',
      forgetting('file', /\/_committed\..*\.tmp$/),
    ],
    [
      "a checkpoint's folder after _committed",
      'the mark that checkpoint 2 is committed is lost',
      forgetting('folder', /\/chk-2$/, 3),
    ],
    ["the job's folder when the lock is taken", 'attempt 1 is forgotten', forgetting('folder', job, 1)],
    ["the job's folder before the first checkpoint", 'checkpoint 1 is lost', forgetting('folder', job, 2)],
    ["the job's folder before the second checkpoint", 'checkpoint 2 is lost', forgetting('folder', job, 3)],
    ['the directory of all jobs', 'checkpoint 1 is lost', forgetting('folder', /^\/data\/checkpoints$/)],
    ['the folder above that directory', 'checkpoint 1 is lost', forgetting('folder', /^\/data$/)],
    ['the folder above that one', 'checkpoint 1 is lost', forgetting('folder', /^\/$/)],
    ['the lock', 'attempt 1 is forgotten', forgetting('folder', /\/_lock$/)],
    ['the _finished file', 'the mark is damaged', forgetting('file', /\/_finished\..*\.tmp$/)],
    ["the job's folder after _finished", 'the mark is lost', forgetting('folder', job, 4)],
    ["the job's folder after _finished was cleared", 'the mark is back', forgetting('folder', job, 5)],
  ];
  test.each(needed)(
    'without the sync of %s: %s',
    async (_what, loss, forget) => {
      for await (const losses of everyStop(forget)) {
        if (losses.some((found) => found.startsWith(loss))) return;
      }
      expect.unreachable('nothing is lost');
    },
    60_000,
  );
});
