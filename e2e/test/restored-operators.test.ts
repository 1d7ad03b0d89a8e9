import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, StateBackendRole, type PluginList } from '@weir/core';
import { keyBy, type Key, type KeyType } from '@weir/core/operators';
import type { StateBackend } from '@weir/core/contracts';
import type { CrashFileSystem } from '@weir/testkit';
import { describe, expect, test, vi } from 'vitest';
import { counting, KEYED, OPERATORS, type Program } from './support/catalogue.js';
import { outputOf } from './support/left-job.js';
import { rocksdb } from './support/rocksdb.js';

vi.setConfig({ testTimeout: 30_000 });

const BACKENDS: readonly (readonly [string, boolean, StateBackend | undefined])[] = [
  ['memory', false, createMemoryStateBackend()],
  ['memory, with what has changed', true, createMemoryStateBackend()],
  ['RocksDB', false, rocksdb],
  ['RocksDB, by its files', true, rocksdb],
];

function pluginsFor(backend: StateBackend): (disk: CrashFileSystem) => PluginList {
  return (disk) => [
    checkpointCoordinator(),
    {
      name: 'services',
      install(binder) {
        binder.provide(StateBackendRole, backend.type, () => backend);
        binder.provide(CheckpointStorageRole, 'fs', () =>
          createFsStorage({ checkpointsDir: '/checkpoints', fileSystem: disk }),
        );
      },
    },
  ];
}

const PROGRAMS: readonly (readonly [string, Program])[] = [
  ...Object.entries(OPERATORS),
  ...KEYED.flatMap(([what, keyOf, types]): (readonly [string, Program])[] => [
    [`${what}, many`, (s, uid) => s.pipe(keyBy(keyOf), counting(uid))],
    [
      `${what}, few`,
      (s, uid) =>
        s.pipe(
          keyBy((n) => keyOf(n % 4)),
          counting(uid),
        ),
    ],
    [`${what}, declared`, (s, uid) => s.pipe(keyBy(keyOf, { types }), counting(uid, { after: '1h' }))],
  ]),
];

// What several subtasks make of one and the same record, or of what each of them knows, is as often there as there are subtasks.
const REPEATS: ReadonlySet<string> = new Set([
  'broadcast',
  'subtaskProcess with union state',
  'subtaskProcess with broadcast state',
]);

// What keeps nothing in a backend is the same in all of them.
const programsFor = (backend: StateBackend | undefined): typeof PROGRAMS =>
  backend === rocksdb ? PROGRAMS.filter(([name]) => /keyed|keys|scan|s, (many|few|declared)/.test(name)) : PROGRAMS;

describe.each(BACKENDS)('a checkpoint in %s is restored as it was, and by more and by fewer subtasks:', (...row) => {
  const [, incremental, backend] = row;
  test.skipIf(backend === undefined).each(programsFor(backend))('%s', async (name, program) => {
    const options = { pluginsOn: pluginsFor(backend as StateBackend), incremental };
    const once = (lines: readonly string[]): readonly string[] => (REPEATS.has(name) ? [...new Set(lines)] : lines);
    const expected = once(await outputOf([[1, program]], options));
    expect(expected).not.toEqual([]);
    const lives = [2, 2, 3, 1].map((parallelism) => [parallelism, program] as const);
    expect(once(await outputOf(lives, options))).toEqual(expected);
  });
});

describe.each(BACKENDS)('keys of another type are refused, however few there were, in %s:', (...row) => {
  const [, incremental, backend] = row;
  const program =
    (keyOf: (n: number) => Key, types?: readonly KeyType[]): Program =>
    (s, uid) =>
      s.pipe(keyBy(keyOf, { types }), counting(uid));

  test.skipIf(backend === undefined).each<[string, readonly KeyType[] | undefined]>([
    ['told by the first records', undefined],
    ['told before there are any', ['string']],
  ])('%s', async (_what, types) => {
    const options = { pluginsOn: pluginsFor(backend as StateBackend), incremental };
    const before = program((n) => n % 2);
    const after = program((n) => String(n % 2), types);
    for (const width of [2, 1, 3]) {
      const output = outputOf(
        [
          [2, before],
          [2, before],
          [width, after],
        ],
        options,
      );
      await expect(output, `into ${String(width)}`).rejects.toThrow(
        /KEY_TYPE_CHANGED.*operator tried has keys of type number/,
      );
    }
  });

  test.skipIf(backend === undefined)('and keys of several types are not, in whichever subtask they come', async () => {
    const options = { pluginsOn: pluginsFor(backend as StateBackend), incremental };
    const mixed = program((n) => (n % 2 === 0 ? n % 4 : String(n % 4)));
    const expected = await outputOf([[1, mixed]], options);
    expect(
      await outputOf(
        [
          [2, mixed],
          [3, mixed],
          [1, mixed],
        ],
        options,
      ),
    ).toEqual(expected);
  });
});

describe("a checkpoint of one operator is no other operator's under the same uid: it is refused by name, unless nothing is stored, where it was", () => {
  const options = { pluginsOn: pluginsFor(createMemoryStateBackend()), incremental: false };
  const KEEPING = Object.entries(OPERATORS).filter(([name]) =>
    /with (list|union|broadcast)|timers alone|every kind$|scan|state and/.test(name),
  );
  const OTHERS = Object.entries(OPERATORS).filter(([name]) => /map|Process|scan|iterate|transform/.test(name));

  test.each(KEEPING)('%s', async (name, before) => {
    for (const [other, after] of OTHERS) {
      // These declare the same.
      if (other.startsWith(name) || /never|nobody/.test(other) || (/timers/.test(name) && /timers/.test(other)))
        continue;
      const outcome = await outputOf(
        [
          [2, before],
          [2, after],
        ],
        options,
      ).then(
        () => 'taken',
        (error: unknown) => String(error),
      );
      expect(outcome, `${name}, then ${other}`).toMatch(/CHECKPOINT_INCOMPATIBLE.*\btried\b/);
    }
  });

  test.each(OTHERS.filter(([name]) => /without|never|nobody|flatMap|transform/.test(name)))(
    '%s',
    async (name, before) => {
      for (const [other, after] of OTHERS) {
        const outcome = await outputOf(
          [
            [2, before],
            [2, after],
          ],
          options,
        );
        expect(outcome, `${name}, then ${other}`).not.toEqual([]);
      }
    },
  );
});
