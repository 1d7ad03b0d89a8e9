import { CrashFileSystem, NAMES_WITHOUT_BYTES, ZEROED_BYTES, seededRandom, tornBy } from '@weir/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = async (disk: CrashFileSystem, path: string): Promise<string> =>
  Buffer.from(await disk.readFile(path)).toString();
const write = async (disk: CrashFileSystem, path: string, text: string, sync: boolean): Promise<void> => {
  const file = await disk.open(path, 'append');
  await file.write(bytes(text));
  if (sync) await file.sync();
  await file.close();
};

describe('after a crash of the machine', () => {
  test('a synced file in a synced folder is there', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'content', true);
    await disk.syncDirectory('/');
    expect(await read(disk.crash(), '/a')).toBe('content');
  });

  test('bytes written since the last sync are gone', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'durable', true);
    await disk.syncDirectory('/');
    await write(disk, '/a', ' lost', false);
    expect(await read(disk, '/a')).toBe('durable lost');
    expect(await read(disk.crash(), '/a')).toBe('durable');
  });

  test('a new name is gone unless its folder was synced, although the file was', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'content', true);
    expect(disk.crash().paths()).toEqual([]);
  });

  test('a folder is gone with all that it holds unless its own name was synced', async () => {
    const disk = new CrashFileSystem();
    await disk.makeDirectory('/folder');
    await write(disk, '/folder/a', 'content', true);
    await disk.syncDirectory('/folder');
    expect(disk.crash().paths()).toEqual([]);
    await disk.syncDirectory('/');
    expect(disk.crash().paths()).toEqual(['/folder/', '/folder/a']);
  });

  test('a rename is undone unless the folder was synced', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'new', true);
    await write(disk, '/b', 'old', true);
    await disk.syncDirectory('/');
    await disk.rename('/a', '/b');
    const undone = disk.crash();
    expect([await read(undone, '/a'), await read(undone, '/b')]).toEqual(['new', 'old']);
    await disk.syncDirectory('/');
    const done = disk.crash();
    expect(done.paths()).toEqual(['/b']);
    expect(await read(done, '/b')).toBe('new');
  });

  test('a file renamed to another folder is never lost, and keeps both names until both folders were synced', async () => {
    const start = async (): Promise<CrashFileSystem> => {
      const disk = new CrashFileSystem();
      await disk.makeDirectory('/from');
      await disk.makeDirectory('/to');
      await write(disk, '/from/a', 'x', true);
      await disk.syncDirectory('/from');
      await disk.syncDirectory('/');
      await disk.rename('/from/a', '/to/b');
      return disk;
    };
    const onlyFrom = await start();
    await onlyFrom.syncDirectory('/from');
    expect(onlyFrom.crash().paths()).toEqual(['/from/', '/from/a', '/to/']);
    const onlyTo = await start();
    await onlyTo.syncDirectory('/to');
    expect(onlyTo.crash().paths()).toEqual(['/from/', '/from/a', '/to/', '/to/b']);
    await onlyTo.syncDirectory('/from');
    expect(onlyTo.crash().paths()).toEqual(['/from/', '/to/', '/to/b']);
  });

  test('an old name that was given to a new file meanwhile stays with the new file', async () => {
    const disk = new CrashFileSystem();
    await disk.makeDirectory('/to');
    await write(disk, '/a', 'old', true);
    await disk.syncDirectory('/');
    await disk.rename('/a', '/to/a');
    await write(disk, '/a', 'new', true);
    await disk.syncDirectory('/');
    await disk.syncDirectory('/to');
    await disk.syncDirectory('/');
    expect(await read(disk.crash(), '/a')).toBe('new');
  });

  test('a removed file comes back unless the folder was synced', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'content', true);
    await disk.syncDirectory('/');
    await disk.remove('/a');
    expect(await read(disk.crash(), '/a')).toBe('content');
    await disk.syncDirectory('/');
    expect(disk.crash().paths()).toEqual([]);
  });

  test('a truncate is undone unless the file was synced', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'durable', true);
    await disk.syncDirectory('/');
    const file = await disk.open('/a', 'append');
    await file.truncate(2);
    await file.write(bytes('!'));
    expect(await read(disk.crash(), '/a')).toBe('durable');
    await file.sync();
    expect(await read(disk.crash(), '/a')).toBe('du!');
  });

  test('a file that was renamed but not synced may be empty, or full of zeros', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'content', false);
    await disk.rename('/a', '/b');
    expect(await read(disk.crash(NAMES_WITHOUT_BYTES), '/b')).toBe('');
    expect(await disk.crash(ZEROED_BYTES).readFile('/b')).toEqual(new Uint8Array(7));
  });

  test('within a folder a rename happened or did not, whatever else survives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const disk = new CrashFileSystem();
        await write(disk, '/a', 'x', true);
        await disk.syncDirectory('/');
        await disk.rename('/a', '/b');
        expect(['/a', '/b']).toContain(
          disk
            .crash(tornBy(seededRandom(seed)))
            .paths()
            .join(),
        );
      }),
    );
  });

  test('what is torn is the same for the same seed, begins with the synced bytes, and takes every length', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'durable', true);
    await disk.syncDirectory('/');
    await write(disk, '/a', ' torn', false);
    const found = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      const content = await read(disk.crash(tornBy(seededRandom(seed))), '/a');
      expect(await read(disk.crash(tornBy(seededRandom(seed))), '/a')).toBe(content);
      expect('durable torn'.startsWith(content)).toBe(true);
      found.add(content);
    }
    expect([...found].sort()).toEqual([
      'durable',
      'durable ',
      'durable t',
      'durable to',
      'durable tor',
      'durable torn',
    ]);
  });

  test('all that is left is durable', async () => {
    const disk = new CrashFileSystem();
    await disk.makeDirectory('/folder');
    await write(disk, '/folder/a', 'content', false);
    const once = disk.crash({ name: () => true, bytes: (_path, unsynced) => unsynced });
    expect(await read(once.crash(), '/folder/a')).toBe('content');
  });

  test('whatever is synced survives every outcome', async () => {
    const names = fc.constantFrom('/a', '/b', '/d/a', '/d/b');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), path: names, text: fc.string({ maxLength: 5 }) }),
      fc.record({ kind: fc.constant('rename' as const), path: names, to: names }),
      fc.record({ kind: fc.constant('remove' as const), path: names }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.integer(), async (steps, seed) => {
        const disk = new CrashFileSystem();
        await disk.makeDirectory('/d');
        for (const s of steps) {
          if (s.kind === 'write') await write(disk, s.path, s.text, true);
          else if (s.kind === 'remove') await disk.remove(s.path);
          else await disk.rename(s.path, s.to).catch(() => undefined);
        }
        // The second sync of /d lets go of old names whose new ones the sync of / made durable.
        for (const folder of ['/d', '/', '/d']) await disk.syncDirectory(folder);
        const after = disk.crash(tornBy(seededRandom(seed)));
        expect(after.paths()).toEqual(disk.paths());
        for (const path of disk.paths())
          if (!path.endsWith('/')) expect(await read(after, path)).toBe(await read(disk, path));
      }),
    );
  });
});

describe('after a kill of the process', () => {
  test('nothing is lost, but a later crash still takes what was not synced', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'durable', true);
    await disk.syncDirectory('/');
    await write(disk, '/a', ' cached', false);
    await write(disk, '/b', 'cached', true);
    const next = disk.kill();
    expect(await read(next, '/a')).toBe('durable cached');
    expect(next.paths()).toEqual(['/a', '/b']);
    expect(next.crash().paths()).toEqual(['/a']);
    expect(await read(next.crash(), '/a')).toBe('durable');
    await next.syncDirectory('/');
    expect(await read(next.crash(), '/b')).toBe('cached');
  });

  test('the old process no longer reaches the disk', async () => {
    const disk = new CrashFileSystem();
    const file = await disk.open('/a', 'create');
    const next = disk.kill();
    await file.write(bytes('late'));
    await disk.remove('/a');
    expect(await read(next, '/a')).toBe('');
  });
});

describe('faults', () => {
  test('the nth matching operation fails with the code, the others succeed', async () => {
    const disk = new CrashFileSystem();
    disk.fail({ op: 'makeDirectory', path: /x/ }, 'EROFS', { nth: 2, times: 2 });
    expect(await disk.makeDirectory('/other')).toBe('created');
    expect(await disk.makeDirectory('/x1')).toBe('created');
    await expect(disk.makeDirectory('/x2')).rejects.toMatchObject({ code: 'EROFS', path: '/x2' });
    await expect(disk.makeDirectory('/x3')).rejects.toMatchObject({ code: 'EROFS' });
    expect(await disk.makeDirectory('/x4')).toBe('created');
    expect(disk.paths()).toEqual(['/other/', '/x1/', '/x4/']);
  });

  test('a full disk takes a part of a write, then nothing until there is space again', async () => {
    const disk = new CrashFileSystem();
    const free = disk.fail({ op: 'write' }, 'ENOSPC', { afterBytes: 5, times: Infinity });
    const file = await disk.open('/a', 'create');
    await file.write(bytes('123'));
    await expect(file.write(bytes('456'))).rejects.toMatchObject({ code: 'ENOSPC' });
    await expect(file.write(bytes('7'))).rejects.toMatchObject({ code: 'ENOSPC' });
    free();
    await file.write(bytes('89'));
    expect(await read(disk, '/a')).toBe('1234589');
  });

  test('a failed sync makes nothing durable', async () => {
    const disk = new CrashFileSystem();
    await disk.syncDirectory('/');
    disk.fail({ op: ['sync', 'syncDirectory'] }, 'EIO', { times: 2 });
    const file = await disk.open('/a', 'create');
    await file.write(bytes('x'));
    await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' });
    await expect(disk.syncDirectory('/')).rejects.toMatchObject({ code: 'EIO' });
    expect(disk.crash().paths()).toEqual([]);
  });

  test('an operation waits for as long as the test holds it, and others pass', async () => {
    const disk = new CrashFileSystem();
    const hold = disk.hold({ op: 'rename', path: /^\/b$/ });
    await write(disk, '/a', 'x', true);
    const renamed = disk.rename('/a', '/b');
    await hold.reached;
    expect(await read(disk, '/a')).toBe('x');
    hold.release();
    await renamed;
    expect(disk.paths()).toEqual(['/b']);
  });

  test('from the operation at which the process stops, nothing has an effect and nothing settles', async () => {
    const disk = new CrashFileSystem();
    await write(disk, '/a', 'x', true);
    disk.stopAt(disk.operations.length + 1);
    await disk.rename('/a', '/b');
    const settled: string[] = [];
    for (const name of ['c', 'd']) {
      void disk.makeDirectory(`/${name}`).finally(() => settled.push(name));
    }
    await disk.stopped;
    expect(settled).toEqual([]);
    expect(disk.paths()).toEqual(['/b']);
    expect(disk.kill().paths()).toEqual(['/b']);
  });

  test('removing a tree can be stopped half way', async () => {
    const disk = new CrashFileSystem();
    await disk.makeDirectory('/t');
    for (const name of ['a', 'b', 'c']) await write(disk, `/t/${name}`, 'x', true);
    disk.stopAt(disk.operations.length + 3);
    void disk.removeTree('/t');
    await disk.stopped;
    expect(disk.paths()).toEqual(['/t/', '/t/c']);
  });

  test('the log tells every operation with its path, and what is still open', async () => {
    const disk = new CrashFileSystem();
    const file = await disk.open('/a', 'create');
    await file.write(bytes('xy'));
    expect(disk.openHandles).toBe(1);
    await file.close();
    expect(disk.openHandles).toBe(0);
    await expect(file.write(bytes('z'))).rejects.toMatchObject({ code: 'EBADF' });
    await disk.rename('/a', '/b');
    expect(disk.operations.map(({ index, op, path, to, bytes: size }) => [index, op, path, to, size])).toEqual([
      [0, 'open', '/a', undefined, undefined],
      [1, 'write', '/a', undefined, 2],
      [2, 'close', '/a', undefined, undefined],
      [3, 'rename', '/a', '/b', undefined],
    ]);
  });
});
