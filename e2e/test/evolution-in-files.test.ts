import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryState } from '@weir/backend-memory';
import { fsStorage } from '@weir/backend-fs';
import { createRocksStateBackend, rocksBackend } from '@weir/backend-rocksdb';
import { collected } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type Environment, type JobHandle, type PluginList } from '@weir/core';
import { SILENT, messageOf, sleep, staticSplits, type Source } from '@weir/core/contracts';
import {
  droppedState,
  keyBy,
  keyedProcess,
  listState,
  mapState,
  valueState,
  type Emit,
  type StateDescriptor,
  type States,
} from '@weir/core/operators';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

// Incremental checkpoints: what a program finds is not only what its predecessor has written last.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const BACKENDS: Readonly<Record<string, (dir: string) => PluginList>> = {
  rocksdb: (dir) =>
    rocksBackend({
      checkpointsDir: join(dir, 'state'),
      dir: join(dir, 'work'),
      memtableSize: '64 kb',
      inlineThreshold: 0,
    }),
  memory: (dir) => [memoryState(), fsStorage({ checkpointsDir: join(dir, 'state'), inlineThreshold: 0 })],
};
const KEYS = 50;

interface Handles {
  readonly total: { value(): unknown; update(value: number): void };
  readonly recent: { values(): Iterable<unknown>; add(value: number): void };
  readonly days: { entries(): Iterable<unknown>; set(key: string, value: number): void };
}
const FIRST = {
  total: valueState<number>({ initial: () => 0 }),
  recent: listState<number>(),
  days: mapState<string, number>(),
};
type Line = readonly unknown[];

function environmentOf(plugins: PluginList, state: States, line: (states: Handles, n: number) => Line): Environment {
  const env = createEnvironment({ logger: SILENT, plugins: [checkpointCoordinator(), plugins] });
  env.enableCheckpointing('20ms', { incremental: true, externalized: 'retain-on-cancellation' });
  env
    .from(endless(), { uid: 'numbers' })
    .pipe(
      keyBy((n) => n % KEYS),
      keyedProcess({
        uid: 'count',
        state,
        onRecord(n: number, { state: states }, emit: Emit<Line>) {
          emit(line(states as unknown as Handles, n));
        },
      }),
    )
    .to(collected<Line>().sink, { uid: 'out' });
  return env;
}

/** A few numbers now and then, for ever. */
function endless(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    async open(_split, start = 0, { clock, signal }) {
      let next = start;
      return {
        async poll() {
          await sleep(clock, 1, signal).catch(() => undefined);
          return Array.from({ length: 10 }, () => next++);
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}

async function afterCheckpoints(job: JobHandle, count: number): Promise<void> {
  const completed = job.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed'));
  await Promise.race([firstValueFrom(completed.pipe(take(count), toArray())), job.done]);
}

const step = { 1: (n: number) => -n };
const as = <S>(descriptor: S): StateDescriptor<unknown> => descriptor as StateDescriptor<unknown>;
const CHANGED: readonly (readonly [string, States, (states: never) => Line, RegExp])[] = [
  [
    'with values of a new version',
    {
      total: as(valueState<number>({ version: 2, migrate: step })),
      recent: as(listState<number>({ version: 2, migrate: step })),
      days: as(mapState<string, number>({ version: 2, migrate: step })),
    },
    ({ total, recent, days }: Handles) => {
      total.update(total.value() as number);
      return [total.value(), [...recent.values()].at(0), [...days.entries()].length];
    },
    /^\[-\d+,(-\d+|0),1\]$/,
  ],
  [
    'with a state of another name, one given up and one that is new',
    {
      more: as(valueState<number>()),
      sum: as(valueState<number>({ renamedFrom: 'total' })),
      recent: droppedState(),
      days: as(mapState<string, number>()),
    },
    ({ sum, more }: { readonly sum: Handles['total']; readonly more: Handles['total'] }) => [
      sum.value(),
      more.value() ?? null,
    ],
    /^\[\d+,null\]$/,
  ],
];

/** Where `CI` is set, a driver that is not there is a failure. */
function isThere(): boolean {
  try {
    createRocksStateBackend();
    return true;
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    console.warn(`Tests that need RocksDB are skipped. ${messageOf(error)}`);
    return false;
  }
}

describe.each(Object.entries(BACKENDS).filter(([name]) => name !== 'rocksdb' || isThere()))(
  'incremental checkpoints of %s state',
  (_name, backend) => {
    let first: string;
    beforeAll(async () => {
      first = mkdtempSync(join(tmpdir(), 'weir-'));
      const job = await environmentOf(backend(first), FIRST, ({ total, recent, days }, n) => {
        total.update((total.value() as number) + 1);
        recent.add(n);
        days.set('mon', n);
        return [n];
      }).start('evolving');
      await afterCheckpoints(job, 4);
      await job[Symbol.asyncDispose]();
    });
    afterAll(() => {
      rmSync(first, { recursive: true, force: true });
    });

    test.each(CHANGED)(
      'are gone on from %s, and so are those of the changed program',
      async (_what, state, line, shape) => {
        const dir = mkdtempSync(join(tmpdir(), 'weir-'));
        try {
          cpSync(first, dir, { recursive: true });
          const lines: string[] = [];
          // The second start finds what the first one has stored of the changed state, and the third what the second has.
          for (let starts = 1; starts <= 3; starts++) {
            const job = await environmentOf(backend(dir), state, (states) => {
              const each = line(states as never);
              lines.push(JSON.stringify(each));
              return each;
            }).start('evolving');
            await afterCheckpoints(job, 3);
            await job[Symbol.asyncDispose]();
          }
          expect(lines.length).toBeGreaterThan(KEYS);
          expect(lines.filter((each) => !shape.test(each))).toEqual([]);
        } finally {
          rmSync(dir, { recursive: true, force: true });
        }
      },
    );
  },
);
