import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fsStorage } from '@weir/backend-fs';
import { memoryState } from '@weir/backend-memory';
import { createRocksStateBackend, rocksBackend } from '@weir/backend-rocksdb';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobEvent, type JobHandle, type PluginList, type StartOptions } from '@weir/core';
import { SILENT, causesOf, messageOf, sleep, staticSplits, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, listState, map, mapState, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { assertExactlyOnce, transactionalMemorySink, type TransactionalMemorySink } from '@weir/testkit';
import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

// Checkpoints go to the real disk, and the machine may have more to do.
vi.setConfig({ testTimeout: 60_000 });

const RECORDS = 5000;
const KEYS = 200;
/** How many of the key came, the last three of them, and how many of them were even. */
type Line = readonly [key: number, count: number, last: readonly number[], even: number];

const EXPECTED: readonly Line[] = Array.from({ length: RECORDS }, (_, n) => {
  const key = n % KEYS;
  const all = Array.from({ length: Math.floor(n / KEYS) + 1 }, (_unused, i) => key + i * KEYS);
  return [key, all.length, all.slice(-3), all.filter((m) => m % 2 === 0).length];
});

let limit: number;
let dir: string;
let sink: TransactionalMemorySink<Line>;
/** Each fails the job once so many checkpoints have completed since the last failure. */
let failures: number;
let interval: '20ms' | '1h';
let completed: number;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'weir-'));
  sink = transactionalMemorySink();
  limit = 1000;
  failures = 0;
  interval = '20ms';
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const inMemory = (): PluginList => [memoryState(), fsStorage({ checkpointsDir: join(dir, 'state') })];
/** With a cache that holds few of the keys, and every file a file of its own. */
const inRocksDb = (): PluginList =>
  rocksBackend({
    checkpointsDir: join(dir, 'state'),
    dir: join(dir, 'work'),
    cacheSize: '20 kb',
    memtableSize: '64 kb',
    inlineThreshold: 0,
  });

async function start(state: PluginList, parallelism: number, startOptions: StartOptions = {}): Promise<JobHandle> {
  const env = createEnvironment({
    logger: SILENT,
    parallelism,
    plugins: [checkpointCoordinator(), state, fixedDelayRestart({ attempts: 10, delay: 0 })],
  });
  env.enableCheckpointing(interval, {
    tolerableFailures: Infinity,
    incremental: true,
    externalized: 'retain-on-cancellation',
  });
  completed = 0;
  env
    .from(upToLimit(), { uid: 'numbers' })
    .pipe(
      map((n) => {
        if (failures === 0 || completed < 3) return n;
        failures--;
        completed = 0;
        throw new Error(`${String(n)} is poisoned`);
      }),
      keyBy((n) => n % KEYS),
      keyedProcess({
        uid: 'count',
        state: {
          count: valueState({ initial: () => ({ n: 0 }) }),
          all: listState<number>(),
          even: mapState<number, true>(),
        },
        onRecord(n, { key, state: { count, all, even } }, emit: Emit<Line>) {
          const counted = count.value();
          counted.n++;
          count.update(counted);
          all.add(n);
          if (n % 2 === 0) even.set(n, true);
          emit([key, counted.n, [...all.values()].slice(-3), [...even.entries()].length]);
        },
      }),
    )
    .to(sink, { uid: 'out', guarantee: 'exactly-once' });
  const job = await env.start('counts', startOptions);
  job.events$.subscribe(({ kind }) => {
    if (kind === 'checkpoint-completed') completed++;
  });
  return job;
}

function upToLimit(): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    async open(_split, begin = 0, { clock, signal }) {
      let next = begin;
      return {
        async poll(max) {
          // A failure that is still to come has to have something to fail at.
          if (next === RECORDS && failures === 0) return 'end';
          await sleep(clock, 1, signal).catch(() => undefined);
          const first = next;
          const end = failures > 0 && completed < 3 ? Math.min(limit, RECORDS - 100) : limit;
          next = Math.max(next, Math.min(next + max, next + 20, end));
          return Array.from({ length: next - first }, (_, i) => first + i);
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}

async function afterCheckpoints(job: JobHandle, count: number): Promise<void> {
  const completed = job.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed'));
  await firstValueFrom(completed.pipe(take(count), toArray()));
}

describe.skipIf(!isThere())('a job with its state in RocksDB', () => {
  for (const parallelism of [1, 2]) {
    test(`gives after failures what one that never failed gives, by ${String(parallelism)}`, async () => {
      limit = RECORDS;
      failures = 4;
      const job = await start(inRocksDb(), parallelism);
      const events: JobEvent[] = [];
      job.events$.subscribe((event) => events.push(event));
      expect(await job.done).toBe('finished');
      assertExactlyOnce(sink.visible, EXPECTED);
      expect(failures).toBe(0);
      const written = events.flatMap((event) =>
        event.kind === 'checkpoint-completed' ? [event.writtenBytes < event.stateBytes] : [],
      );
      expect(written).toContain(true);
      expect(readdirSync(join(dir, 'work', 'weir-rocksdb'))).toEqual([]);
    });
  }

  test('goes on from an incremental checkpoint at any parallelism', async () => {
    for (const parallelism of [1, 3, 2, 2]) {
      const job = await start(inRocksDb(), parallelism);
      await expect.poll(() => sink.visible.length, { timeout: 20_000, interval: 5 }).toBe(limit);
      await afterCheckpoints(job, 2);
      await job.cancel();
      limit += 1000;
    }
    const last = await start(inRocksDb(), 4);
    expect(await last.done).toBe('finished');
    assertExactlyOnce(sink.visible, EXPECTED);
  });

  test('is refused a checkpoint of which any file is damaged, with the names of both', async () => {
    // Of two checkpoints one keeps files that the other does not read.
    interval = '1h';
    const job = await start(inRocksDb(), 1);
    await firstValueFrom(job.status$.pipe(filter((status) => status === 'running')));
    while (sink.visible.length < limit) await job.triggerCheckpoint();
    const state = join(dir, 'state', 'counts');
    const checkpoints = (): readonly string[] => readdirSync(state).filter((name) => name.startsWith('chk-'));
    await job.triggerCheckpoint();
    await expect.poll(checkpoints, { timeout: 20_000, interval: 5 }).toHaveLength(1);
    await job.cancel();
    const checkpoint = checkpoints()[0]!;
    // Without it what was prepared is needed, too.
    rmSync(join(state, checkpoint, '_committed'), { force: true });
    const files = [checkpoint, 'shared'].flatMap((folder) =>
      // What it says of its output is no part of what is restored.
      readdirSync(join(state, folder))
        .filter((name) => name !== '_committed')
        .map((name) => join(folder, name)),
    );
    expect(files.length).toBeGreaterThanOrEqual(5);
    for (const file of files) {
      const whole = readFileSync(join(state, file));
      const flipped = Buffer.from(whole);
      flipped[whole.length >> 1]! ^= 1;
      for (const damaged of [whole.subarray(0, -1), Buffer.alloc(whole.length), flipped, undefined]) {
        if (damaged === undefined) rmSync(join(state, file));
        else writeFileSync(join(state, file), damaged);
        const restarted = start(inRocksDb(), 1, { restoreFrom: join(state, checkpoint) }).then((again) => again.done);
        const failure = await restarted.then(String, (error: unknown) => [...causesOf(error)].map(String).join('; '));
        // Without its `_metadata`, which comes last, it is none.
        const isGone = damaged === undefined && file.endsWith('_metadata');
        expect(failure).toMatch(isGone ? /CHECKPOINT_NONE/ : /CHECKPOINT_UNREADABLE/);
        expect(failure).toContain(checkpoint);
        if (!file.endsWith('_metadata')) expect(failure).toContain(basename(file));
      }
      writeFileSync(join(state, file), whole);
    }
    const last = await start(inRocksDb(), 2, { restoreFrom: join(state, checkpoint) });
    limit = RECORDS;
    expect(await last.done).toBe('finished');
    assertExactlyOnce(sink.visible, EXPECTED);
  });

  test('moves to memory and back with a savepoint', async () => {
    let path: string | undefined;
    const lives = [inMemory, inRocksDb, inMemory, inRocksDb];
    for (const [life, state] of lives.entries()) {
      const job = await start(state(), 1 + (life % 3), { restoreFrom: path });
      await expect.poll(() => sink.visible.length, { timeout: 20_000, interval: 5 }).toBe(limit);
      ({ pointer: path } = await job.stopWithSavepoint({ dir: join(dir, 'mine') }));
      expect(await job.done).toBe('stopped');
      limit += 1000;
    }
    const last = await start(inMemory(), 1, { restoreFrom: path });
    expect(await last.done).toBe('finished');
    assertExactlyOnce(sink.visible, EXPECTED);
  });
});

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
