import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runSeed, simulate, type SimulatedJob } from '@weir/testkit';
import { CheckpointStorageRole, type Plugin } from '@weir/core';
import type { CheckpointStorage } from '@weir/core/contracts';
import { createMemoryStorage } from '@weir/backend-memory';
import { describe, expect, test } from 'vitest';
import { jobs, jobsOn } from '../../src/simulate/jobs.js';
import { mutate } from '../../src/simulate/mutant.js';
import { MUTANTS } from '../../src/simulate/mutants.js';
import { rocksdb } from '../support/rocksdb.js';

const TIMEOUT = 120_000;

async function traceOf(seed: number, make = jobs): Promise<readonly string[]> {
  const lines: string[] = [];
  await runSeed(make, seed, { add: (line) => lines.push(line()) });
  return lines;
}

/** Folders of working state have a name of their own each time, which errors tell. */
const withoutFolders = (trace: readonly string[]): readonly string[] =>
  trace.map((line) => line.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '…'));

describe('a simulation of random jobs', () => {
  test(
    'is the same run for the same seed, line by line',
    async () => {
      for (const seed of [1, 2, 3]) {
        const lines = await traceOf(seed);
        expect(lines.length).toBeGreaterThan(50);
        expect(await traceOf(seed)).toEqual(lines);
      }
    },
    TIMEOUT,
  );

  test.skipIf(rocksdb === undefined)(
    'is the same run on RocksDB too, whose threads and files take their real time',
    async () => {
      // In some of them checkpoints of many files are restored, four files at once.
      for (const seed of [23, 53, 91, 102]) {
        expect(withoutFolders(await traceOf(seed, jobsOn('rocksdb')))).toEqual(
          withoutFolders(await traceOf(seed, jobsOn('rocksdb'))),
        );
      }
    },
    TIMEOUT,
  );

  test(
    'finds nothing in the engine, although faults struck and checkpoints were restored',
    async () => {
      const { failures, restored, faults } = await simulate(jobs, { seeds: 25 });
      expect(failures).toEqual([]);
      expect(restored).toBeGreaterThan(0.7);
      expect(faults['process-crash']).toBeGreaterThan(0);
      expect(faults['subtask-crash']).toBeGreaterThan(0);
      expect(faults['observer-failure']).toBeGreaterThan(0);
    },
    TIMEOUT,
  );

  test(
    'finds a storage that gives back an older checkpoint than it was asked for',
    async () => {
      const { failures } = await simulate(withStorage(forgetful), { seeds: 60, mostFailures: 1 });
      expect(failures).toHaveLength(1);
    },
    TIMEOUT,
  );
});

describe('the mutants', () => {
  test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "'%s' fits the engine as it is",
    (_name, mutant) => {
      const [folder, ...rest] = mutant.file.split('/');
      const file = new URL(`../../../packages/${String(folder)}/src/${rest.join('/')}.ts`, import.meta.url);
      const text = readFileSync(fileURLToPath(file), 'utf8');
      expect(mutate(text, mutant)).not.toBe(text);
    },
  );
});

/** The random jobs, on another storage. */
function withStorage(make: () => CheckpointStorage): typeof jobs {
  return (random, seed): SimulatedJob => {
    const job = jobs(random, seed);
    const storage = make();
    const plugin: Plugin = {
      name: 'storage-under-test',
      install(binder) {
        binder.provide(CheckpointStorageRole, 'under-test', () => storage);
      },
    };
    return { ...job, plugins: () => [withoutStorage(job), plugin] };
  };
}

function withoutStorage(job: SimulatedJob): Plugin {
  return {
    name: 'the-others',
    install(binder) {
      const all = job.plugins().flat(5) as unknown as readonly Plugin[];
      for (const plugin of all)
        plugin.install({
          provide: (role, type, create) => {
            if (role.name !== CheckpointStorageRole.name) binder.provide(role, type, create);
          },
        });
    },
  };
}

/** Reads the metadata of the first checkpoint, whichever it is asked for. */
function forgetful(): CheckpointStorage {
  const storage = createMemoryStorage();
  return {
    ...storage,
    async open(scope) {
      const job = await storage.open(scope);
      let first: Uint8Array | undefined;
      return new Proxy(job, {
        get(target, property) {
          if (property === 'readMetadata')
            return async (...checkpoint: Parameters<typeof job.readMetadata>) =>
              (first ??= await target.readMetadata(...checkpoint));
          const value = Reflect.get(target, property, target) as unknown;
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    },
  };
}
