import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemProcesses } from '@weir/backend-fs';
import { WeirError } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { createRocksStateBackendOver } from '../src/rocks-state-backend.js';
import { countingDriver } from './support/counting-driver.js';
import { describeRocks, useDirectory } from './support/driver.js';
import { openStore, type OpenStore } from './support/store.js';
import { NEVER_OVER, StoredFiles } from './support/stored-files.js';

const READS = ['getInto', 'getMany', 'iterate'] as const;

describeRocks('a store of RocksDB state', (driver) => {
  const place = useDirectory();
  const work = (): string => place('work');

  test.each(['s3://bucket/work', 'file://host/work', '(none)'])('is in no folder of the name %s', (dir) => {
    expect(() => createRocksStateBackendOver(driver, { dir })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(dir) }),
    );
  });

  test('asks RocksDB for nothing while a key is in memory', async () => {
    const counting = countingDriver(driver);
    await using to = await openStore(counting, work());
    to.fill(0, 100, 1);
    const read = (): number => READS.reduce((sum, method) => sum + counting.calls(method), 0);
    read();
    for (let i = 0; i < 100; i++) {
      to.store.setCurrentKey(`key-${String(i)}`);
      to.value.update(to.value.value());
      to.map.set(1, to.map.get(1));
    }
    expect(read()).toBe(0);
    expect(counting.calls('write')).toBe(0);
  });

  test('reads no list to append to it, and no map for one entry of it', async () => {
    const counting = countingDriver(driver);
    await using to = await openStore(counting, work(), { cacheSize: 1 });
    to.store.setCurrentKey('a');
    for (let i = 0; i < 1000; i++) to.list.add(i);
    for (let i = 0; i < 1000; i++) to.map.set(i, i);
    forget(to);
    for (const method of READS) counting.calls(method);
    to.store.setCurrentKey('a');
    to.list.add('last');
    expect(READS.map((method) => counting.calls(method))).toEqual([0, 0, 0]);
    expect(to.map.get(7)).toBe(7);
    expect(READS.map((method) => counting.calls(method))).toEqual([1, 0, 0]);
    to.map.set(2000, 2000);
    to.map.delete(8);
    expect(READS.map((method) => counting.calls(method))).toEqual([0, 0, 0]);
    forget(to);
    to.store.setCurrentKey('a');
    expect([...to.list.values()]).toHaveLength(1001);
    expect([...to.map.entries()]).toHaveLength(1000);
  });

  for (const size of [1, 3000]) {
    test(`lets a map be changed while it is iterated over, with a cache of ${String(size)} bytes`, async () => {
      await using to = await openStore(driver, work(), { cacheSize: size });
      const expected = new Map<number, unknown>();
      to.store.setCurrentKey('a');
      for (let i = 0; i < 400; i++) {
        const value = i % 3 === 0 ? { i } : i;
        to.map.set(i, value);
        expected.set(i, i % 3 === 0 ? { i } : i);
      }
      forget(to);
      to.store.setCurrentKey('a');
      const seen = new Set<unknown>();
      for (const [mapKey, value] of to.map.entries()) {
        const n = mapKey as number;
        expect(seen.has(n)).toBe(false);
        seen.add(n);
        // Deleted before its turn came, it would not come.
        expect(value).toEqual(expected.get(n));
        const other = (n * 7 + 13) % 400;
        if (n % 4 === 0) {
          to.map.delete(other);
          expected.delete(other);
        } else {
          to.map.set(other, n % 8 === 1 ? { n } : -n);
          expected.set(other, n % 8 === 1 ? { n } : -n);
        }
        expect(to.map.get(other)).toEqual(expected.get(other));
      }
      expect(seen.size).toBeGreaterThan(200);
      expect(new Map(to.map.entries())).toEqual(expected);
    });
  }

  test('reads a batch of keys at once when it has to read many', async () => {
    const counting = countingDriver(driver);
    await using to = await openStore(counting, work(), { cacheSize: 50_000 });
    for (let i = 0; i < 2000; i++) {
      to.store.setCurrentKey(i);
      to.value.update(i);
    }
    const keys = (from: number): number[] => Array.from({ length: 100 }, (_, i) => from + (i % 90));
    const use = (batch: readonly number[]): void => {
      to.store.lookAhead?.(batch);
      for (const [i, key] of batch.entries()) {
        to.store.setCurrentKey(key, i);
        expect(to.value.value()).toBe(key < 2000 ? key : undefined);
      }
    };
    use(keys(0));
    expect(counting.calls('getMany')).toBe(0);
    expect(counting.calls('getInto')).toBe(90);
    for (const from of [200, 400, 1950]) {
      use(keys(from));
      expect(counting.calls('getMany')).toBe(1);
      expect(counting.calls('getInto')).toBe(0);
    }
  });

  test('says that it has failed to whoever uses it after a write has failed, as what was to be written is lost', async () => {
    const counting = countingDriver(driver);
    await using to = await openStore(counting, work());
    to.fill(0, 10, 1);
    counting.before('writeAside', () => {
      throw new WeirError('ROCKSDB_FAILED', 'no space left');
    });
    const capture = to.store.capture({ checkpointId: 1, mode: 'full' });
    await expect(capture.write({ section: () => undefined }, NEVER_OVER)).rejects.toThrow(/^ROCKSDB_FAILED/);
    capture.release();
    expect(() => {
      to.store.setCurrentKey('key-1');
    }).toThrow(/^ROCKSDB_FAILED/);
    expect(() => to.value.value()).toThrow(/^ROCKSDB_FAILED/);
  });

  test('fails a capture, and nothing else, for a checkpoint that RocksDB cannot make', async () => {
    const counting = countingDriver(driver);
    await using to = await openStore(counting, work());
    to.fill(0, 10, 1);
    let isBroken = true;
    counting.before('checkpoint', () => {
      if (isBroken) throw new WeirError('ROCKSDB_FAILED', 'no space left');
    });
    const files = new StoredFiles();
    const capture = (checkpointId: number): Promise<unknown> =>
      files.write(to.store.capture({ checkpointId, mode: 'incremental' }));
    await expect(capture(1)).rejects.toThrow(/^ROCKSDB_FAILED/);
    to.fill(0, 10, 2);
    isBroken = false;
    await capture(2);
  });

  test('is pressed by a second generation that waits to be written', async () => {
    await using to = await openStore(driver, work());
    to.fill(0, 10, 1);
    const first = to.store.capture({ checkpointId: 1, mode: 'full' });
    to.fill(0, 10, 2);
    expect(to.store.isOverBudget()).toBe(false);
    const second = to.store.capture({ checkpointId: 2, mode: 'full' });
    expect(to.store.isOverBudget()).toBe(true);
    await first.write({ section: () => undefined }, NEVER_OVER);
    expect(to.store.isOverBudget()).toBe(false);
    first.release();
    second.release();
  });

  test('works in a folder of its own, and leaves nothing of it', async () => {
    const files = new StoredFiles();
    const one = await openStore(driver, work());
    const two = await openStore(driver, work());
    for (const { store, fill } of [one, two]) {
      fill(0, 100, 1);
      await files.write(store.capture({ checkpointId: 1, mode: 'incremental' }));
    }
    await one.store.close();
    two.fill(100, 200, 1);
    await files.write(two.store.capture({ checkpointId: 2, mode: 'incremental' }));
    await two.store.close();
    await two.store.close();
    expect(readdirSync(path.join(work(), 'weir-rocksdb'))).toEqual([]);
  });

  test('removes what dead processes have left, and nothing else', async () => {
    const root = path.join(work(), 'weir-rocksdb');
    const { bootId, pidNamespace, host } = systemProcesses.self;
    const named = (...parts: readonly string[]): string => path.join(root, parts.join('_'));
    const dead = [
      named('1', '0', 'no-such-boot', pidNamespace, host),
      named('4194305', '1', bootId, pidNamespace, host),
    ];
    // They may live: they are of another container, and of another machine.
    const unseen = [
      named('4194305', '1', bootId, '1', host),
      named('4194305', '1', 'no-such-boot', pidNamespace, `${host}-2`),
    ];
    const foreign = path.join(root, 'of the user');
    for (const directory of [...dead, ...unseen, foreign]) {
      mkdirSync(path.join(directory, 'db'), { recursive: true });
      writeFileSync(path.join(directory, 'db', 'CURRENT'), 'x');
    }
    const living = await openStore(driver, work());
    living.fill(0, 10, 1);
    expect(dead.map((directory) => existsSync(directory))).toEqual([false, false]);
    expect(unseen.map((directory) => existsSync(directory))).toEqual([true, true]);
    expect(existsSync(foreign)).toBe(true);
    // A backend of the same process leaves the others alone.
    await using other = await openStore(driver, work());
    expect(other.contents()).toEqual([]);
    await using restored = await openStore(driver, work());
    const files = new StoredFiles();
    const [handle] = await files.write(living.store.capture({ checkpointId: 1, mode: 'incremental' }));
    if (handle?.format === 'native') await restored.store.restoreNative?.(handle, files);
    expect(restored.contents()).toEqual(living.contents());
    await living.store.close();
  });

  test('gives back every file and all memory, however often it is restarted', async () => {
    const files = new StoredFiles();
    const restart = async (from: number): Promise<void> => {
      await using to = await openStore(driver, work());
      to.fill(from, from + 200, 1);
      const capture = to.store.capture({ checkpointId: 1, mode: 'incremental' });
      const [handle] = await files.write(capture);
      await using again = await openStore(driver, work());
      if (handle?.format === 'native') await again.store.restoreNative?.(handle, files);
      // Left open, as by a failure: closing takes them along.
      again.store.capture({ checkpointId: 2, mode: 'full' });
      files.blobs.clear();
    };
    for (let i = 0; i < 5; i++) await restart(i);
    const open = filesOpen();
    for (let i = 0; i < 20; i++) await restart(i);
    expect(filesOpen()).toBeLessThanOrEqual(open + 1);
  });

  test('names a place where it cannot work, and the option that leads elsewhere', async () => {
    mkdirSync(work(), { recursive: true });
    writeFileSync(path.join(work(), 'file'), 'x');
    const opening = openStore(driver, path.join(work(), 'file'));
    await expect(opening).rejects.toThrow(/^ROCKSDB_FAILED.*file.*state\.backend\.rocksdb\.localdir/);
  });

  test('refuses sizes that are none', () => {
    for (const bytes of [0, -1, 1.5, Number.NaN]) {
      for (const name of ['cacheSize', 'preservedBytes', 'blockCacheSize', 'memtableSize']) {
        expect(() => createRocksStateBackendOver(driver, { [name]: bytes })).toThrow(/^CONFIG_INVALID/);
      }
    }
  });
});

/** Enough other keys to evict everything from a cache that holds nothing. */
function forget({ store, value }: OpenStore): void {
  for (let i = 0; i < 100; i++) {
    store.setCurrentKey(`other-${String(i)}`);
    value.update(i);
  }
}

function filesOpen(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}
