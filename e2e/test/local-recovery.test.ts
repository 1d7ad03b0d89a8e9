import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobEvent } from '@weir/core';
import { nextTurn, SILENT, type Source, type SourceSplit } from '@weir/core/contracts';
import { keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { assertExactlyOnce, numbers, transactionalMemorySink, type TransactionalMemorySink } from '@weir/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const RECORDS = 20_000;
const KEYS = 500;
type Count = readonly [key: number, count: number];

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'weir-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});
const local = (): string => join(dir, 'local');
const localFiles = (folder = local()): string[] =>
  (unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? localFiles(path) : [path];
  });
/** Those that are not being written. */
const wholeFiles = (): string[] => localFiles().filter((path) => !path.includes('tmp-'));

/** A job removes what is superfluous whenever it likes. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

interface Run {
  readonly parallelism: number;
  readonly sink: TransactionalMemorySink<Count>;
  /** Each is called at a record from which on a checkpoint has completed since the last one, and is followed by a failure. */
  readonly failures: (() => void)[];
  /** The process goes away instead. */
  readonly leave?: boolean;
  readonly incremental?: boolean;
}

/** Counts numbers by key, all state in files. Nothing is finished before every failure has happened. */
async function run({ parallelism, sink, failures, leave = false, incremental = false }: Run): Promise<JobEvent[]> {
  const env = createEnvironment({
    parallelism,
    logger: SILENT,
    plugins: [
      checkpointCoordinator(),
      fsBackend({ checkpointsDir: join(dir, 'checkpoints'), inlineThreshold: 0 }),
      fixedDelayRestart({ attempts: 5, delay: 0 }),
    ],
  });
  env.enableCheckpointing('10ms', {
    incremental,
    localRecovery: true,
    localDirs: local(),
    tolerableFailures: Infinity,
  });
  let completed = 0;
  const process = new AbortController();
  const mustWait = (): boolean => failures.length > 0 || leave;
  env
    .from(holdingTheLast(numbers(RECORDS, { perPoll: 7, turnsBetween: 2 }), mustWait), { uid: 'numbers' })
    .pipe(
      map((n) => {
        if (completed < 2) return n;
        const failure = failures.shift();
        if (failure === undefined) {
          if (leave) process.abort();
          return n;
        }
        completed = 0;
        failure();
        throw new Error(`${String(n)} is poisoned`);
      }),
      keyBy((n) => n % KEYS),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(_n, { key, state: { count } }, emit: Emit<Count>) {
          count.update(count.value() + 1);
          emit([key, count.value()]);
        },
      }),
    )
    .to(sink, { uid: 'out', guarantee: 'exactly-once' });
  const job = await env.start('local', { signal: process.signal });
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => {
    events.push(event);
    if (event.kind === 'checkpoint-completed') completed++;
  });
  expect(await job.done).toBe(leave ? 'cancelled' : 'finished');
  return events;
}

/** Gives its last thousand records slowly while `mustWait` says so: then there is still something to fail at. */
function holdingTheLast<S extends SourceSplit>(
  source: Source<number, 'replayable', S, number>,
  mustWait: () => boolean,
): typeof source {
  return {
    ...source,
    async open(split, position, context) {
      const reader = await source.open(split, position, context);
      let asked = 0;
      return {
        // One now and then: whatever waits for a checkpoint waits for its next record.
        poll: (max) => {
          if (reader.position() < RECORDS - 1000 || !mustWait()) return reader.poll(max);
          return ++asked % 200 === 0 ? reader.poll(1) : nextTurn(context.clock).then((): readonly number[] => []);
        },
        position: () => reader.position(),
        close: () => reader.close(),
      };
    },
  };
}

function reads(events: readonly JobEvent[]): { readonly isLocal: boolean; readonly isRemote: boolean }[] {
  return events.flatMap((event) =>
    event.kind === 'state-read' ? [{ isLocal: event.localBytes > 0, isRemote: event.remoteBytes > 0 }] : [],
  );
}
const LOCAL = { isLocal: true, isRemote: false };
const REMOTE = { isLocal: false, isRemote: true };
const ALL: readonly Count[] = Array.from({ length: RECORDS }, (_, n) => [n % KEYS, Math.floor(n / KEYS) + 1]);

function damageAll(): void {
  for (const path of wholeFiles()) {
    const bytes = unlessGone(() => readFileSync(path));
    if (bytes === undefined) continue;
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
  }
}

describe('a job with local copies of its state', { timeout: 60_000 }, () => {
  test.each([
    [1, false],
    [2, false],
    [2, true],
  ])(
    'restores from them, failure after failure, at parallelism %i, incremental: %s',
    async (parallelism, incremental) => {
      const sink = transactionalMemorySink<Count>();
      const events = await run({ parallelism, incremental, sink, failures: [() => undefined, () => undefined] });
      assertExactlyOnce(sink.visible, ALL);
      expect(reads(events)).toEqual([LOCAL, LOCAL]);
      expect(localFiles(), 'what a finished job leaves').toEqual([]);
    },
  );

  test('restores from the checkpoint storage what they do not have, and from new ones the next time', async () => {
    const sink = transactionalMemorySink<Count>();
    const removeAll = (): void => {
      for (const path of wholeFiles()) rmSync(path, { force: true });
    };
    const events = await run({ parallelism: 2, sink, failures: [removeAll, damageAll, () => undefined] });
    assertExactlyOnce(sink.visible, ALL);
    expect(reads(events)).toEqual([REMOTE, REMOTE, LOCAL]);
    expect(events.filter(({ kind }) => kind === 'warning')).toEqual([]);
  });

  test('runs on where there is no room for them, and says that once', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(local(), 'no folder');
    const sink = transactionalMemorySink<Count>();
    const events = await run({ parallelism: 2, sink, failures: [() => undefined, () => undefined] });
    assertExactlyOnce(sink.visible, ALL);
    expect(reads(events)).toEqual([REMOTE, REMOTE]);
    expect(events.filter((event) => event.kind === 'warning' && event.message.startsWith('Local copies'))).toHaveLength(
      1,
    );
    const failed = events.filter((event) => event.kind === 'checkpoint-aborted' && event.counted);
    expect(failed, 'checkpoints that failed').toEqual([]);
  });

  test.each([
    [2, 3, false],
    [3, 1, false],
    [2, 3, true],
  ])(
    'hands them on to the next process, from parallelism %i to %i, incremental: %s',
    async (before, after, incremental) => {
      const sink = transactionalMemorySink<Count>();
      await run({ parallelism: before, incremental, sink, failures: [], leave: true });
      expect(localFiles().some((path) => path.includes('shared'))).toBe(incremental);
      const events = await run({ parallelism: after, incremental, sink, failures: [] });
      assertExactlyOnce(sink.visible, ALL);
      expect(reads(events)).toEqual([LOCAL]);
    },
  );
});
