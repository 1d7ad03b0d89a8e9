import { createMemoryStateBackend, createMemoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import {
  CheckpointStorageRole,
  createEnvironment,
  StateBackendRole,
  type CheckpointOptions,
  type JobEvent,
  type JobHandle,
  type Plugin,
} from '@weir/core';
import { SILENT, type CheckpointStorage } from '@weir/core/contracts';
import { keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { seededRandom, transactionalMemorySink, VirtualClock, type TransactionalMemorySink } from '@weir/testkit';
import { leaving, ofKind, paced } from './paced-job.js';
import { steppedStorage, type AtStep } from './stepped-storage.js';

export const KEYS = 3;
export type Count = readonly [id: number, key: number, count: number];

/** What a run without any failure commits. */
export function expectedCounts(records: number): readonly Count[] {
  return Array.from({ length: records }, (_, id) => [id, id % KEYS, Math.floor(id / KEYS) + 1]);
}

export interface CountingJob {
  readonly clock: VirtualClock;
  readonly job: JobHandle;
  readonly sink: TransactionalMemorySink<Count>;
  readonly events: JobEvent[];
  readonly storage: CheckpointStorage;
  /** Makes the attempt fail at the next record. */
  crash(): void;
  /** Ends the process: everything that the storage holds stays. */
  leave(): Promise<void>;
  told<K extends JobEvent['kind']>(kind: K): Extract<JobEvent, { kind: K }>[];
}

export interface CountingOptions extends CheckpointOptions {
  readonly records?: number;
  readonly interval?: number;
  readonly at?: AtStep;
  readonly restarts?: number;
  /** What an earlier run left. */
  readonly storage?: CheckpointStorage;
  readonly sink?: TransactionalMemorySink<Count>;
}

/** Numbers, one every 4 ms, counted by key and committed, on a virtual clock. A checkpoint every 10 ms unless said otherwise. */
export async function startCounting(options: CountingOptions = {}): Promise<CountingJob> {
  const {
    records = 50,
    interval = 10,
    at = () => undefined,
    restarts = 10,
    storage = createMemoryStorage(),
    sink = transactionalMemorySink<Count>(),
    ...checkpointing
  } = options;
  const clock = new VirtualClock();
  let isCrashing = false;
  const services: Plugin = {
    name: 'services',
    install(binder) {
      binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend());
      binder.provide(CheckpointStorageRole, 'stepped', () => steppedStorage(storage, at));
    },
  };
  const env = createEnvironment({
    plugins: [checkpointCoordinator(), services, fixedDelayRestart({ attempts: restarts, delay: 1 })],
    clock,
    random: seededRandom(1),
    logger: SILENT,
  });
  env.enableCheckpointing(interval, checkpointing);
  env
    .from(paced(records, 4), { uid: 'numbers' })
    .pipe(
      map((id) => {
        if (!isCrashing) return id;
        isCrashing = false;
        throw new Error('crash');
      }),
      keyBy((id) => id % KEYS),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(id, { key, state: { count } }, emit: Emit<Count>) {
          count.update(count.value() + 1);
          emit([id, key, count.value()]);
        },
      }),
    )
    .to(sink, { uid: 'out' });
  const process = new AbortController();
  const job = await env.start('counting', { signal: process.signal });
  const events: JobEvent[] = [];
  job.events$.subscribe((event) => events.push(event));
  job.done.catch(() => undefined);
  return {
    clock,
    job,
    sink,
    events,
    storage,
    crash() {
      isCrashing = true;
    },
    leave: () => leaving(process, job, clock),
    told: (kind) => ofKind(events, kind),
  };
}
