import { isWeirError, messageOf } from '@weir/core/contracts';
import { exportJsonLines, openCheckpoint } from '@weir/core/state-reader';
import type { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test, vi } from 'vitest';
import { filesOn, lineSink, startEveryState } from './support/every-state-job.js';
import { CASES, loaded } from './support/golden-cases.js';
import { filesBelow, golden, put } from './support/golden-files.js';

// Every file of a checkpoint in turn is damaged in every manner. A job that should restore it, and whoever reads it, gets an error that names the
// checkpoint, and never wrong state.

vi.setConfig({ testTimeout: 60_000 });

const DAMAGE: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array | undefined>> = {
  'is removed': () => undefined,
  'is empty': () => new Uint8Array(),
  'has lost its last byte': (bytes) => bytes.slice(0, -1),
  'is zeroed': (bytes) => new Uint8Array(bytes.length),
  'has a bit flipped in its middle': (bytes) => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 4 : byte)),
};

async function damage(disk: CrashFileSystem, path: string, manner: string): Promise<void> {
  const bytes = DAMAGE[manner]!(await disk.readFile(path));
  await disk.remove(path);
  if (bytes !== undefined) await put(disk, path, bytes);
}

/** What comes of a job that starts from it: the error, or how it ended. */
async function restoring(each: (typeof CASES)[number], disk: CrashFileSystem, pointer: string): Promise<unknown> {
  try {
    const job = await startEveryState({
      storage: filesOn(disk, each.inlineThreshold),
      records: 30,
      restoreFrom: pointer,
      sink: lineSink(),
      checkpointing: each.checkpointing,
      ...(each.backend && { backend: each.backend }),
    });
    await job.ended();
    return await job.job.done;
  } catch (error) {
    return error;
  }
}

async function reading(each: (typeof CASES)[number], disk: CrashFileSystem, pointer: string): Promise<unknown> {
  try {
    const backends = each.backend === undefined ? [] : [each.backend];
    const checkpoint = await openCheckpoint(pointer, { storage: filesOn(disk, each.inlineThreshold), backends });
    for await (const _ of exportJsonLines(checkpoint));
    return 'read';
  } catch (error) {
    return error;
  }
}

/** The names of all files that it consists of. */
async function partsOf(
  { inlineThreshold }: (typeof CASES)[number],
  disk: CrashFileSystem,
  pointer: string,
): Promise<ReadonlySet<string>> {
  const { metadata } = await openCheckpoint(pointer, { storage: filesOn(disk, inlineThreshold) });
  const blobs = metadata.operators
    .flatMap(({ subtasks }) => subtasks)
    .flatMap(({ keyed, operator, committables, channels }) => [
      ...keyed.flatMap((handle) => (handle.format === 'native' ? handle.files.map(({ blob }) => blob) : [handle.blob])),
      ...[...operator, ...channels, ...(committables === undefined ? [] : [committables])].map(({ blob }) => blob),
    ]);
  return new Set(['_metadata', ...blobs.flatMap((blob) => (blob.kind === 'inline' ? [] : [blob.path]))]);
}

describe.each(CASES)('$name', (each) => {
  const stored = golden(each.name);

  test.each(Object.keys(DAMAGE))('a file that %s is noticed, whichever it is', async (manner) => {
    const { disk: whole, pointer } = await loaded(stored, each);
    const files = await filesBelow(whole, '/golden');
    const parts = await partsOf(each, whole, pointer);
    const harmless: string[] = [];
    for (const [path] of files) {
      const { disk } = await loaded(stored, each);
      await damage(disk, path, manner);
      for (const outcome of [await restoring(each, disk, pointer), await reading(each, disk, pointer)]) {
        if (!(outcome instanceof Error)) {
          harmless.push(path);
          continue;
        }
        const code =
          path.endsWith('_metadata') && manner === 'is removed' ? 'CHECKPOINT_NONE' : 'CHECKPOINT_UNREADABLE';
        expect(isWeirError(outcome, code), `${path} ${manner}: ${messageOf(outcome)}`).toBe(true);
        expect(messageOf(outcome)).toMatch(/chk-3|heckpoint 3 |savepoint/);
        expect(messageOf(outcome)).toContain(path.endsWith('_metadata') ? '/golden/' : path.split('/').at(-1));
      }
    }
    // What lies beside the checkpoint and is not of it: shared files that an earlier one alone consisted of.
    const foreign = files.map(([path]) => path).filter((path) => !parts.has(path.split('/').at(-1) as string));
    expect(new Set(harmless)).toEqual(new Set(foreign));
  });
});
