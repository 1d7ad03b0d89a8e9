import { join } from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { createRocksStateBackend } from '@weir/backend-rocksdb';
import { fileSink, fileSource, jsonLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, StateBackendRole, type JobHandle, type Plugin } from '@weir/core';
import type { Sink, Source, SourceSplit, StateBackend } from '@weir/core/contracts';
import {
  filter,
  iterate,
  keyBy,
  keyedProcess,
  map,
  rebalance,
  valueState,
  type Emit,
  type StreamOperator,
} from '@weir/core/operators';
import { delegating } from '@weir/testkit';
import { delay, filter as filterStatus, firstValueFrom, from, takeUntil } from 'rxjs';
import { observedBackend, observedSink, observedStorage } from './observed.js';
import { PhaseTeller, type Target } from './phases.js';

export interface InputRecord {
  readonly id: number;
  readonly key: string;
}
/** `count`: the how-manieth record of its key this is. Every id once and every count of a key once: nothing lost, nothing twice. */
export interface OutputRecord extends InputRecord {
  readonly count: number;
}

export interface KillJobOptions {
  readonly dir: string;
  readonly parallelism: number;
  readonly mode: 'exactly-once' | 'at-least-once';
  /** Barriers overtake what waits in channels; then it is the sink that is slow, so that something does. */
  readonly unaligned: boolean;
  /** Where keyed state is, and whether checkpoints are incremental: in all but `memory` they are. */
  readonly state: 'memory' | 'changelog' | 'rocksdb';
  /** `loop`: every record goes round some times before it is counted. */
  readonly shape?: 'chain' | 'loop' | undefined;
  /** The output folder, in `dir`. Default `out`. */
  readonly out?: string | undefined;
  /** A savepoint. Default: the newest that there is. */
  readonly restoreFrom?: string | undefined;
  /** Output may be repeated where the folder of checkpoints is older than the output. */
  readonly allowDuplicates?: boolean | undefined;
  readonly target: Target;
}

/** File → keyed state → file, slow enough to be killed in the middle, every step of its checkpoints announced. */
export async function startKillJob(options: KillJobOptions): Promise<JobHandle> {
  const {
    dir,
    parallelism,
    mode,
    unaligned,
    state,
    shape,
    out = 'out',
    restoreFrom,
    allowDuplicates,
    target,
  } = options;
  const phases = new PhaseTeller(target);
  const plugins: Plugin = {
    name: 'observed',
    install(binder) {
      const backend = state === 'rocksdb' ? rocksIn(dir) : createMemoryStateBackend();
      binder.provide(StateBackendRole, backend.type, () => observedBackend(backend, phases));
      binder.provide(CheckpointStorageRole, 'fs', () =>
        observedStorage(
          createFsStorage({
            checkpointsDir: join(dir, 'state'),
            savepointsDir: join(dir, 'savepoints'),
            inlineThreshold: 64,
          }),
          phases,
        ),
      );
    },
  };
  const env = createEnvironment({ parallelism, plugins: [checkpointCoordinator(), plugins] });
  env.enableCheckpointing('15ms', {
    mode,
    unaligned,
    incremental: state !== 'memory',
    tolerableFailures: Number.POSITIVE_INFINITY,
    allowDuplicates,
  });
  const source = fileSource({ path: join(dir, 'in'), format: jsonLines<InputRecord>() });
  const sink = observedSink(fileSink({ dir: join(dir, out), format: jsonLines<OutputRecord>() }), phases);
  env
    .from(unaligned ? source : unhurried(source), { uid: 'in' })
    .pipe(
      map(({ id, key }) => ({ id, key })),
      filter(({ id }) => id >= 0),
      shape === 'loop' ? goingRound : (records) => records,
      keyBy(({ key }) => key),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord({ id }, { key, state: { count } }, emit: Emit<OutputRecord>) {
          count.update(count.value() + 1);
          emit({ id, key, count: count.value() });
        },
      }),
    )
    .to(unaligned ? slowly(sink) : sink, { uid: 'out' });
  const job = await env.start('kill-job', { restoreFrom });
  job.status$.subscribe((status) => {
    if (status === 'restoring') phases.base('restore');
    else if (status === 'running') phases.base('run');
    else if (status === 'finishing') phases.base('finish');
  });
  job.events$.subscribe((event) => {
    if (event.kind === 'checkpoint-completed') phases.say('checkpoint');
  });
  if (target.phase === 'stop') void stopSoon(job, phases);
  return job;
}

/** A cache for a few keys only, so that the database has to do with most records. */
function rocksIn(dir: string): StateBackend {
  return createRocksStateBackend({ dir: join(dir, 'rocksdb'), cacheSize: 16 * 1024 });
}

/** Long enough for a checkpoint or two before. */
const STOP_AFTER_MS = 60;

/** From the call to the end of the job is one phase; what happens in it is announced besides. */
async function stopSoon(job: JobHandle, phases: PhaseTeller): Promise<void> {
  const running = job.status$.pipe(
    filterStatus((status) => status === 'running'),
    delay(STOP_AFTER_MS),
    takeUntil(from(job.done.catch(() => undefined))),
  );
  // Over before: there is nothing to stop.
  const isRunning = await firstValueFrom(running, { defaultValue: undefined });
  if (isRunning === undefined) return;
  phases.base('stop');
  // If it fails the job runs on, or its failure is told by `done`.
  await job.stopWithSavepoint().then(
    ({ pointer }) => {
      phases.stopped(pointer);
    },
    () => undefined,
  );
}

/** Up to 20 rounds for each record, in a loop over an exchange. */
const goingRound: StreamOperator<InputRecord, InputRecord> = (records) =>
  records.pipe(
    map((record) => ({ record, rounds: record.id % 20 })),
    iterate<Round, InputRecord>(
      (input) => {
        const moved = input.pipe(
          rebalance(),
          map(({ record, rounds }) => ({ record, rounds: rounds - 1 })),
        );
        return {
          feedback: moved.pipe(filter(({ rounds }) => rounds > 0)),
          output: moved.pipe(
            filter(({ rounds }) => rounds <= 0),
            map(({ record }) => record),
          ),
        };
      },
      { uid: 'loop' },
    ),
  );
interface Round {
  readonly record: InputRecord;
  readonly rounds: number;
}

/** The same source, a few records at a time. */
function unhurried<T, Split extends SourceSplit, Position>(
  source: Source<T, 'replayable', Split, Position>,
): Source<T, 'replayable', Split, Position> {
  return {
    ...source,
    async open(split, position, context) {
      const reader = await source.open(split, position, context);
      const poll = async (max: number): Promise<readonly T[] | 'end'> => {
        await new Promise<void>((resolve) => {
          context.clock.timer(1, resolve);
        });
        return reader.poll(Math.min(max, 20));
      };
      return { poll, position: () => reader.position(), close: () => reader.close() };
    },
  };
}

/** The same sink, a millisecond for every five records. */
function slowly<T, Committable>(sink: Sink<T, 'exactly-once', Committable>): Sink<T, 'exactly-once', Committable> {
  return delegating(sink, {
    open: async (context) => {
      const writer = await sink.open(context);
      return delegating(writer, {
        async write(batch) {
          await writer.write(batch);
          await new Promise<void>((resolve) => {
            context.clock.timer(batch.length / 5, resolve);
          });
        },
      });
    },
  });
}
