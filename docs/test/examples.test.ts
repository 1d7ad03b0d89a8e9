import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRocksStateBackend } from '@weir/backend-rocksdb';
import { jsonLines, readCommitted } from '@weir/connectors/file';
import { messageOf } from '@weir/core/contracts';
import { parseJsonLine } from '@weir/core/state-reader';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { filesBelow, ROOT, textOf } from './support/pages.js';

/** What a program finds, and what it has printed in the end. */
interface Run {
  /** True: the machine lacks something that it needs, and it is not run. */
  readonly isSkipped?: boolean;
  /** Lays out the working directory. */
  readonly given?: () => void;
  readonly then?: (printed: readonly unknown[]) => void | Promise<void>;
}

const prints =
  (...expected: readonly unknown[]): NonNullable<Run['then']> =>
  (printed) => {
    expect(printed).toEqual(expected);
  };

/** Where `CI` is set a missing driver is an error, so that nobody takes a skipped example for one that runs. */
const hasRocksdb = rocksdbOrNothing();

function rocksdbOrNothing(): boolean {
  try {
    createRocksStateBackend();
    return true;
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error;
    console.warn(`The example with RocksDB is skipped: ${messageOf(error)}`);
    return false;
  }
}

const RUNS: Readonly<Record<string, Run>> = {
  'configuration/mixed.ts': {},
  'operations/bad-records.ts': { then: prints([{ id: 1 }, { id: 3 }], [{ text: '{"id":', why: 'SyntaxError' }]) },
  'operations/call-timeouts.ts': {},
  'configuration/package.ts': {},
  'keyed-streams/travelling-key.ts': { then: prints('ada: 1150\nada: 250\nbob: 100') },
  'connectors/collection.ts': { then: prints([10, 20, 30]) },
  'connectors/datagen.ts': {
    then(printed) {
      const lines = [1, 4, 9].map((square, i) => `squares> { n: ${String(i + 1)}, square: ${String(square)} }\n`);
      expect(printed.join('')).toBe(lines.join(''));
    },
  },
  'connectors/file.ts': {
    given() {
      mkdirSync('in');
      writeFileSync('in/a.csv', 'name,born\n"Lamport, Leslie",1941\n');
      writeFileSync('in/b.csv', 'name,born\nChandy,1944\n');
    },
    then: prints({ name: 'Lamport, Leslie', born: 1941 }, { name: 'Chandy', born: 1944 }),
  },
  'connectors/rxjs.ts': { then: prints('tick 0', 'tick 1', 'tick 2', 'order 1', 0, 1, 4) },
  'delays/main.ts': {
    given() {
      const delays = Array.from(
        { length: 3000 },
        (_, i) => `${['AMS', 'FRA', 'OSL'][i % 3] ?? ''},${String((i % 7) - 2)}`,
      );
      writeFileSync('flights.csv', `date,origin,delay\n${delays.map((line) => `2001-01-01,${line}\n`).join('')}`);
    },
    async then(printed) {
      expect(printed).toEqual(expect.arrayContaining(['fresh-start', 'checkpoint-completed', 'committed']));
      expect(printed.at(-1)).toBe('finished');
      const totals = new Map<string, number[]>();
      for (const { origin, minutes } of await readCommitted('out', jsonLines<{ origin: string; minutes: number }>())) {
        totals.set(origin, [...(totals.get(origin) ?? []), minutes]);
      }
      for (const [offset, origin] of ['AMS', 'FRA', 'OSL'].entries()) {
        const delays = Array.from({ length: 1000 }, (_, i) => ((i * 3 + offset) % 7) - 2).filter((delay) => delay > 0);
        let sum = 0;
        expect(totals.get(origin)).toEqual(delays.map((delay) => (sum += delay)));
      }
    },
  },
  'errors.ts': {
    then(printed) {
      expect(printed).toEqual([expect.stringMatching(/^GRAPH_EMPTY: /)]);
    },
  },
  'from-flink/first-job.ts': {
    then(printed) {
      expect(printed.join('')).toMatch(/word: 'odd', count: \d\d/);
      expect(printed.at(-1)).toMatch(/^RESTART_SUPPRESSED: .*the 300th record/);
    },
  },
  'from-flink/failure-rate.ts': { then: prints('1 2 3 4') },
  'from-flink/fallback.ts': { then: prints('a b') },
  'iterations/collatz.ts': { then: prints('6 takes 8 steps', '7 takes 16 steps', '27 takes 111 steps') },
  'operations/service.ts': {
    given() {
      mkdirSync('in');
      writeFileSync('in/a.jsonl', '{"n":1}\n{"n":2}\n');
    },
    async then(printed) {
      process.removeAllListeners('SIGTERM');
      expect(printed).toEqual(['finished']);
      expect(await readCommitted('out', jsonLines())).toEqual([{ n: 1 }, { n: 2 }]);
    },
  },
  'packages/backend-fs.ts': { then: prints('cancelled', 'finished', '300 numbers, 300 different') },
  'packages/backend-memory.ts': { then: prints('1 2 4 6') },
  'packages/backend-rocksdb.ts': { isSkipped: !hasRocksdb, then: prints('ada has seen a 2 times') },
  'packages/barrier.ts': { then: prints('before', 'also before', 'barrier', 'after') },
  'packages/coordinator.ts': {
    then: prints('manual checkpoint 1', { triggered: 1, inProgress: 0, completed: 1, failed: 0, restored: 0 }),
  },
  'packages/core.ts': { then: prints('to 1, be 1, or 1, not 1, to 2, be 2') },
  'restart-strategies/environment.ts': {},
  'restart-strategies/job.ts': {},
  'savepoints/check.ts': {
    then(printed) {
      const [without, withStep] = printed.map(String);
      expect(without).toMatch(/: does not fit\n/);
      expect(without).toMatch(
        / sum +value +incompatible +STATE_VERSION_MISMATCH: state 'sum' of operator 'sums' in chk-/,
      );
      expect(withStep).toMatch(/: fits\n/);
      expect(withStep).toMatch(/ sum +value +migrated +version 1 to 2\n/);
    },
  },
  'savepoints/upgrade.ts': { then: prints('stopped', 'finished', '300 numbers, 300 different') },
  'simulator/own-job.ts': { then: prints('20 seeds, 0 failures') },
  'state-reader/main.ts': {
    then(printed) {
      expect(printed).toEqual([
        'total-by-origin has value state total (msgpack)',
        'OSL is at 50',
        ...['changed AMS', 'added FRA'].sort((a, b) => printed.indexOf(a) - printed.indexOf(b)),
      ]);
      const rows = readFileSync('after.jsonl', 'utf8').trimEnd().split('\n').map(parseJsonLine);
      expect(rows.filter(({ row }) => row === 'state')).toHaveLength(3);
    },
  },
  'time/main.ts': { then: prints('ada before 01:00: 2', 'joe before 02:00: 1', 'ada before 03:00: 1') },
};

let printed: unknown[];
let folder: string;

beforeEach(() => {
  printed = [];
  folder = mkdtempSync(path.join(tmpdir(), 'weir-docs-'));
  process.chdir(folder);
  vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(...values));
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    printed.push(text);
    for (const settled of rest) if (typeof settled === 'function') settled();
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  process.chdir(ROOT);
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(RUNS))('%s', (file, { isSkipped = false, given, then }) => {
  test.skipIf(isSkipped)(
    'runs, and does what its page says',
    async () => {
      given?.();
      await import(path.join(ROOT, 'docs/examples', file));
      vi.restoreAllMocks();
      await then?.(printed);
    },
    30_000,
  );
});

test('every example is run, here or by the test of its page', () => {
  const users = [...filesBelow('docs/test'), ...filesBelow('docs/examples')].map(textOf).join('\n');
  const idle = filesBelow('docs/examples').filter((file) => {
    const name = file.slice('docs/examples/'.length);
    const isUsed = users.includes(`/${path.basename(name, '.ts')}.js'`) || users.includes(`'docs/examples/${name}'`);
    return !(name in RUNS) && !isUsed;
  });
  expect(idle).toEqual([]);
});
