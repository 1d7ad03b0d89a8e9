import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import type { RocksStatePluginOptions } from '@weir/backend-rocksdb';
import { checkpointCoordinator } from '@weir/coordinator';
import {
  createEnvironment,
  type CheckpointOptions,
  type CheckpointStats,
  type JobHandle,
  type PluginList,
} from '@weir/core';
import { SILENT, sleep as untilLater, staticSplits, type Clock, type Sink, type Source } from '@weir/core/contracts';
import { filter, keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { Standstill } from './standstill.js';
import { accept, project, textOf, totalIn, type Input, type Total } from './workload.js';

export interface BenchmarkJobOptions {
  readonly records: readonly Input[];
  /** Undefined: checkpointing is off. */
  readonly checkpointEveryMs?: number | undefined;
  readonly checkpointing?: CheckpointOptions | undefined;
  /** The source gives nothing from the trigger of a checkpoint until it is over. */
  readonly stopTheWorld?: boolean | undefined;
  readonly parallelism?: number | undefined;
  /** Records per second; undefined: as fast as it goes. */
  readonly rate?: number | undefined;
  /** Records in all; undefined: until it is cancelled. */
  readonly count?: number | undefined;
  /** Records in all by now: more come when it gives more. */
  readonly upTo?: (() => number) | undefined;
  readonly checkpointsDir?: string | undefined;
  /** Sums are kept as texts of about 100 bytes. */
  readonly texts?: boolean | undefined;
  /** Default: in memory. */
  readonly state?: StateChoice | undefined;
  readonly restoreFrom?: string | undefined;
  readonly onWrite?: ((batch: readonly Total[]) => void | Promise<void>) | undefined;
}

/** RocksDB. Without sizes it has its own. */
export interface StateChoice {
  readonly rocksdb: Pick<RocksStatePluginOptions, 'cacheSize' | 'blockCacheSize' | 'memtableSize'>;
}

export interface BenchmarkJob extends AsyncDisposable {
  readonly handle: JobHandle;
  /** Records that sources have handed out, and that have reached the sink. */
  readonly counts: { read: number; written: number };
  readonly checkpoints: CheckpointStats[];
}

/** map → filter → keyBy → stateful sum → sink, exactly-once, with checkpoints to the file system. */
export async function startJob(options: BenchmarkJobOptions): Promise<BenchmarkJob> {
  const dir = options.checkpointsDir ?? mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const counts = { read: 0, written: 0 };
  const standstill = new Standstill();
  const env = createEnvironment({
    logger: SILENT,
    parallelism: options.parallelism,
    plugins: [checkpointCoordinator(), await backendOf(options.state, dir)],
  });
  if (options.checkpointEveryMs !== undefined)
    env.enableCheckpointing(options.checkpointEveryMs, options.checkpointing);
  env
    .from(repeated(options, counts, standstill), { uid: 'records' })
    .pipe(
      map(project),
      filter(accept),
      keyBy(({ key }) => key),
      options.texts === true ? summingTexts : summing,
    )
    .to(counting(counts, options.onWrite), { uid: 'out' });
  const handle = await env.start('benchmark', { restoreFrom: options.restoreFrom });
  const checkpoints: CheckpointStats[] = [];
  handle.events$.subscribe((event) => {
    if (event.kind === 'checkpoint-completed') checkpoints.push(event);
    if (event.kind === 'checkpoint-triggered' && options.stopTheWorld === true) standstill.begin();
    if (event.kind === 'checkpoint-completed' || event.kind === 'checkpoint-aborted') standstill.end();
  });
  return {
    handle,
    counts,
    checkpoints,
    async [Symbol.asyncDispose]() {
      standstill.end();
      await handle.cancel();
      if (options.checkpointsDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

const summing = keyedProcess({
  uid: 'total',
  state: { total: valueState({ initial: () => 0 }) },
  onRecord({ key, value }: Input, { state }, emit: Emit<Total>) {
    const total = state.total.value() + value;
    state.total.update(total);
    emit({ key, total });
  },
});

const summingTexts = keyedProcess({
  uid: 'total',
  state: { text: valueState({ initial: () => '' }) },
  onRecord({ key, value }: Input, { state }, emit: Emit<Total>) {
    const total = totalIn(state.text.value()) + value;
    state.text.update(textOf(total));
    emit({ key, total });
  },
});

async function backendOf(state: StateChoice | undefined, checkpointsDir: string): Promise<PluginList> {
  if (state === undefined) return fsBackend({ checkpointsDir });
  // Only where it is wanted: a job that starts does not load what it has no use for.
  const { rocksBackend } = await import('@weir/backend-rocksdb');
  return rocksBackend({ checkpointsDir, ...state.rocksdb });
}

function repeated(
  { records, rate, count = Number.POSITIVE_INFINITY, upTo }: BenchmarkJobOptions,
  counts: BenchmarkJob['counts'],
  standstill: Standstill,
): Source<Input, 'replayable', { readonly id: string }, number> {
  const mask = records.length - 1;
  return {
    grade: 'replayable',
    bounded: Number.isFinite(count),
    enumerator: () => staticSplits([{ id: 'records' }]),
    open: (_split, start = 0, { clock, signal }) => {
      let position = start;
      const pace = rate === undefined ? undefined : paced(clock, rate);
      const take = (max: number): readonly Input[] => {
        const from = position & mask;
        const batch = records.slice(from, Math.min(from + max, records.length, from + (count - position)));
        position += batch.length;
        counts.read += batch.length;
        return batch;
      };
      const takeBelow = async (limit: () => number, max: number): Promise<readonly Input[]> => {
        while (position >= limit()) await untilLater(clock, 1, signal);
        return take(Math.min(max, limit() - position));
      };
      return Promise.resolve({
        poll(max: number) {
          if (position >= count) return 'end';
          if (standstill.over !== undefined) return standstill.over.then(() => take(max));
          if (upTo !== undefined) return takeBelow(upTo, max);
          if (pace === undefined) return take(max);
          const due = pace.due(position);
          return due > 0 ? take(Math.min(max, due)) : pace.next().then(() => take(Math.min(max, pace.due(position))));
        },
        position: () => position,
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Lets `rate` records per second through, a little every millisecond. */
function paced(clock: Clock, rate: number): { due(taken: number): number; next(): Promise<void> } {
  const start = clock.monotonic();
  return {
    due: (taken) => Math.max(0, Math.floor(((clock.monotonic() - start) / 1000) * rate) - taken),
    next: () =>
      new Promise((resolve) => {
        clock.timer(1, resolve);
      }),
  };
}

function counting(counts: BenchmarkJob['counts'], onWrite: BenchmarkJobOptions['onWrite']): Sink<Total, 'idempotent'> {
  return {
    grade: 'idempotent',
    open: () => ({
      write(batch) {
        counts.written += batch.length;
        return onWrite?.(batch);
      },
      close: () => undefined,
    }),
  };
}
