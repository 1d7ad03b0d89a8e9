import {
  CommitMarks,
  nextTurn,
  type CheckpointId,
  type Clock,
  type Committable,
  type Committer,
  type CommitOutcome,
  type Sink,
} from '@weir/core/contracts';
import { Backlog } from './backlog.js';
import { CommittedWriter } from './committed-writer.js';
import { EmittedCommittables } from './emitted-committables.js';
import type { JobOutput } from './job-output.js';

/** The records of one subtask that one checkpoint covers, in order. */
export interface CommittedBatch<T> {
  /** Grows from batch to batch of one job, and stays with a batch that comes again after a crash; 0 with checkpointing off. */
  readonly checkpointId: CheckpointId;
  readonly records: readonly T[];
}

/** Longest time for which values are handed out without giving timers and I/O a turn. */
const SLICE_MS = 2;

/**
 * A sink whose committer emits. Exactly once in this process, because it remembers what it has emitted until that cannot come again; another process
 * starts with what the last checkpoint had prepared, unless that is confirmed. `valuesOf` says what becomes of a batch.
 */
export function committedSink<T, V>(
  output: JobOutput<V>,
  capacity: number,
  valuesOf: (batch: CommittedBatch<T>) => Iterable<V>,
): Sink<T, 'exactly-once', readonly T[]> {
  const emitted = new EmittedCommittables();
  const marks = new CommitMarks();
  let backlog = new Backlog(capacity);

  return {
    grade: 'exactly-once',
    // The records themselves are in the checkpoint: whichever process restores it can emit them.
    destination: ({ lineage, restoredFrom }) => ({
      id: 'committed',
      name: 'the subscribers of the process',
      committed: marks.of(lineage, restoredFrom),
    }),
    prepare({ restoredFrom }) {
      output.begin();
      // A fresh start brings nothing back.
      if (restoredFrom === undefined) emitted.clear();
      backlog = new Backlog(capacity);
    },
    open: (context) =>
      new CommittedWriter<T>(backlog, context, (checkpointId) => {
        emitted.prepared(checkpointId);
      }),
    committer({ attempt, clock }): Committer<readonly T[]> {
      const counted = backlog;
      const emit = async ({ identity, payload }: Committable<readonly T[]>): Promise<CommitOutcome> => {
        const { checkpointId } = identity;
        if (emitted.has(identity)) return { kind: 'already-committed' };
        // Before anything is handed out: a subscriber that throws must not make the others see it twice.
        if (checkpointId > 0) emitted.add(identity);
        marks.add(identity);
        try {
          await handOut(valuesOf({ checkpointId, records: payload }), output, clock);
          return { kind: 'committed' };
        } catch (error) {
          return { kind: 'failed', error };
        } finally {
          if (identity.attempt === attempt) counted.removed(payload.length);
        }
      };
      return {
        async commit(committables) {
          const outcomes: CommitOutcome[] = [];
          for (const committable of committables) outcomes.push(await emit(committable));
          emitted.completed(Math.max(...committables.map(({ identity }) => identity.checkpointId)));
          return outcomes;
        },
      };
    },
    jobEnded: (_job, ending) => {
      output.end(ending);
    },
  };
}

/** To the last value, whatever a subscriber throws: what is committed does not come again. The first error is thrown in the end. */
async function handOut<V>(values: Iterable<V>, output: JobOutput<V>, clock: Clock): Promise<void> {
  const errors: unknown[] = [];
  let sliceEnd = clock.monotonic() + SLICE_MS;
  for (const value of values) {
    if (clock.monotonic() >= sliceEnd) {
      await nextTurn(clock);
      sliceEnd = clock.monotonic() + SLICE_MS;
    }
    try {
      output.next(value);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
