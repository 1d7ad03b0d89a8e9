import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import {
  CheckpointStorageRole,
  createEnvironment,
  StateBackendRole,
  type CheckpointOptions,
  type JobHandle,
  type Plugin,
  type StartOptions,
} from '@weir/core';
import {
  SILENT,
  sleep,
  type CheckpointStorage,
  type FileSystem,
  type Sink,
  type StateBackend,
} from '@weir/core/contracts';
import {
  aggregatingState,
  keyBy,
  keyedProcess,
  listState,
  mapState,
  operatorListState,
  reducingState,
  subtaskProcess,
  valueState,
  withTimestamps,
  type Emit,
} from '@weir/core/operators';
import { seededRandom, VirtualClock } from '@weir/testkit';
import { paced } from './paced-job.js';

export const EVERY_STATE_JOB = 'every-state';
const KEYS = 5;
const MS_PER_RECORD = 4;

/** Lines, and the checkpoint that committed each. Its committables hold them, so that another process can commit them as well. */
export interface LineSink extends Sink<string, 'exactly-once', readonly string[]> {
  readonly visible: { readonly line: string; readonly checkpointId: number }[];
}

/** A write takes `writeMs`. */
export function lineSink(writeMs = 0): LineSink {
  const visible: { line: string; checkpointId: number }[] = [];
  const committed = new Set<string>();
  return {
    grade: 'exactly-once',
    visible,
    open({ clock }) {
      let lines: string[] = [];
      return {
        write(batch) {
          lines.push(...batch);
          return writeMs === 0 ? undefined : sleep(clock, writeMs);
        },
        prepareCommit() {
          const prepared = lines;
          lines = [];
          return prepared.length === 0 ? [] : [prepared];
        },
        close: () => undefined,
      };
    },
    destination: () => ({ id: 'place', name: 'a place', committed: [] }),
    committer: () => ({
      commit: async (committables) =>
        committables.map(({ identity, payload }) => {
          const id = JSON.stringify(identity);
          if (committed.has(id)) return { kind: 'already-committed' } as const;
          committed.add(id);
          for (const line of payload) visible.push({ line, checkpointId: identity.checkpointId });
          return { kind: 'committed' } as const;
        }),
    }),
  };
}

export interface EveryStateOptions {
  readonly storage: CheckpointStorage;
  readonly backend?: StateBackend;
  readonly records: number;
  readonly parallelism?: number;
  readonly restoreFrom?: StartOptions['restoreFrom'];
  readonly sink?: LineSink;
  readonly checkpointing?: CheckpointOptions;
}
export interface EveryStateJob {
  readonly clock: VirtualClock;
  readonly job: JobHandle;
  readonly sink: LineSink;
  /** Until that many records were read. */
  read(records: number): Promise<void>;
  /** Until it holds, by what needs no time: what files and threads of a state backend do, the clock does not see. */
  until(condition: () => boolean): Promise<void>;
  /** Until it holds, while time passes. */
  passing(condition: () => boolean): Promise<void>;
  finished(): Promise<void>;
  /** In whatever way. */
  ended(): Promise<void>;
  /** Ends the process: everything that the storage holds stays. */
  leave(): Promise<void>;
}

/**
 * A job with state of every kind, event-time timers and operator state, on a virtual clock and with ids that repeat: a record every 4 ms, counted in
 * five keys.
 */
export async function startEveryState(options: EveryStateOptions): Promise<EveryStateJob> {
  const { storage, backend = createMemoryStateBackend(), records, parallelism = 1, restoreFrom } = options;
  const { sink = lineSink() } = options;
  const clock = new VirtualClock();
  let ids = 0;
  const services: Plugin = {
    name: 'services',
    install(binder) {
      binder.provide(StateBackendRole, backend.type, () => backend);
      binder.provide(CheckpointStorageRole, storage.type, () => storage);
    },
  };
  const env = createEnvironment({
    plugins: [checkpointCoordinator(), services],
    parallelism,
    clock,
    random: seededRandom(1),
    newId: () => `id-${String(++ids)}`,
    logger: SILENT,
  });
  env.enableCheckpointing(undefined, options.checkpointing);
  env
    .from(paced(records, MS_PER_RECORD), { uid: 'numbers' })
    .pipe(
      withTimestamps({ timestampOf: (n) => n * 1000, watermarkInterval: 0 }),
      keyBy((n) => `key ${String(n % KEYS)}`),
      keyedProcess({
        uid: 'states',
        state: {
          total: valueState({ initial: () => 0 }),
          recent: listState<number>(),
          byTens: mapState<number, { readonly count: number }>(),
          most: reducingState<number>({ reduce: Math.max }),
          mean: aggregatingState({
            create: () => ({ sum: 0, count: 0 }),
            add: ({ sum, count }, n: number) => ({ sum: sum + n, count: count + 1 }),
            result: ({ sum, count }) => sum / count,
          }),
        },
        onRecord(n: number, { key, state, timers }, emit: Emit<string>) {
          const { total, recent, byTens, most, mean } = state;
          total.update(total.value() + n);
          const last = [...recent.values()].slice(-2);
          recent.clear();
          for (const value of [...last, n]) recent.add(value);
          const ten = Math.floor(n / 10);
          byTens.set(ten, { count: (byTens.get(ten)?.count ?? 0) + 1 });
          most.add((n * 7) % 31);
          mean.add(n);
          timers.registerEventTime(n * 1000 + 10_500);
          const tens = [...byTens.entries()].map(([at, { count }]) => `${String(at)}:${String(count)}`).sort();
          emit(
            `${String(n)} ${key} total ${String(total.value())} recent ${[...recent.values()].join('+')} ` +
              `tens ${tens.join(',')} most ${String(most.value())} mean ${String(mean.value())}`,
          );
        },
        onTimer(time, { key, state: { total } }, emit) {
          emit(`timer ${String(time)} ${key} some ${String(total.value() > 0)}`);
        },
      }),
      subtaskProcess({
        uid: 'pairs',
        state: { waiting: operatorListState<string>() },
        onRecord(line: string, { state: { waiting } }, emit: Emit<string>) {
          waiting.add(line);
          if (waiting.values().length < 3) return;
          for (const each of waiting.values()) emit(each);
          waiting.clear();
        },
        onEnd({ state: { waiting } }, emit) {
          for (const each of waiting.values()) emit(each);
        },
      }),
    )
    .to(sink, { uid: 'lines', guarantee: 'exactly-once' });
  const process = new AbortController();
  const job = await env.start(EVERY_STATE_JOB, { restoreFrom, signal: process.signal });
  let end: string | undefined;
  job.done.then(
    (ending) => (end = ending),
    (error: unknown) => (end = String(error)),
  );
  return {
    clock,
    job,
    sink,
    read: (count) => clock.advance(count * MS_PER_RECORD),
    async until(condition) {
      while (!condition()) await turn(clock);
    },
    passing: (condition) => passing(clock, condition),
    ended: () => passing(clock, () => end !== undefined),
    async finished() {
      await passing(clock, () => end !== undefined);
      if (end !== 'finished') throw new Error(`the job has not finished: ${String(end)}`);
    },
    async leave() {
      process.abort();
      await passing(clock, () => end !== undefined);
    },
  };
}

/** What a run without interruption makes visible, in no order. */
export function expectedLines(records: number): readonly string[] {
  const lines: string[] = [];
  for (let n = 0; n < records; n++) {
    const before = Array.from({ length: n + 1 }, (_, i) => i).filter((i) => i % KEYS === n % KEYS);
    const sum = before.reduce((total, each) => total + each, 0);
    const tens = new Map<number, number>();
    for (const each of before) tens.set(Math.floor(each / 10), (tens.get(Math.floor(each / 10)) ?? 0) + 1);
    const most = Math.max(...before.map((each) => (each * 7) % 31));
    const byTens = [...tens].map(([at, count]) => `${String(at)}:${String(count)}`).sort();
    const key = `key ${String(n % KEYS)}`;
    lines.push(
      `${String(n)} ${key} total ${String(sum)} recent ${before.slice(-3).join('+')} tens ${byTens.join(',')} ` +
        `most ${String(most)} mean ${String(sum / before.length)}`,
      `timer ${String(n * 1000 + 10_500)} ${key} some true`,
    );
  }
  return lines.sort();
}

/** Checkpoints in files, whose names repeat from run to run. */
export function filesOn(fileSystem: FileSystem, inlineThreshold: number): CheckpointStorage {
  let ids = 0;
  return createFsStorage({ checkpointsDir: '/state', fileSystem, inlineThreshold, newId: () => `f${String(++ids)}` });
}

async function passing(clock: VirtualClock, condition: () => boolean): Promise<void> {
  while (!condition()) {
    await turn(clock);
    await clock.advance(MS_PER_RECORD);
  }
}

/** All that is due, and a turn of the real event loop, in which files and threads get on. */
async function turn(clock: VirtualClock): Promise<void> {
  await clock.settle();
  await new Promise((resolve) => setImmediate(resolve));
}
