import { crc32 } from 'node:zlib';
import { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import type { BlobWriter, CheckpointLocation } from '../../src/contracts/checkpoint-storage.js';
import type { RestorePlan } from '../../src/contracts/coordinator.js';
import type { BlobHandle, FileBlob, SharedBlob } from '../../src/contracts/snapshot.js';
import type { CheckpointId } from '../../src/element/ids.js';
import { LocalCopies, type LocalCopiesOptions } from '../../src/host/local-copies.js';

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
/** More than is collected before the disk is asked. */
const LARGE = 'x'.repeat(200_000);

/** A storage that keeps files by their names, and tells which of them were read. */
class Remote {
  readonly files = new Map<string, Uint8Array>();
  readonly reads: string[] = [];
  isBroken = false;
  #next = 1;

  location(id: CheckpointId): CheckpointLocation {
    const blob = (handleOf: (path: string, bytes: Uint8Array) => BlobHandle): BlobWriter => {
      const chunks: Uint8Array[] = [];
      return {
        write: (chunk) => void chunks.push(Buffer.from(chunk)),
        finish: async () => {
          if (this.isBroken) throw new Error('the storage is gone');
          const bytes = Buffer.concat(chunks);
          const path = `blob/${String(this.#next++)}`;
          this.files.set(path, bytes);
          return handleOf(path, bytes);
        },
        abort: () => Promise.resolve(),
      };
    };
    return {
      id,
      pointer: `chk-${String(id)}`,
      complete: false,
      createBlob: () =>
        blob((path, bytes) =>
          bytes.length < 10
            ? { kind: 'inline', bytes }
            : { kind: 'blob', path, length: bytes.length, algorithm: 'crc32', checksum: crc32(bytes) },
        ),
      createSharedBlob: (key) =>
        blob((path, bytes) => ({
          kind: 'shared',
          key,
          path,
          length: bytes.length,
          algorithm: 'crc32',
          checksum: crc32(bytes),
        })),
      publish: () => Promise.resolve(),
      discard: () => Promise.resolve(),
    };
  }

  restore(checkpointId: CheckpointId, readsParts = true): RestorePlan {
    const bytesAt = (blob: FileBlob | SharedBlob): Uint8Array => {
      this.reads.push(blob.path);
      return this.files.get(blob.path)!;
    };
    return {
      checkpointId,
      lineage: 'l',
      pointer: '',
      subtasks: new Map(),
      enumerators: new Map(),
      isOwned: true,
      read: async (blob) => (blob.kind === 'inline' ? blob.bytes : bytesAt(blob)),
      readPart: readsParts
        ? async (blob, { offset, length }) => bytesAt(blob).subarray(offset, offset + length)
        : undefined,
    };
  }
}

function setUp(options: Partial<LocalCopiesOptions> = {}) {
  const remote = new Remote();
  const disk = new CrashFileSystem();
  const warnings: string[] = [];
  let next = 1;
  const copiesOn = (fileSystem: CrashFileSystem): LocalCopies =>
    new LocalCopies({
      job: 'orders',
      dirs: ['/local'],
      fileSystem,
      areMade: true,
      areUsed: true,
      newId: () => String(next++),
      warn: (message) => warnings.push(message),
      ...options,
    });
  const copies = copiesOn(disk);
  const write = async (
    id: CheckpointId,
    text: string,
    sharedKey?: string,
    subtask = 0,
    to = copies,
  ): Promise<BlobHandle> => {
    const location = to.copied(remote.location(id), subtask);
    const blob = sharedKey === undefined ? location.createBlob() : location.createSharedBlob!(sharedKey);
    // In pieces, of which the last is larger than what is collected.
    await blob.write(bytesOf(text.slice(0, 5)));
    await blob.write(bytesOf(text.slice(5, 9)));
    await blob.write(bytesOf(text.slice(9)));
    return blob.finish();
  };
  const read = async (id: CheckpointId, blob: BlobHandle, by = copies) => {
    const { from, bytes } = by.reading(remote.restore(id));
    const text = textOf(await from.read(blob));
    return { text, ...bytes() };
  };
  const files = (): string[] => disk.paths().filter((path) => !path.endsWith('/'));
  return { remote, disk, warnings, copies, copiesOn, write, read, files };
}

/** The file that holds the only copy. */
const PLACE = '/local/_orders/chk-1/_blob%2F1';
async function replaced(disk: CrashFileSystem, path: string, bytes: Uint8Array): Promise<void> {
  await disk.remove(path);
  const file = await disk.open(path, 'create');
  await file.write(bytes);
  await file.close();
}

describe('a restore with local copies', () => {
  test.each(['0123456789', LARGE])('reads what was copied, and the storage is not asked', async (text) => {
    const { remote, write, read, files, disk } = setUp();
    const blob = await write(1, text);
    expect(files()).toEqual([PLACE]);
    expect(disk.openHandles).toBe(0);
    expect(await read(1, blob)).toEqual({ text, localBytes: text.length, remoteBytes: 0 });
    expect(remote.reads).toEqual([]);
  });

  test('reads the copies that a process left which is dead, and of parts what is asked for', async () => {
    const { remote, disk, copiesOn, write } = setUp();
    const blob = (await write(1, LARGE)) as FileBlob;
    const { from, bytes } = copiesOn(disk.kill()).reading(remote.restore(1));
    for (const offset of [0, 100])
      expect(textOf(await from.readPart!(blob, { offset, length: 50 }))).toBe('x'.repeat(50));
    expect(bytes()).toEqual({ localBytes: 100, remoteBytes: 0 });
    expect(remote.reads).toEqual([]);
  });

  test.each<[string, (disk: CrashFileSystem, whole: Uint8Array) => Promise<void>]>([
    ['is missing', (disk) => disk.remove(PLACE)],
    ['is gone with its folder', (disk) => disk.removeTree('/local')],
    ['is empty', (disk) => replaced(disk, PLACE, new Uint8Array())],
    ['is too short', (disk, whole) => replaced(disk, PLACE, whole.subarray(1))],
    ['is too long', (disk, whole) => replaced(disk, PLACE, Buffer.concat([whole, bytesOf('y')]))],
    [
      'has one bit that differs',
      (disk, whole) =>
        replaced(
          disk,
          PLACE,
          whole.map((byte, i) => (i === 7 ? byte ^ 1 : byte)),
        ),
    ],
    [
      'is that of another attempt, of the same length',
      (disk, whole) =>
        replaced(
          disk,
          PLACE,
          whole.map(() => 65),
        ),
    ],
  ])('reads from the storage what has a copy that %s', async (_what, damage) => {
    const { remote, disk, warnings, copiesOn, write, read, copies } = setUp();
    const blob = (await write(1, LARGE)) as FileBlob;
    await damage(disk, bytesOf(LARGE));
    const other = copiesOn(disk.kill());
    expect(await read(1, blob)).toEqual({ text: LARGE, localBytes: 0, remoteBytes: LARGE.length });
    const { from, bytes } = other.reading(remote.restore(1));
    expect(textOf(await from.readPart!(blob, { offset: 5, length: 50 }))).toBe('x'.repeat(50));
    expect(bytes()).toEqual({ localBytes: 0, remoteBytes: 50 });
    expect(warnings, 'in silence').toEqual([]);
    await copies.end(false);
    expect(disk.paths(), 'what is damaged is removed').not.toContain(PLACE);
  });

  test('reads from the storage if the disk cannot be read, and says so once', async () => {
    const { disk, warnings, write, read } = setUp();
    const blob = await write(1, LARGE);
    disk.fail({ op: 'stat' }, 'EIO', { times: 10 });
    for (let i = 0; i < 3; i++) expect(await read(1, blob)).toMatchObject({ text: LARGE, localBytes: 0 });
    expect(warnings).toHaveLength(1);
  });

  test('asks no storage for parts that cannot give any', async () => {
    const { remote, copies } = setUp();
    expect(copies.reading(remote.restore(1, false)).from.readPart).toBeUndefined();
  });

  test('makes copies that are not used, and uses copies where none are made', async () => {
    const made = setUp({ areUsed: false });
    const blob = await made.write(1, LARGE);
    expect(await made.read(1, blob)).toEqual({ text: LARGE, localBytes: 0, remoteBytes: 0 });
    const used = setUp({ areMade: false, fileSystem: made.disk });
    await used.write(2, LARGE);
    expect(made.files()).toEqual([PLACE]);
  });

  test('finds what each subtask has written, in whichever folder', async () => {
    const { write, read, files } = setUp({ dirs: ['/a', '/b'] });
    const blobs = [await write(1, LARGE, undefined, 0), await write(1, LARGE, undefined, 1)];
    expect(files()).toEqual(['/a/_orders/chk-1/_blob%2F1', '/b/_orders/chk-1/_blob%2F2']);
    for (const blob of blobs) expect(await read(1, blob)).toMatchObject({ localBytes: LARGE.length });
  });
});

describe('a checkpoint with local copies', () => {
  test('needs none for what is inside of `_metadata`', async () => {
    const { write, files } = setUp();
    expect(await write(1, 'small')).toMatchObject({ kind: 'inline' });
    expect(files()).toEqual([]);
  });

  test.each(['open', 'write', 'rename', 'close', 'makeDirectory'] as const)(
    'is as good as without them where the disk refuses to %s, and that is said once',
    async (op) => {
      const { disk, warnings, write, read, copies } = setUp();
      const repaired = disk.fail({ op }, 'ENOSPC', { times: 1000 });
      const blobs = [await write(1, LARGE), await write(2, LARGE)];
      expect(await read(2, blobs[1]!)).toEqual({ text: LARGE, localBytes: 0, remoteBytes: LARGE.length });
      expect(warnings).toEqual([
        expect.stringMatching(/^Local copies of state in \/local\/_orders cannot all be written: .*ENOSPC/),
      ]);
      repaired();
      copies.completed(2);
      await copies.end(false);
      expect(
        disk.paths().filter((path) => path.includes('tmp-')),
        'what was begun',
      ).toEqual([]);
      const third = await write(3, LARGE);
      expect(await read(3, third)).toMatchObject({ localBytes: LARGE.length });
    },
  );

  test('fails with the storage, and leaves no copy', async () => {
    const { remote, copies, files, disk } = setUp();
    remote.isBroken = true;
    const blob = copies.copied(remote.location(1), 0).createBlob();
    await blob.write(bytesOf(LARGE));
    await expect(blob.finish()).rejects.toThrow('the storage is gone');
    await blob.abort();
    expect(files()).toEqual([]);
    expect(disk.openHandles).toBe(0);
  });

  test('that is complete makes the copies of older ones superfluous, and leaves those of younger ones', async () => {
    const { write, copies, files } = setUp();
    for (const id of [1, 2, 3]) await write(id, LARGE);
    copies.completed(2);
    await copies.end(false);
    expect(files()).toEqual(['/local/_orders/chk-2/_blob%2F2', '/local/_orders/chk-3/_blob%2F3']);
  });

  test('that is aborted takes its copies along', async () => {
    const { write, copies, files } = setUp();
    for (const id of [1, 2]) await write(id, LARGE);
    copies.superfluous(2);
    await copies.end(false);
    expect(files()).toEqual([PLACE]);
  });

  test.each<[string, (copies: LocalCopies) => void]>([
    ['aborted', (copies) => copies.superfluous(1)],
    ['older than a completed one', (copies) => copies.completed(2)],
  ])('that is %s while its copy is moved to its place loses it without a word', async (_what, end) => {
    const { write, copies, disk, warnings } = setUp();
    const rename = disk.rename.bind(disk);
    disk.rename = async (from, to) => {
      end(copies);
      await copies.end(false);
      return rename(from, to);
    };
    expect(await write(1, LARGE)).toMatchObject({ length: LARGE.length });
    expect(warnings).toEqual([]);
    expect(disk.paths()).toEqual(['/local/', '/local/_orders/']);
  });

  test('leaves no copy if it is aborted before that is whole', async () => {
    const { copies, remote, disk, files } = setUp();
    const blob = copies.copied(remote.location(1), 0).createBlob();
    await blob.write(bytesOf(LARGE));
    copies.superfluous(1);
    await copies.end(false);
    expect(await blob.finish()).toMatchObject({ length: LARGE.length });
    expect(files()).toEqual([]);
    expect(disk.openHandles).toBe(0);
  });

  test('keeps shared files for as long as the newest or one under way is made of them', async () => {
    const { write, copies, files, read } = setUp();
    const [a, b] = [await write(1, LARGE, 'a'), await write(1, LARGE, 'b')];
    copies.completed(1);
    const c = await write(2, LARGE, 'c');
    copies.refersTo(2, [a, c]);
    copies.refersTo(3, [c]);
    copies.completed(2);
    await copies.end(false);
    expect(files()).toEqual(['/local/_orders/shared/_blob%2F1', '/local/_orders/shared/_blob%2F3']);
    expect(await read(2, a)).toMatchObject({ localBytes: LARGE.length });
    expect(await read(2, b)).toMatchObject({ localBytes: 0 });
    copies.completed(3);
    await copies.end(false);
    expect(files()).toEqual(['/local/_orders/shared/_blob%2F3']);
  });

  test('removes what a dead process had begun, and nothing of other jobs', async () => {
    const { disk, write, copiesOn, remote } = setUp();
    await write(1, LARGE);
    for (const path of ['/local/_orders/tmp-dead', '/local/_others']) await (await disk.open(path, 'create')).close();
    const next = disk.kill();
    const copies = copiesOn(next);
    const unfinished = copies.copied(remote.location(2), 0).createBlob();
    await unfinished.write(bytesOf(LARGE));
    copies.completed(1);
    await copies.end(false);
    expect(next.paths().filter((path) => !path.endsWith('/'))).toEqual([
      PLACE,
      expect.stringMatching(/^\/local\/_orders\/tmp-\d+$/),
      '/local/_others',
    ]);
    await unfinished.finish();
  });

  test('is the last: when nobody will restore the job, nothing is left of it', async () => {
    const { write, copies, disk } = setUp();
    await write(1, LARGE);
    await copies.end(false);
    expect(disk.paths()).toContain(PLACE);
    await copies.end(true);
    expect(disk.paths()).toEqual(['/local/']);
  });
});
