import { mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  localFileSystem,
  type Committable,
  type FileHandle,
  type FileSystem,
  type JobEnding,
  type SnapshotKind,
} from '@weir/core/contracts';
import { CrashFileSystem, sinkContext, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import {
  fileSink,
  readCommitted,
  textLines,
  type FileSinkOptions,
  type PreparedFile,
} from '../../../src/file/index.js';
import { put } from '../../support/files.js';

const OUT = '/data/out';
type Changes = Parameters<typeof sinkContext>[0];
const restored = (lineage: string, checkpointId: number): Changes => ({ restoredFrom: { lineage, checkpointId } });

/** One attempt of a job's sink, up to its writer; every step on its own. */
class Attempt {
  readonly #context;
  readonly #sink;
  #sequence = 0;

  constructor(disk: FileSystem, changes: Changes = {}, options: Partial<FileSinkOptions<string>> = {}) {
    this.#context = sinkContext({ uid: 'out', lineage: 'l1', ...changes });
    this.#sink = fileSink<string>({ dir: OUT, format: textLines(), fileSystem: disk, ...options });
  }
  look = async () => this.#sink.destination!(this.#context);
  prepareSink = async (): Promise<void> => this.#sink.prepare?.(this.#context);
  end = async (ending: JobEnding = { kind: 'finished' }): Promise<void> =>
    this.#sink.jobEnded?.(this.#context.job, ending);
  async open() {
    await this.look();
    await this.prepareSink();
    const writer = await this.#sink.open(this.#context);
    const committer = await this.#sink.committer!(this.#context);
    const { job, lineage, uid, attempt } = this.#context;
    return {
      write: async (...lines: string[]) => writer.write(lines),
      prepare: async (checkpointId: number, kind: SnapshotKind = 'checkpoint') =>
        ((await writer.prepareCommit?.(checkpointId, kind)) ?? []).map((payload): Committable<PreparedFile> => {
          const identity = { job, lineage, sink: uid, attempt, checkpointId, subtask: 0, sequence: this.#sequence++ };
          return { identity, payload };
        }),
      commit: async (committables: readonly Committable<PreparedFile>[]) =>
        (await committer.commit(committables, this.#context.signal)).map((outcome) =>
          'error' in outcome ? `${outcome.kind}: ${(outcome.error as Error).message}` : outcome.kind,
        ),
    };
  }
}
async function commitOne(
  disk: FileSystem,
  id: number,
  line: string,
  changes: Changes = {},
): Promise<Committable<PreparedFile>[]> {
  const running = await new Attempt(disk, changes).open();
  await running.write(line);
  const prepared = await running.prepare(id);
  expect(await running.commit(prepared)).toEqual(['committed']);
  return prepared;
}
const seen = (disk: FileSystem): Promise<string[]> => readCommitted(OUT, textLines(), disk);
const settled = (): Promise<void> => new VirtualClock().settle();
const hidden = (disk: CrashFileSystem, ending: string): string[] =>
  disk.paths().filter((name) => name.endsWith(ending));
async function takeAway(disk: CrashFileSystem): Promise<void> {
  for (const name of disk.paths()) if (/^\/data\/out\/[^./]/.test(name)) await disk.remove(name);
}

describe('an output folder', () => {
  test('is the same wherever it is moved to, under any path, and another one if it is made anew', async () => {
    const above = await mkdtemp(path.join(tmpdir(), 'weir-folder-'));
    const idAt = async (name: string): Promise<string> =>
      (await new Attempt(localFileSystem(), {}, { dir: path.join(above, name) }).look()).id;
    const id = await idAt('out');
    expect(await idAt('out')).toBe(id);
    await symlink(path.join(above, 'out'), path.join(above, 'link'));
    expect(await idAt('link')).toBe(id);
    await rename(path.join(above, 'out'), path.join(above, 'moved'));
    expect(await idAt('moved')).toBe(id);
    expect(await idAt('out2')).not.toBe(id);
    expect(await readdir(path.join(above, 'moved'))).toEqual(['.weir']);
    await rm(above, { recursive: true });
  });

  test('has one identity for all who ask at once for the first time', async () => {
    const disk = new CrashFileSystem();
    const all = await Promise.all(Array.from({ length: 5 }, async () => (await new Attempt(disk).look()).id));
    expect(new Set(all).size).toBe(1);
  });

  test('whose identity is damaged is no new one: that is said', async () => {
    const disk = new CrashFileSystem();
    await new Attempt(disk).look();
    await disk.remove(`${OUT}/.weir/destination`);
    await put(disk, `${OUT}/.weir/destination`, '{"format":"weir-dest');
    await expect(new Attempt(disk).look()).rejects.toMatchObject({ code: 'SINK_FAILED', recoverable: false });
  });
});

describe('finished files that a consumer takes away', () => {
  test.each(['running', 'killed', 'ended'])('are published for all that, while the job is %s', async (how) => {
    const disk = new CrashFileSystem();
    const first = new Attempt(disk);
    const running = await first.open();
    await running.write('a');
    const prepared = await running.prepare(1);
    expect(await running.commit(prepared)).toEqual(['committed']);
    if (how === 'ended') await first.end();
    await takeAway(disk);
    const after = how === 'running' ? disk : disk.kill();
    for (const attempt of [2, 3]) {
      const again = await new Attempt(after, { attempt, ...restored('l1', 1) }).open();
      expect(await again.commit(prepared)).toEqual(['already-committed']);
    }
    expect(await seen(after)).toEqual([]);
  });

  test('are told from prepared ones that are lost, also once others of their checkpoint are committed', async () => {
    const disk = new CrashFileSystem();
    const running = await new Attempt(disk).open();
    await running.write('a');
    const one = await running.prepare(1);
    await running.write('b');
    const two = await running.prepare(1);
    await disk.remove(`${OUT}/${one[0]!.payload.pending}`);
    expect(await running.commit([...one, ...two])).toEqual([
      expect.stringMatching(/^failed.*COMMIT_FAILED/),
      'committed',
    ]);
    for (const attempt of [2, 3]) {
      const again = await new Attempt(disk, { attempt, ...restored('l1', 1) }).open();
      expect(await again.commit(one)).toEqual([expect.stringMatching(/^failed.*neither.*Put the file back/)]);
    }
  });

  test('that were published between a try and the next are no loss', async () => {
    const disk = new CrashFileSystem();
    const running = await new Attempt(disk).open();
    await running.write('a');
    const prepared = await running.prepare(1);
    disk.fail({ op: 'syncDirectory', path: /out$/ }, 'EIO');
    await expect(running.commit(prepared)).rejects.toMatchObject({ code: 'EIO' });
    await takeAway(disk);
    expect(await running.commit(prepared)).toEqual(['already-committed']);
  });
});

describe('what is published', () => {
  test('is not replaced by a prepared file of the same name', async () => {
    const disk = new CrashFileSystem();
    const [prepared] = await commitOne(disk, 1, 'one');
    const { pending } = prepared!.payload;
    for (const [content, outcome] of [
      ['one\n', /^already-committed/],
      ['two\n', /^failed.*both there, and not the same/],
    ] as const) {
      await disk.remove(`${OUT}/${pending}`);
      await put(disk, `${OUT}/${pending}`, content);
      const again = await new Attempt(disk, { attempt: 2, ...restored('l1', 1) }).open();
      expect(await again.commit([prepared!])).toEqual([expect.stringMatching(outcome)]);
      expect(await seen(disk)).toEqual(['one']);
    }
  });

  test('is added to where attempt numbers come again, as after a backup was put back', async () => {
    const disk = new CrashFileSystem();
    await commitOne(disk, 1, 'one', { attempt: 2, ...restored('l1', 0) });
    await commitOne(disk, 1, 'two', { attempt: 2, ...restored('l1', 0) });
    expect((await seen(disk)).sort()).toEqual(['one', 'two']);
  });

  test('is told to a job that goes back behind it, with where it came from', async () => {
    const disk = new CrashFileSystem();
    await commitOne(disk, 4, 'one');
    await takeAway(disk);
    await commitOne(disk, 9, 'two', { lineage: 'l2', ...restored('l1', 4) });
    const { committed } = await new Attempt(disk, restored('l1', 2)).look();
    expect(committed).toMatchObject([
      { lineage: 'l1', checkpointId: 4 },
      { lineage: 'l2', checkpointId: 9, from: { lineage: 'l1', checkpointId: 4 } },
    ]);
  });
});

describe('two jobs with one output folder', () => {
  test.each([
    ['of the same name', 'test'],
    ['of different names', 'other'],
  ])('%s that are started together do not both publish', async (_what, job) => {
    for (let lead = 0; lead < 40; lead++) {
      const disk = new CrashFileSystem();
      const outcomes: string[] = [];
      const live = async (changes: Changes, line: string, steps: number): Promise<void> => {
        for (let i = 0; i < steps; i++) await Promise.resolve();
        try {
          const running = await new Attempt(disk, changes).open();
          await running.write(line);
          outcomes.push(...(await running.commit(await running.prepare(1))));
        } catch (error) {
          outcomes.push(String(error));
        }
      };
      await Promise.all([live({ lineage: 'a' }, 'a', lead), live({ lineage: 'b', job }, 'b', 40 - lead)]);
      expect(await seen(disk)).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome.includes('SINK_DIRECTORY_OCCUPIED'))).toHaveLength(1);
    }
  });

  test('leave the file alone that the other is writing, if one of them is refused', async () => {
    const disk = new CrashFileSystem();
    const running = await new Attempt(disk).open();
    await running.write('a');
    await running.commit(await running.prepare(1));
    await running.write('b');
    await settled();
    const unfinished = hidden(disk, '.inprogress');
    expect(unfinished).toHaveLength(1);
    const occupied = { code: 'SINK_DIRECTORY_OCCUPIED', recoverable: false };
    await expect(new Attempt(disk, { lineage: 'l2' }).open()).rejects.toMatchObject(occupied);
    await expect(new Attempt(disk, { lineage: 'l2', job: 'other' }).open()).rejects.toMatchObject(occupied);
    await takeAway(disk);
    await expect(new Attempt(disk, { lineage: 'l2' }).open()).rejects.toMatchObject(occupied);
    await expect(new Attempt(disk, { lineage: 'l2', job: 'other' }).open()).rejects.toMatchObject(occupied);
    const elsewhere = { lineage: 'l3', job: 'other', ...restored('l3', 7) };
    await expect(new Attempt(disk, elsewhere).open()).rejects.toMatchObject(occupied);
    expect(hidden(disk, '.inprogress')).toEqual(unfinished);
    expect(await running.commit(await running.prepare(2))).toEqual(['committed']);
  });

  test('may write there one after the other, and beside each other with append', async () => {
    const disk = new CrashFileSystem();
    const first = new Attempt(disk);
    await first.open();
    await first.end();
    await takeAway(disk);
    const second = new Attempt(disk, { lineage: 'l2', job: 'other' });
    await second.open();
    await new Attempt(disk, { lineage: 'l3', job: 'third' }, { append: true }).open();
  });

  test.each<[string, JobEnding | undefined]>([
    ['was stopped', { kind: 'stopped' }],
    ['was cancelled', { kind: 'cancelled' }],
    ['failed', { kind: 'failed', error: new Error('it failed') }],
    ['was killed', undefined],
  ])('a fresh start is refused behind a run that %s, though all its output was taken away', async (_what, ending) => {
    const disk = new CrashFileSystem();
    const first = new Attempt(disk);
    const running = await first.open();
    await running.write('a');
    await running.commit(await running.prepare(1));
    if (ending !== undefined) await first.end(ending);
    await takeAway(disk);
    const fresh = { lineage: 'l2' };
    await expect(new Attempt(disk, fresh).open()).rejects.toThrow(
      /SINK_DIRECTORY_OCCUPIED.*up to checkpoint 1.*not finished/,
    );
    await new Attempt(disk, fresh, { append: true }).open();
    await new Attempt(disk, { lineage: 'l3' }, { prefix: 'other' }).open();
    await new Attempt(disk, { lineage: 'l4', ...restored('l1', 1) }).open();
  });

  test('a fresh start is nothing to refuse behind a run that has finished, until somebody goes on with that', async () => {
    const disk = new CrashFileSystem();
    const first = new Attempt(disk);
    const running = await first.open();
    await running.write('a');
    await running.commit(await running.prepare(1));
    await first.end();
    await takeAway(disk);
    const second = new Attempt(disk, { lineage: 'l2' });
    await second.open();
    await second.end({ kind: 'cancelled' });
    await new Attempt(disk, { attempt: 2, ...restored('l1', 1) }).open();
    await expect(new Attempt(disk, { lineage: 'l3' }).open()).rejects.toThrow(/SINK_DIRECTORY_OCCUPIED/);
  });

  test('a fresh start takes over from one that died before it had published anything', async () => {
    const disk = new CrashFileSystem();
    const dead = await new Attempt(disk).open();
    await dead.write('a');
    await settled();
    const prepared = await dead.prepare(1);
    await dead.write('b');
    await settled();
    await commitOne(disk.kill(), 1, 'c', { lineage: 'l2' });
    const after = await new Attempt(disk, { lineage: 'l2', attempt: 2, ...restored('l2', 0) }).open();
    expect(hidden(disk, '.inprogress')).toEqual([]);
    // Should it be alive after all, it is told.
    await after.write('d');
    expect(await dead.commit(prepared)).toEqual([expect.stringMatching(/^failed.*SINK_DIRECTORY_OCCUPIED/)]);
  });
});

describe('prepared files of dead attempts', () => {
  test('go once nobody can ask for them any more, and not before', async () => {
    const disk = new CrashFileSystem();
    const first = await new Attempt(disk).open();
    await first.write('a');
    const covered = await first.prepare(1);
    await first.write('b');
    await first.prepare(2);
    const second = await new Attempt(disk, { attempt: 2, ...restored('l1', 1) }).open();
    expect(hidden(disk, '.pending')).toHaveLength(2);
    await second.commit(covered);
    await second.write('b');
    const prepared = await second.prepare(2);
    expect(hidden(disk, '.pending')).toEqual([`${OUT}/${prepared[0]!.payload.pending}`]);
    await second.commit(prepared);
    expect(hidden(disk, '.pending')).toEqual([]);
    expect(await seen(disk)).toEqual(['a', 'b']);
  });

  test('stay where a savepoint holds them, or another history, sink or job', async () => {
    const disk = new CrashFileSystem();
    for (const changes of [{}, { lineage: 'l0' }, { uid: 'other' }]) {
      const running = await new Attempt(disk, changes).open();
      await running.write('a');
      await running.prepare(1, changes.lineage === undefined && changes.uid === undefined ? 'savepoint' : 'checkpoint');
    }
    const last = await new Attempt(disk, { attempt: 2, ...restored('l1', 0) }).open();
    await last.prepare(2);
    expect(hidden(disk, '.pending')).toHaveLength(3);
  });
});

describe('what the folder remembers outlives a loss of power', () => {
  /** A disk that forgets to sync files, or folders, whose path matches. */
  const forgetting = (disk: CrashFileSystem, target: 'file' | 'folder' | undefined, which: RegExp): FileSystem => ({
    open: async (name, mode): Promise<FileHandle> => {
      const handle = await disk.open(name, mode);
      const isForgotten = target === 'file' && which.test(name);
      return { ...handle, sync: () => (isForgotten ? Promise.resolve() : handle.sync()) };
    },
    readFile: (name) => disk.readFile(name),
    readDirectory: (name) => disk.readDirectory(name),
    stat: (name) => disk.stat(name),
    lstat: (name) => disk.lstat(name),
    realPath: (name) => disk.realPath(name),
    makeDirectory: (name) => disk.makeDirectory(name),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    removeTree: (name) => disk.removeTree(name),
    syncDirectory: (name) => (target === 'folder' && which.test(name) ? Promise.resolve() : disk.syncDirectory(name)),
  });
  /** What is wrong after the power was lost at any step of making the folder known and committing to it. */
  const losses = async (target: 'file' | 'folder' | undefined, which: RegExp): Promise<ReadonlySet<string>> => {
    const found = new Set<string>();
    for (let step = 0; ; step++) {
      const disk = new CrashFileSystem();
      const told: { id?: string; prepared: Committable<PreparedFile>[]; committed: boolean; kept: boolean } = {
        prepared: [],
        committed: false,
        kept: false,
      };
      const run = async (): Promise<void> => {
        const fileSystem = forgetting(disk, target, which);
        told.id = (await new Attempt(fileSystem).look()).id;
        const running = await new Attempt(fileSystem).open();
        await running.write('a');
        const prepared = await running.prepare(3);
        told.prepared = prepared;
        await running.commit(prepared);
        told.committed = true;
        await running.prepare(4, 'savepoint');
        told.kept = true;
      };
      disk.stopAt(step);
      const over = run();
      const isOver = await Promise.race([over.then(() => true), disk.stopped.then(() => false)]);
      const isVisible = (await seen(disk.kill()).catch(() => [])).length > 0;
      const after = disk.crash();
      try {
        const { id, committed } = await new Attempt(after).look();
        if (told.id !== undefined && told.id !== id) found.add('the folder is another one');
        const mark = committed.find(({ lineage }) => lineage === 'l1')?.checkpointId ?? 0;
        if ((isVisible || told.committed) && mark < 3) found.add('the mark is behind what could be seen');
        const notes = after.paths().some((name) => name.includes('/.weir/kept-'));
        if (told.kept && !notes) found.add('the savepoint is forgotten');
      } catch (error) {
        found.add(`the folder cannot be used: ${String(error).slice(0, 40)}`);
      }
      if (isOver) return found;
    }
  };

  test('at any step', async () => {
    expect(await losses(undefined, /^$/)).toEqual(new Set());
  });

  test.each([
    ['the identity', 'file', /\.weir\..*\/destination/, 'the folder cannot be used: WeirError'],
    ['the folder that the identity is put into', 'folder', /\/out$/, 'the folder is another one'],
    ['the mark', 'file', /\/mark-/, 'the mark is behind what could be seen'],
    ['the folder of the mark', 'folder', /\/\.weir$/, 'the mark is behind what could be seen'],
    ['the folder of the note on a savepoint', 'folder', /\/\.weir$/, 'the savepoint is forgotten'],
  ] as const)('but not without the sync of %s', async (_what, target, which, loss) => {
    const found = [...(await losses(target, which))];
    expect(found.some((each) => each.startsWith(loss))).toBe(true);
  });
});
