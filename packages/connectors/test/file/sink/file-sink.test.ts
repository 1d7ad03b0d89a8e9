import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localFileSystem, type Committable, type FileSystem } from '@weir/core/contracts';
import {
  CrashFileSystem,
  sinkContext,
  sinkSuite,
  tornBy,
  VirtualClock,
  ZEROED_BYTES,
  NAMES_WITHOUT_BYTES,
  seededRandom,
  type CrashOutcome,
  type SinkFixture,
} from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import {
  csv,
  fileSink,
  jsonLines,
  readCommitted,
  textLines,
  type FileSinkOptions,
  type PreparedFile,
} from '../../../src/file/index.js';
import { breakable } from '../../support/breakable.js';
import { filesOf, put, textOf } from '../../support/files.js';

interface Row {
  readonly n: number;
  readonly text: string;
}
const row = (n: number): Row => ({ n, text: `ż "${String(n)}",\n` });

describe('a sink of files', () => {
  const fixture = (disk: FileSystem, dir: string): SinkFixture<Row> => {
    const removeAll = async (which: RegExp): Promise<void> => {
      for (const { name } of await disk.readDirectory(dir)) if (which.test(name)) await disk.remove(`${dir}/${name}`);
    };
    const { fileSystem, line } = breakable(disk);
    return {
      sink: () => fileSink<Row>({ dir, format: jsonLines(), rolling: { maxBytes: 20_000 }, fileSystem }),
      record: row,
      visible: () => readCommitted(dir, jsonLines<Row>(), disk),
      losePrepared: () => removeAll(/^\..*\.pending$/),
      takeVisible: () => removeAll(/^[^.]/),
      line,
    };
  };
  const capabilities = { grade: 'exactly-once' } as const;
  sinkSuite(test, { capabilities, create: () => fixture(new CrashFileSystem(), 'out/deep') });
  describe('on a real disk', () => {
    sinkSuite(test, {
      capabilities,
      async create() {
        const folder = await mkdtemp(path.join(tmpdir(), 'weir-sink-'));
        const made = fixture(localFileSystem(), path.join(folder, 'out'));
        return { ...made, dispose: () => rm(folder, { recursive: true }) };
      },
    });
  });
});

const OUT = 'a/out';
const RESTORED = { lineage: 'l1', checkpointId: 1 };
/** An attempt of a job, as far as the sink sees it. */
async function attempt(
  disk: FileSystem,
  number: number,
  options: Partial<FileSinkOptions<string>> = {},
  changes: Parameters<typeof sinkContext>[0] = {},
) {
  const sink = fileSink<string>({ dir: OUT, format: textLines(), fileSystem: disk, ...options });
  const published: PreparedFile[] = [];
  const context = sinkContext({
    attempt: number,
    restoredFrom: number > 1 ? { lineage: 'l1', checkpointId: 1 } : undefined,
    uid: 'out',
    lineage: 'l1',
    ...changes,
  });
  const destination = await sink.destination!(context);
  await sink.prepare?.(context);
  const committer = await sink.committer!(context);
  const commitNow = async (payloads: readonly unknown[]): Promise<void> => {
    published.push(...(payloads as PreparedFile[]));
    await committer.commit(
      (payloads as PreparedFile[]).map((payload) => committable(payload)),
      context.signal,
    );
  };
  const writer = await sink.open({ ...context, commitNow });
  const prepare = async (id: number): Promise<Committable<PreparedFile>[]> =>
    ((await writer.prepareCommit?.(id, 'checkpoint')) ?? []).map((payload) => committable(payload, id));
  const commit = (committables: readonly Committable<PreparedFile>[]) => committer.commit(committables, context.signal);
  return { sink, writer, prepare, commit, published, destination };
}
function committable(payload: PreparedFile, checkpointId = 0, lineage = 'l1'): Committable<PreparedFile> {
  const identity = { job: 'test', lineage, sink: 'out', attempt: 1, checkpointId, subtask: 0, sequence: 0 };
  return { identity, payload };
}
const seen = (disk: FileSystem): Promise<string[]> => readCommitted(OUT, textLines(), disk);
/** All that can go on without anybody's doing has gone on. */
const settled = (): Promise<void> => new VirtualClock().settle();
/** Files of output, without what the folder remembers, and without the part of a name that differs from attempt to attempt. */
const filesIn = (disk: CrashFileSystem): string[] =>
  disk
    .paths()
    .filter((name) => !name.endsWith('/') && !name.includes('/.weir/'))
    .map((name) => name.replace(/\.[a-z\d]{10}-/, '-'));

describe('the names of its files', () => {
  test('tell lineage, sink, attempt, subtask and sequence, and where they are in their life', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 3, { prefix: 'totals' }, { subtask: 2, uid: 'my out' });
    await writer.write(['a']);
    await writer.prepareCommit?.(1, 'checkpoint');
    await writer.write(['b']);
    const [prepared] = await prepare(2);
    expect(filesIn(disk)).toEqual([
      '/a/out/.totals-l1.my%20out-3-2-000000.txt.test.pending',
      '/a/out/.totals-l1.my%20out-3-2-000001.txt.test.pending',
    ]);
    await commit([prepared!]);
    expect(filesIn(disk)).toContain('/a/out/totals-l1.my%20out-3-2-000001.txt');
  });
  test('may have any characters in job, sink and lineage', async () => {
    for (const odd of ['a/b', '..', 'x-1-2', '%41', 'ż.y', 'part-l1.out-1-0-000000.txt']) {
      const disk = new CrashFileSystem();
      const names = { job: odd, uid: odd, lineage: odd };
      const first = await attempt(disk, 1, {}, names);
      await first.writer.write(['a']);
      await first.commit(await first.prepare(1));
      await first.writer.write(['b']);
      await settled();
      const before = filesIn(disk).length;
      const second = await attempt(disk, 2, {}, names);
      expect(filesIn(disk)).toHaveLength(before - 1);
      await second.writer.write(['c']);
      await second.commit(await second.prepare(2));
      expect(await seen(disk)).toEqual(['a', 'c']);
      await expect(attempt(disk, 1, {}, { ...names, lineage: 'l2' })).rejects.toThrow(/SINK_DIRECTORY_OCCUPIED/);
    }
  });
  test('must fit into a file system', async () => {
    const { writer } = await attempt(new CrashFileSystem(), 1, {}, { uid: 'x'.repeat(250) });
    expect(() => writer.write(['a'])).toThrow(/CONFIG_INVALID.*longer than 255 bytes/);
  });
});

describe('left-overs of dead attempts', () => {
  test('that were in progress are removed, those of this sink and job only', async () => {
    const disk = new CrashFileSystem();
    for (const changes of [{}, { lineage: 'l2' }, { uid: 'other' }, { job: 'other' }]) {
      const { writer } = await attempt(disk, 1, { append: changes.job !== undefined }, changes);
      await writer.write(['a']);
      await settled();
    }
    expect(filesIn(disk)).toHaveLength(3);
    await attempt(disk, 2);
    expect(filesIn(disk)).toEqual([
      '/a/out/.part-l1.other-1-0-000000.txt.test.inprogress',
      '/a/out/.part-l1.out-1-0-000000.txt.other.inprogress',
    ]);
  });
  test('that were rolled but not prepared are removed, those that were prepared are not', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare } = await attempt(disk, 1, { rolling: { maxBytes: 2 } });
    await writer.write(['a']);
    await prepare(1);
    await writer.write(['b']);
    await writer.write(['c']);
    await attempt(disk, 2);
    expect(filesIn(disk)).toEqual(['/a/out/.part-l1.out-1-0-000000.txt.test.pending']);
  });
  test('do not stay when a writer is closed', async () => {
    const disk = new CrashFileSystem();
    const { writer } = await attempt(disk, 1, { rolling: { maxBytes: 3 } });
    await writer.write(['aa']);
    await writer.write(['b']);
    await writer.close();
    expect(filesIn(disk)).toEqual([]);
    expect(disk.openHandles).toBe(0);
  });
});

describe('a folder with files of an earlier run', () => {
  const used = async () => {
    const disk = await filesOf({ [`${OUT}/readme.txt`]: 'x', [`${OUT}/part-of-something.txt`]: 'y' });
    const { writer, prepare, commit } = await attempt(disk, 1);
    await writer.write(['old']);
    await commit(await prepare(1));
    return disk;
  };
  const fresh = { lineage: 'l2' };
  const finals = (disk: CrashFileSystem): string[] => filesIn(disk).map((name) => path.basename(name));

  test('refuses a fresh start, and says how to go on', async () => {
    const disk = await used();
    const failure = attempt(disk, 1, {}, fresh);
    await expect(failure).rejects.toMatchObject({ code: 'SINK_DIRECTORY_OCCUPIED', recoverable: false });
    await expect(failure).rejects.toThrow(
      /out of job test.*a\/out.*1 files.*part-l1.out-1\.[a-z\d]{10}-0-000000.txt.*append.*overwrite/,
    );
  });
  test('is added to with append', async () => {
    const disk = await used();
    const { writer, prepare, commit } = await attempt(disk, 1, { append: true }, fresh);
    await writer.write(['new']);
    await commit(await prepare(1));
    expect(finals(disk)).toContain('part-l1.out-1-0-000000.txt');
    expect(finals(disk)).toContain('part-l2.out-1-0-000000.txt');
  });
  test('is emptied of them with overwrite, and of nothing else', async () => {
    const disk = await used();
    await attempt(disk, 1, { overwrite: true }, fresh);
    expect(finals(disk).sort()).toEqual(['part-of-something.txt', 'readme.txt']);
  });
  test('keeps what this lineage has published when an attempt starts over', async () => {
    const disk = await used();
    await attempt(disk, 2, { overwrite: true }, { restoredFrom: undefined });
    expect(finals(disk)).toContain('part-l1.out-1-0-000000.txt');
  });
  test('is gone on with by a restored job, whatever its lineage', async () => {
    const disk = await used();
    await attempt(disk, 2, { overwrite: true }, { ...fresh, restoredFrom: RESTORED });
    expect(finals(disk)).toContain('part-l1.out-1-0-000000.txt');
  });
  test('is free for another prefix', async () => {
    const disk = await used();
    await attempt(disk, 1, { prefix: 'part-x' }, fresh);
    await attempt(disk, 1, { prefix: 'pa', overwrite: true }, fresh);
    expect(finals(disk)).toContain('part-l1.out-1-0-000000.txt');
  });
});

describe('a loss of power', () => {
  const outcomes: Record<string, CrashOutcome> = {
    'that loses all that was not synced': {},
    'that leaves names without bytes': NAMES_WITHOUT_BYTES,
    'that leaves zeroes for bytes': ZEROED_BYTES,
    'that tears the last write': tornBy(seededRandom(1)),
  };
  for (const [name, outcome] of Object.entries(outcomes)) {
    test(`${name} takes nothing of what is prepared`, async () => {
      const disk = new CrashFileSystem();
      const { writer, prepare } = await attempt(disk, 1, { rolling: { maxBytes: 10 } });
      await writer.write(['one', 'two']);
      await writer.write(['three', 'four']);
      await writer.write(['five']);
      const prepared = await prepare(1);
      await writer.write(['six']);
      const after = disk.crash(outcome);
      const second = await attempt(after, 2);
      expect((await second.commit(prepared)).map(({ kind }) => kind)).toEqual(['committed', 'committed']);
      expect(await seen(after)).toEqual(['one', 'two', 'three', 'four', 'five']);
    });
    test(`${name} takes nothing of what is committed`, async () => {
      const disk = new CrashFileSystem();
      const { writer, prepare, commit } = await attempt(disk, 1);
      await writer.write(['one']);
      await commit(await prepare(1));
      expect(await seen(disk.crash(outcome))).toEqual(['one']);
    });
    test(`${name} takes nothing that a process had renamed which died before the names were durable`, async () => {
      const disk = new CrashFileSystem();
      const { writer, prepare, commit } = await attempt(disk, 1);
      await writer.write(['one']);
      const prepared = await prepare(1);
      disk.hold({ op: 'syncDirectory', path: /out$/ });
      void commit(prepared);
      await attempt(disk.kill(), 2);
      const killed = disk.kill();
      expect(filesIn(killed)).toEqual(['/a/out/part-l1.out-1-0-000000.txt']);
      const second = await attempt(killed, 2);
      expect(await second.commit(prepared)).toEqual([{ kind: 'already-committed' }]);
      expect(await seen(killed.crash(outcome))).toEqual(['one']);
    });
  }

  test('takes nothing if the folder was made by a process that died before its name was durable', async () => {
    const made = new CrashFileSystem();
    made.hold({ op: 'syncDirectory', path: /a$/ });
    void attempt(made, 1);
    await settled();
    const disk = made.kill();
    expect(disk.paths()).toContain('/a/out/');
    const { writer, prepare, commit } = await attempt(disk, 2);
    await writer.write(['one']);
    await commit(await prepare(1));
    expect(await seen(disk.crash())).toEqual(['one']);
  });

  test('at any step of a run leaves nothing but whole files of what was committed', async () => {
    const run = async (
      disk: CrashFileSystem,
      done: { prepared: Committable<PreparedFile>[]; committed: number },
    ): Promise<void> => {
      const { writer, prepare, commit } = await attempt(disk, 1, { rolling: { maxBytes: 8 } });
      for (let checkpoint = 1; checkpoint <= 3; checkpoint++) {
        for (const part of ['a', 'b', 'c'])
          await writer.write([`${part}${String(checkpoint)}`, 'x'.repeat(checkpoint)]);
        done.prepared.push(...(await prepare(checkpoint)));
        await commit(done.prepared);
        done.committed = checkpoint;
      }
    };
    const whole = new CrashFileSystem();
    await run(whole, { prepared: [], committed: 0 });
    const steps = whole.operations.length;
    const all = await seen(whole);
    expect(all).toHaveLength(18);
    for (let step = 0; step < steps; step++) {
      const disk = new CrashFileSystem();
      const done = { prepared: [] as Committable<PreparedFile>[], committed: 0 };
      disk.stopAt(step);
      void run(disk, done);
      await disk.stopped;
      for (const after of [
        disk.kill(),
        disk.crash(),
        disk.crash(NAMES_WITHOUT_BYTES),
        disk.crash(tornBy(seededRandom(step))),
      ]) {
        const { commit } = await attempt(after, 2);
        const published = await seen(after).catch(() => []);
        expect(published.slice(0, done.committed * 6)).toEqual(all.slice(0, done.committed * 6));
        expect(await commit(done.prepared)).toHaveLength(done.prepared.length);
        expect(await seen(after)).toEqual(
          all.slice(0, done.prepared.length === 0 ? 0 : done.prepared.at(-1)!.identity.checkpointId * 6),
        );
      }
    }
  });
});

describe('a commit', () => {
  test('that finds its file neither prepared nor published fails with the file and the checkpoint', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1);
    await writer.write(['one']);
    const prepared = await prepare(7);
    await disk.remove(`${OUT}/${prepared[0]!.payload.pending}`);
    const [outcome] = await commit(prepared);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'COMMIT_FAILED' } });
    expect(outcome).toHaveProperty(
      'error.message',
      expect.stringMatching(/out of job test.*checkpoint 7.*a\/out.*part-l1.out-1\.[a-z\d]{10}-0-000000/),
    );
  });
  test.each(['pending', 'final'] as const)('that finds its %s file cut off fails', async (name) => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1);
    await writer.write(['one']);
    const prepared = await prepare(1);
    await disk.remove(`${OUT}/${prepared[0]!.payload.pending}`);
    await put(disk, `${OUT}/${prepared[0]!.payload[name]}`, 'on');
    const [outcome] = await commit(prepared);
    expect(outcome).toHaveProperty('error.message', expect.stringMatching(/has 2 instead of 4 bytes/));
  });
  test('that the disk refuses is tried again, and the others are not', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1);
    await writer.write(['one']);
    const one = await prepare(1);
    await writer.write(['two']);
    const both = [...one, ...(await prepare(2))];
    disk.fail({ op: 'rename', path: /pending$/ }, 'EIO');
    expect((await commit(both)).map(({ kind }) => kind)).toEqual(['retry', 'committed']);
    expect((await commit(both)).map(({ kind }) => kind)).toEqual(['committed', 'already-committed']);
    expect(await seen(disk)).toEqual(['one', 'two']);
  });
  test('whose names cannot be made durable is tried again', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1);
    await writer.write(['one']);
    const prepared = await prepare(1);
    disk.fail({ op: 'syncDirectory', path: /out$/ }, 'EIO');
    await expect(commit(prepared)).rejects.toMatchObject({ code: 'EIO' });
    expect(await commit(prepared)).toEqual([{ kind: 'already-committed' }]);
  });
});

describe('a writer', () => {
  test('waits for the disk only when much is waiting already', async () => {
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1);
    const { reached, release } = disk.hold({ op: 'write' });
    const batch = ['x'.repeat(299_999)];
    expect(writer.write(batch)).toBeUndefined();
    await reached;
    expect(writer.write(batch)).toBeUndefined();
    expect(writer.write(batch)).toBeUndefined();
    expect(writer.write(batch)).toBeUndefined();
    const waiting = writer.write(batch);
    expect(waiting).toBeInstanceOf(Promise);
    release();
    await waiting;
    await commit(await prepare(1));
    expect(await seen(disk)).toHaveLength(5);
  });
  test('that the disk fails says so, and does not go on as if nothing had been', async () => {
    for (const op of ['open', 'write', 'sync', 'close', 'rename', 'syncDirectory'] as const) {
      const disk = new CrashFileSystem();
      const { writer } = await attempt(disk, 1);
      disk.fail({ op }, 'ENOSPC');
      await writer.write(['one']);
      await expect(writer.prepareCommit?.(1, 'checkpoint')).rejects.toMatchObject({ code: 'ENOSPC' });
      await expect(writer.prepareCommit?.(2, 'checkpoint')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(() => writer.write(['two'])).toThrow('ENOSPC');
      await writer.close();
      expect(await seen(disk)).toEqual([]);
    }
  });
  test('that fails in the background says so at the next call', async () => {
    const disk = new CrashFileSystem();
    const { writer } = await attempt(disk, 1);
    disk.fail({ op: 'write' }, 'ENOSPC');
    expect(writer.write(['x'.repeat(400_000)])).toBeUndefined();
    await settled();
    expect(() => writer.write(['y'])).toThrow('ENOSPC');
    await writer.close();
    expect(disk.openHandles).toBe(0);
  });
  test('ends a file when it is large or old enough, and each checkpoint has all of them', async () => {
    const clock = new VirtualClock();
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1, { rolling: { maxBytes: 6, maxAgeMs: 1000 } }, { clock });
    await writer.write(['one', 'two']);
    await writer.write(['a']);
    await clock.advance(1000);
    await writer.write(['b']);
    await clock.advance(999);
    await writer.write(['c']);
    expect(await seen(disk)).toEqual([]);
    const prepared = await prepare(1);
    expect(prepared).toHaveLength(3);
    await commit(prepared);
    expect(await seen(disk)).toEqual(['one', 'two', 'a', 'b', 'c']);
    expect(clock.pendingTimers).toBe(0);
  });
  test('that fails to end an old file says so at the next call', async () => {
    const clock = new VirtualClock();
    const disk = new CrashFileSystem();
    const { writer } = await attempt(disk, 1, { rolling: { maxAgeMs: 1000 } }, { clock });
    await writer.write(['one']);
    disk.fail({ op: 'sync' }, 'EIO');
    await clock.advance(1000);
    await expect(writer.prepareCommit?.(1, 'checkpoint')).rejects.toMatchObject({ code: 'EIO' });
  });
  test('lets a record wait that comes while an old file ends', async () => {
    const clock = new VirtualClock();
    const disk = new CrashFileSystem();
    const { writer, prepare, commit } = await attempt(disk, 1, { rolling: { maxAgeMs: 1000 } }, { clock });
    await writer.write(['one']);
    const { reached, release } = disk.hold({ op: 'sync' });
    await clock.advance(1000);
    await reached;
    const waiting = writer.write(['two']);
    expect(waiting).toBeInstanceOf(Promise);
    release();
    await waiting;
    await commit(await prepare(1));
    expect(await seen(disk)).toEqual(['one', 'two']);
  });
});

describe('without checkpoints', () => {
  const logger = () => {
    const warnings: string[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      error: () => {},
      warn: (_: object, text: string) => warnings.push(text),
      child: () => log,
    };
    return { warnings, logger: log };
  };
  test('files appear when they are full or old enough, and at the end, and that is said', async () => {
    const clock = new VirtualClock();
    const disk = new CrashFileSystem();
    const { warnings, logger: log } = logger();
    const rolling = { maxBytes: 4, maxAgeMs: 1000 };
    const { writer, prepare, commit } = await attempt(
      disk,
      1,
      { rolling },
      { clock, checkpointing: false, logger: log },
    );
    expect(warnings).toEqual([expect.stringContaining('at least once')]);
    await writer.write(['one']);
    expect(await seen(disk)).toEqual(['one']);
    await writer.write(['2']);
    expect(await seen(disk)).toEqual(['one']);
    await clock.advance(1000);
    expect(await seen(disk)).toEqual(['one', '2']);
    await writer.write(['3']);
    await commit(await prepare(0));
    expect(await seen(disk)).toEqual(['one', '2', '3']);
  });
  test('nothing is said with checkpoints', async () => {
    const { warnings, logger: log } = logger();
    await attempt(new CrashFileSystem(), 1, {}, { logger: log });
    expect(warnings).toEqual([]);
  });
});

describe('options', () => {
  test.each([
    [{ append: true, overwrite: true }, /CONFIG_CONTRADICTION/],
    [{ rolling: { maxBytes: 0 } }, /CONFIG_INVALID.*maxBytes is 0/],
    [{ rolling: { maxAgeMs: 0 } }, /CONFIG_INVALID.*maxAgeMs is 0/],
    [{ rolling: { maxAgeMs: NaN } }, /CONFIG_INVALID.*maxAgeMs is NaN/],
    [{ prefix: '.x' }, /CONFIG_INVALID.*prefix/],
    [{ prefix: 'a/b' }, /CONFIG_INVALID.*prefix/],
  ])('%j are refused', (options, message) => {
    expect(() => fileSink({ dir: OUT, format: jsonLines(), ...options })).toThrow(message);
  });
});

describe('formats', () => {
  const written = async <T>(
    format: FileSinkOptions<T>['format'],
    ...batches: readonly (readonly T[])[]
  ): Promise<string> => {
    const disk = new CrashFileSystem();
    const sink = fileSink<T>({ dir: 'out', format, fileSystem: disk });
    const context = sinkContext();
    await sink.destination?.(context);
    await sink.prepare?.(context);
    const writer = await sink.open(context);
    for (const batch of batches) await writer.write(batch);
    const [prepared] = (await writer.prepareCommit?.(1, 'checkpoint')) ?? [];
    return prepared === undefined ? '' : textOf(disk, `out/${prepared.pending}`);
  };
  test('lines of text end with a line feed', async () => {
    expect(await written(textLines(), ['a', ''], [], ['ż'])).toBe('a\n\nż\n');
    await expect(written(textLines(), ['a\nb'])).rejects.toThrow(/SINK_FAILED.*line break/);
  });
  test('JSON has a line for each record', async () => {
    expect(await written(jsonLines(), [{ a: 'x\ny' }, null], [1])).toBe('{"a":"x\\ny"}\nnull\n1\n');
    for (const value of [undefined, () => 1, 1n]) {
      await expect(written(jsonLines(), [value])).rejects.toThrow(/SINK_FAILED/);
    }
  });
  test('CSV has a header in each file and quotes where they are needed', async () => {
    const format = csv({ columns: ['b', 'a.x'], header: true });
    const records = [
      { b: 1, 'a.x': 'x,"y"\n' },
      { b: true, 'a.x': null, c: 'left out' },
      { b: new Date(0), 'a.x': 2n },
    ];
    const text = 'b,a.x\n1,"x,""y""\n"\ntrue,\n1970-01-01T00:00:00.000Z,2\n';
    expect(await written(format, records.slice(0, 1), records.slice(1))).toBe(text);
  });
  test('CSV without columns has those of the first record of a file', async () => {
    expect(await written(csv({ header: true }), [{ a: 1, b: 2 }], [{ b: 3 }])).toBe('a,b\n1,2\n,3\n');
    expect(await written(csv({ delimiter: ';', quote: "'" }), [{ a: 'x;y', b: "'" }])).toBe("'x;y';''''\n");
  });
  test('a lone empty CSV field is no empty line', async () => {
    expect(await written(csv({ columns: ['a'] }), [{ a: '' }, { a: 'x' }])).toBe('""\nx\n');
  });
});

test('a real folder shows finished files under names without a dot only', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'weir-names-'));
  const sink = fileSink({ dir: path.join(folder, 'out'), format: jsonLines() });
  const context = sinkContext();
  await sink.destination?.(context);
  await sink.prepare?.(context);
  const writer = await sink.open(context);
  await writer.write([1, 2]);
  const [payload] = (await writer.prepareCommit?.(1, 'checkpoint')) ?? [];
  await writer.write([3]);
  const visible = async () => (await readdir(path.join(folder, 'out'))).filter((name) => !name.startsWith('.'));
  expect(await visible()).toEqual([]);
  await (await sink.committer!(context)).commit([committable(payload!)], context.signal);
  expect(await visible()).toEqual([payload?.final]);
  await writer.close();
  await rm(folder, { recursive: true });
});
