import assert from 'node:assert/strict';
import type {
  Committable,
  CommitOutcome,
  Committer,
  Sink,
  SinkDestination,
  SinkWriter,
  SinkWriterContext,
  SnapshotKind,
} from '@weir/core/contracts';
import { sinkContext } from '../contexts.js';
import { roundTrip } from '../round-trip.js';
import type { SinkBench } from './fixture.js';

/** Records of one batch, unless a test says otherwise. */
const BATCH = 10;

/** The subtasks of a sink in one attempt of a job, as the engine runs them. */
export interface RunningSink<T> {
  readonly sink: Sink<T>;
  readonly subtasks: readonly RunningSubtask<T>[];
  readonly destination: SinkDestination | undefined;
}
export interface RunningSubtask<T> {
  readonly writer: SinkWriter<T>;
  /** Of all subtasks. */
  readonly destination: SinkDestination | undefined;
  /** Writes records `from` to `to` in batches. */
  readonly write: (from: number, to: number, batch?: number) => Promise<void>;
  /** What the sink makes of a barrier: its committables, as a checkpoint gives them back. */
  readonly prepare: (checkpointId: number, kind?: SnapshotKind) => Promise<readonly Committable[]>;
  /** Fails unless there is an outcome for each. */
  readonly commit: (committables: readonly Committable[]) => Promise<readonly CommitOutcome[]>;
  readonly close: () => Promise<void>;
}

/** Starts attempt `attempt` with a new sink. */
export async function run<T>(
  bench: SinkBench<T>,
  attempt: number,
  changes: Partial<SinkWriterContext> = {},
): Promise<RunningSink<T>> {
  const sink = bench.fixture.sink();
  const context = sinkContext({
    attempt,
    restoredFrom: attempt > 1 ? { lineage: 'lineage', checkpointId: attempt - 1 } : undefined,
    ...changes,
  });
  const destination = await sink.destination?.(context);
  await sink.prepare?.(context);
  const subtasks: RunningSubtask<T>[] = [];
  for (let subtask = 0; subtask < context.parallelism; subtask++) {
    subtasks.push(await openSubtask(bench, sink, { ...context, subtask }, destination));
  }
  return { sink, subtasks, destination };
}

/** The first subtask of an attempt. */
export async function runOne<T>(
  bench: SinkBench<T>,
  attempt: number,
  changes?: Partial<SinkWriterContext>,
): Promise<RunningSubtask<T>> {
  const [subtask] = (await run(bench, attempt, changes)).subtasks;
  assert(subtask);
  return subtask;
}

async function openSubtask<T>(
  bench: SinkBench<T>,
  sink: Sink<T>,
  context: SinkWriterContext,
  destination: SinkDestination | undefined,
): Promise<RunningSubtask<T>> {
  let sequence = 0;
  const identify = (payload: unknown, checkpointId: number): Committable => ({
    identity: {
      job: context.job,
      lineage: context.lineage,
      sink: context.uid,
      attempt: context.attempt,
      checkpointId,
      subtask: context.subtask,
      sequence: sequence++,
    },
    payload: roundTrip(payload, sink.serializer),
  });
  const committer: Committer | undefined = await sink.committer?.(context);
  const commit = async (committables: readonly Committable[]): Promise<readonly CommitOutcome[]> => {
    if (committables.length === 0) return [];
    assert(committer, 'a sink that makes committables has a committer');
    const outcomes = await committer.commit(committables, context.signal);
    assert.equal(outcomes.length, committables.length, 'an outcome for each committable');
    return outcomes;
  };
  const commitNow = async (payloads: readonly unknown[]): Promise<void> => {
    await commit(payloads.map((payload) => identify(payload, 0)));
  };
  const writer = await sink.open({ ...context, commitNow });
  return {
    writer,
    destination,
    async write(from, to, batch = BATCH) {
      for (let at = from; at < to; at += batch) {
        await writer.write(Object.freeze(bench.records(at, Math.min(to, at + batch))));
      }
    },
    async prepare(checkpointId, kind = 'checkpoint') {
      await writer.flush?.();
      const payloads = (await writer.prepareCommit?.(checkpointId, kind)) ?? [];
      for (const state of writer.state?.(checkpointId) ?? []) roundTrip(state, sink.serializer);
      return payloads.map((payload) => identify(payload, checkpointId));
    },
    commit,
    async close() {
      await writer.close();
      await committer?.close?.();
    },
  };
}

/** Up to which checkpoint of a lineage a new process finds that commits have begun. */
export async function markOf<T>(bench: SinkBench<T>, lineage = 'lineage'): Promise<number> {
  const destination = await bench.fixture.sink().destination?.(sinkContext({ attempt: 99, restoredFrom: undefined }));
  return destination?.committed.find((mark) => mark.lineage === lineage)?.checkpointId ?? 0;
}

/** Fails unless every committable is in. */
export function allCommitted(outcomes: readonly CommitOutcome[]): void {
  for (const outcome of outcomes) {
    const isIn = outcome.kind === 'committed' || outcome.kind === 'already-committed';
    assert(isIn, `committed, not ${outcome.kind}: ${'error' in outcome ? String(outcome.error) : ''}`);
  }
}
