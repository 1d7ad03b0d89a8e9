import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { SILENT, systemClock, type KeyedStateStore, type Logger } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { localDisk } from '../src/adapters/working-directory.js';
import type { RocksDatabase, RocksDriver } from '../src/driver/rocks-driver.js';
import { createRocksStateBackendOver } from '../src/rocks-state-backend.js';
import { countingDriver } from './support/counting-driver.js';
import { describeRocks, useDirectory } from './support/driver.js';
import { ALL, MAX_PARALLELISM, STATES } from './support/store.js';

const noSpace = (): never => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};

/** Everything below the folder for working state. */
const left = (dir: string): readonly string[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true })
        .map(String)
        .filter((name) => name !== 'weir-rocksdb')
    : [];

/** The same driver, which counts the databases that are open. */
function openDatabases(driver: RocksDriver): RocksDriver & { count: number } {
  const counted = {
    libraryVersion: driver.libraryVersion,
    count: 0,
    open(directory: string, options: Parameters<RocksDriver['open']>[1]): RocksDatabase {
      const database = driver.open(directory, options);
      counted.count++;
      return new Proxy(database, {
        get(target, name) {
          const method = Reflect.get(target, name, target) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            if (name === 'close') counted.count--;
            return method.apply(target, args);
          };
        },
      });
    },
  };
  return counted;
}

describeRocks('on a disk that is full', (driver) => {
  const directory = useDirectory();
  const scope = (logger: Logger = SILENT): Parameters<ReturnType<typeof createRocksStateBackendOver>['open']>[0] => ({
    job: 'orders',
    operator: 'totals',
    subtask: 0,
    keyGroups: ALL,
    maxParallelism: MAX_PARALLELISM,
    states: STATES,
    clock: systemClock,
    logger,
  });
  /** Works until something fails: writes, evicts and captures. */
  const work = async (store: KeyedStateStore): Promise<void> => {
    const value = store.handle('value') as { update(value: unknown): void };
    for (let i = 0; i < 400; i++) {
      store.setCurrentKey(`key-${String(i)}`);
      value.update('x'.repeat(100));
    }
    const capture = store.capture({ checkpointId: 1, mode: 'incremental' });
    await capture.write(
      { section: () => undefined, incremental: { createBlob: noSpace, add: () => undefined } } as never,
      { isOver: () => false, next: () => Promise.resolve() },
    );
  };

  test.each(['write', 'writeAside', 'checkpoint'] as const)(
    'closes the database and removes the folder of a store whose %s has failed',
    async (method) => {
      const dir = directory('state');
      const open = openDatabases(driver);
      const failing = countingDriver(open);
      failing.before(method, noSpace);
      const store = await createRocksStateBackendOver(failing, { dir, cacheSize: 4096 }).open(scope());
      await expect(work(store)).rejects.toThrow('ENOSPC');
      await store.close();
      await store.close();
      expect(open.count).toBe(0);
      expect(left(dir)).toEqual([]);
    },
  );

  test('removes the folder of a store whose database cannot be opened, or closed', async () => {
    const dir = directory('state');
    const unopened = createRocksStateBackendOver({ libraryVersion: driver.libraryVersion, open: noSpace }, { dir });
    await expect(unopened.open(scope())).rejects.toThrow('ENOSPC');
    expect(left(dir)).toEqual([]);

    const failing = countingDriver(driver);
    const store = await createRocksStateBackendOver(failing, { dir }).open(scope());
    failing.before('close', noSpace);
    await expect(store.close()).rejects.toThrow('ENOSPC');
    expect(left(dir)).toEqual([]);
  });

  test('closes a database whose states cannot be made', async () => {
    const dir = directory('state');
    const open = openDatabases(driver);
    const states = [{ name: 'value', kind: 'value', serializer: undefined as never }] as const;
    const broken = new Proxy(states[0], {
      get: (state, name) => (name === 'kind' ? noSpace() : (Reflect.get(state, name) as unknown)),
    });
    const backend = createRocksStateBackendOver(open, { dir });
    await expect(backend.open({ ...scope(), states: [broken] })).rejects.toThrow('ENOSPC');
    expect(open.count).toBe(0);
    expect(left(dir)).toEqual([]);
  });

  test('says that the folder cannot be made', async () => {
    const backend = createRocksStateBackendOver(
      driver,
      { dir: directory('state') },
      { ...localDisk, makeFolder: noSpace },
    );
    await expect(backend.open(scope())).rejects.toMatchObject({ code: 'ROCKSDB_FAILED' });
  });

  test.each(['opened', 'closed'])(
    'names what cannot be removed, and removes it when the next store is %s',
    async (when) => {
      const dir = directory('state');
      let isFull = false;
      const disk = {
        makeFolder: (at: string) => void mkdirSync(at, { recursive: true }),
        removeFolder: async (at: string) => (isFull ? noSpace() : rm(at, { recursive: true, force: true })),
      };
      const warnings: string[] = [];
      const logger = { ...SILENT, warn: (_fields: object, message: string) => void warnings.push(message) };
      const backend = createRocksStateBackendOver(driver, { dir }, disk);
      const [first, second] = [await backend.open(scope(logger)), await backend.open(scope(logger))];
      isFull = true;
      await first.close();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(dir);
      expect(warnings[0]).toContain('ENOSPC');
      isFull = false;
      const before = left(dir).length;
      if (when === 'closed') {
        await second.close();
      } else {
        const third = await backend.open(scope(logger));
        expect(left(dir).length).toBeLessThanOrEqual(before);
        await third.close();
        await second.close();
      }
      expect(left(dir)).toEqual([]);
      rmSync(dir, { recursive: true, force: true });
    },
  );
});
