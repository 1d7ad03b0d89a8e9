// weir-fs: state in memory, checkpoints in a folder, exactly once, every second. weir-fs-inc: the same, incremental.
// weir-rocksdb: state in RocksDB, incremental. weir-mem: checkpoints in memory. weir-none: none.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fsBackend } from '@weir/backend-fs';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type PluginList } from '@weir/core';
import { staticSplits, type Sink, type Source } from '@weir/core/contracts';
import { filter, keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { Meter, msSinceStart, orderFrom, peakRssMiB, print } from './meter.js';
import { accept, accepted, item, itemOfEachKey, project, type Item, type Sum } from './work.js';

const order = orderFrom(process.argv.slice(2));
const { engine, keys, count: all, parallelism, mode } = order;
const meter = new Meter(order);
const dir = process.env['BENCH_DIR'] ?? './run';
const checkpointsDir = `${dir}/checkpoints`;
if (mode !== 'restore') rmSync(dir, { recursive: true, force: true });

const { version: weir } = createRequire(import.meta.url)('@weir/core/package.json') as { readonly version: string };
const version = `weir ${weir}, node ${process.version}`;
const wanted = mode === 'run' ? accepted(all) : Number.POSITIVE_INFINITY;
const end = mode === 'fill' ? keys : mode === 'restore' ? 2 * keys : all;
let written = 0;
let checksum = 0;
let firstOutput: { readonly afterMs: number; readonly total: number } | undefined;

/** Split s of p gives s, s + p, s + 2p, ... */
const source: Source<Item, 'replayable', { readonly id: string; readonly first: number }, number> = {
  grade: 'replayable',
  bounded: mode === 'run',
  enumerator: () =>
    staticSplits(
      Array.from({ length: parallelism }, (_, first) => ({ id: `${String(first)}/${String(parallelism)}`, first })),
    ),
  open: ({ first }, start = first) => {
    let next = start;
    const make = mode === 'run' ? item : itemOfEachKey;
    return Promise.resolve({
      poll(max: number) {
        meter.begin();
        if (next >= meter.warmAt) meter.warm();
        if (next >= end) return mode === 'run' ? 'end' : new Promise((resolve) => setTimeout(resolve, 5, []));
        const batch = new Array<Item>(Math.min(max, Math.ceil((end - next) / parallelism)));
        for (let i = 0; i < batch.length; i++, next += parallelism) batch[i] = make(next, keys);
        return batch;
      },
      position: () => next,
      close: () => Promise.resolve(),
    });
  },
};

const sink: Sink<Sum, 'idempotent'> = {
  grade: 'idempotent',
  open: () => ({
    write(batch) {
      firstOutput ??= { afterMs: msSinceStart(), total: batch[0]!.total };
      for (const { total } of batch) checksum = (checksum + total) | 0;
      written += batch.length;
      if (written === wanted) meter.end();
    },
    close: () => undefined,
  }),
};

const env = createEnvironment({ parallelism, plugins: [checkpointCoordinator(), await backend()] });
if (engine !== 'weir-none')
  env.enableCheckpointing('1 s', {
    incremental: engine.startsWith('weir-rocksdb') || engine === 'weir-fs-inc',
    externalized: 'retain-on-cancellation',
  });
env
  .from(source, { uid: 'records' })
  .pipe(
    map(project),
    filter(accept),
    keyBy(({ key }) => key),
    keyedProcess({
      uid: 'total',
      state: { total: valueState({ initial: () => 0 }) },
      onRecord({ key, value }, { state }, emit: Emit<Sum>) {
        const total = state.total.value() + value;
        state.total.update(total);
        emit({ key, total });
      },
    }),
  )
  .to(sink, { uid: 'out' });

const submittedMs = msSinceStart();
const job = await env.start('bench');
const durations: number[] = [];
let stateBytes = 0;
let restoredFrom: number | undefined;
/** Checkpoints that were triggered after every key was there. */
const covering = new Set<number>();
job.events$.subscribe((event) => {
  if (event.kind === 'attempt-started') restoredFrom = event.restoredCheckpoint;
  if (event.kind === 'checkpoint-triggered' && written === keys) covering.add(event.checkpointId);
  if (event.kind !== 'checkpoint-completed') return;
  if (meter.hasBegun && !meter.hasEnded) durations.push(event.durationMs);
  stateBytes = event.stateBytes;
  if (mode !== 'fill' || !covering.has(event.checkpointId)) return;
  const { durationMs: ckptMs, pointer: checkpoint } = event;
  const line = { engine, mode, K: keys, p: parallelism, filled: written, checkpoint, stateBytes, ckptMs };
  print({ ...line, peakRssMiB: peakRssMiB() }, crash);
});

if (mode === 'run') {
  await job.done;
  if (written !== wanted) throw new Error(`counted ${String(written)}, not ${String(wanted)}`);
  meter.report(written, checksum, engine === 'weir-none' ? undefined : durations, { stateBytes, version });
} else if (mode === 'restore') {
  while (firstOutput === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  const { afterMs, total } = firstOutput;
  const times = { restoreJobMs: afterMs - submittedMs, restoreTotalMs: afterMs };
  // 4 from before, and 4 now: state and position are both there.
  const proof = { firstTotal: total, ok: total === 8 };
  const line = { engine, mode, K: keys, p: parallelism, restoredFrom, ...times, ...proof };
  print({ ...line, peakRssMiB: peakRssMiB(), version }, crash);
}

function crash(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function backend(): Promise<PluginList> {
  if (engine.startsWith('weir-rocksdb')) {
    const { rocksBackend } = await import('@weir/backend-rocksdb');
    const big = engine === 'weir-rocksdb-big' ? ({ cacheSize: '256 mb', blockCacheSize: '256 mb' } as const) : {};
    return rocksBackend({ checkpointsDir, dir: `${dir}/rocksdb`, ...big });
  }
  return engine === 'weir-mem' ? memoryBackend() : fsBackend({ checkpointsDir });
}
