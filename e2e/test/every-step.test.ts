import type { FileHandle, FileSystem } from '@weir/core/contracts';
import {
  CrashFileSystem,
  NAMES_WITHOUT_BYTES,
  seededRandom,
  tornBy,
  ZEROED_BYTES,
  type Operation,
} from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { faultsOf, live } from './support/lives.js';

// The process is stopped before every single operation on its disk, from the lock to the last deletion: every step of the completion order of
// checkpoints and commits is among them. Then the next process takes what is left and must finish with the output of one that never failed.

const TIMEOUT = 300_000;

/** The operations of a life that nobody stops. */
async function wholeLife(): Promise<readonly Operation[]> {
  const disk = new CrashFileSystem();
  expect(await live(disk)).toEqual({ kind: 'ended', end: 'finished' });
  expect(await faultsOf(disk)).toEqual([]);
  return disk.operations;
}

async function stoppedAt(step: number, wrap?: (disk: CrashFileSystem) => FileSystem): Promise<CrashFileSystem> {
  const disk = new CrashFileSystem();
  disk.stopAt(step);
  await live(disk, wrap?.(disk));
  return disk;
}

/** Lets the next process finish on the disk. What is wrong afterwards; a process that cannot start again is wrong too. */
async function recover(
  disk: CrashFileSystem,
  wrap?: (disk: CrashFileSystem) => FileSystem,
): Promise<readonly string[]> {
  const ending = await live(disk, wrap?.(disk));
  if (ending.kind === 'failed') return [`did not start again: ${String(ending.error)}`];
  return faultsOf(disk);
}

describe('a process that ends before any single step', () => {
  test(
    'loses and repeats nothing when it is killed',
    async () => {
      const steps = await wholeLife();
      const labels = steps.map(({ op, path, to }) => `${op} ${path}${to === undefined ? '' : ` → ${to}`}`);
      // The steps whose order is the promise are really among those that are tried.
      for (const wanted of [
        /^write .*\/chk-1\/[^_]/,
        /^sync .*\/chk-1\/[^_]/,
        /^rename .*\/chk-1\/_metadata.* → .*\/chk-1\/_metadata$/,
        /^syncDirectory .*\/chk-1$/,
        /^rename \/sink\/out\/\..* → \/sink\/out\/[^.]/,
        /^syncDirectory \/sink\/out$/,
        /^removeTree .*\/chk-1$/,
        /_finished/,
      ]) {
        expect(
          labels.some((label) => wanted.test(label)),
          String(wanted),
        ).toBe(true);
      }
      for (let step = 0; step < steps.length; step++) {
        const disk = await stoppedAt(step);
        expect({ step, label: labels[step], faults: await recover(disk.kill()) }).toEqual({
          step,
          label: labels[step],
          faults: [],
        });
      }
    },
    TIMEOUT,
  );

  test(
    'loses and repeats nothing when the machine loses its power',
    async () => {
      const steps = (await wholeLife()).length;
      for (let step = 0; step < steps; step++) {
        const disk = await stoppedAt(step);
        const outcomes = [{}, [NAMES_WITHOUT_BYTES, ZEROED_BYTES, tornBy(seededRandom(step))][step % 3]];
        for (const outcome of outcomes) {
          expect({ step, faults: await recover(disk.crash(outcome)) }).toEqual({ step, faults: [] });
        }
      }
    },
    TIMEOUT,
  );

  test(
    'may be followed by one that ends early too',
    async () => {
      const steps = (await wholeLife()).length;
      const random = seededRandom(42);
      for (let round = 0; round < 120; round++) {
        const [first, second] = [Math.floor(random() * steps), Math.floor(random() * steps)];
        const disk = (await stoppedAt(first)).kill();
        disk.stopAt(second);
        await live(disk);
        expect({ first, second, faults: await recover(disk.crash()) }).toEqual({ first, second, faults: [] });
      }
    },
    TIMEOUT,
  );
});

describe('every single fsync is needed', () => {
  /** A disk on which one kind of sync does nothing. */
  const forgetting =
    (target: 'file' | 'folder', forgotten: RegExp) =>
    (disk: CrashFileSystem): FileSystem => ({
      open: async (name, mode): Promise<FileHandle> => {
        const handle = await disk.open(name, mode);
        const isForgotten = target === 'file' && forgotten.test(name);
        return { ...handle, sync: () => (isForgotten ? Promise.resolve() : handle.sync()) };
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
      syncDirectory: (name) =>
        target === 'folder' && forgotten.test(name) ? Promise.resolve() : disk.syncDirectory(name),
    });

  const syncs: readonly [what: string, wrap: (disk: CrashFileSystem) => FileSystem][] = [
    ['state blobs', forgetting('file', /\/chk-\d+\/[^_]/)],
    ['_metadata', forgetting('file', /\/_metadata/)],
    ["the checkpoint's folder", forgetting('folder', /\/chk-\d+$/)],
    ["the job's folder", forgetting('folder', /^\/data\/state\/[^/]+$/)],
    ['the checkpoint directory', forgetting('folder', /^\/data\/state$/)],
    ['the folder above the checkpoint directory', forgetting('folder', /^\/data$/)],
    ["the folder above the sink's directory", forgetting('folder', /^\/sink$/)],
    ['pending output files', forgetting('file', /^\/sink\/out\//)],
    ["the sink's directory", forgetting('folder', /^\/sink\/out$/)],
  ];

  test.each(syncs)(
    'of %s: without it some loss of power breaks the promise',
    async (_what, wrap) => {
      const steps = (await wholeLife()).length;
      let broken: string | undefined;
      // From the end: what counts most is then already there to lose.
      for (let step = steps; step >= 0 && broken === undefined; step--) {
        const disk = await stoppedAt(step, wrap);
        for (const outcome of [{}, NAMES_WITHOUT_BYTES]) {
          const faults = await recover(disk.crash(outcome), wrap);
          if (faults.length > 0) broken ??= `before step ${String(step)}: ${faults.join(', ')}`;
        }
      }
      expect(broken).toBeDefined();
    },
    TIMEOUT,
  );
});
