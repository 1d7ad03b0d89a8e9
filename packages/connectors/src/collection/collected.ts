import { CommitMarks, type Committable, type Committer, type Sink, type SinkWriter } from '@weir/core/contracts';

/** An array that a job writes to. */
export interface Collected<T> {
  readonly sink: Sink<T, 'exactly-once', readonly T[]>;
  /** What has been committed so far, in the order of the commits; grows while the job runs. */
  readonly records: readonly T[];
}

/**
 * Output into memory, for tests and small results: `const out = collected<number>()`, `.to(out.sink)`, then `out.records`.
 * Records appear once a checkpoint has completed (at the end without checkpoints), each exactly once within this process. They are part of the
 * checkpoint until then, and all of them stay in memory.
 */
export function collected<T>(): Collected<T> {
  const records: T[] = [];
  const committed = new Set<string>();
  const marks = new CommitMarks();
  const committer: Committer<readonly T[]> = {
    async commit(committables) {
      return committables.map((committable) => {
        const name = nameOf(committable);
        if (committed.has(name)) return { kind: 'already-committed' };
        committed.add(name);
        marks.add(committable.identity);
        for (const record of committable.payload) records.push(record);
        return { kind: 'committed' };
      });
    },
  };
  return {
    records,
    sink: {
      grade: 'exactly-once',
      // The records themselves are in the checkpoint: whichever process restores it can commit them.
      destination: ({ lineage, restoredFrom }) => ({
        id: 'collected',
        name: 'an array of the process',
        committed: marks.of(lineage, restoredFrom),
      }),
      open: () => new CollectedWriter<T>(),
      committer: () => committer,
    },
  };
}

function nameOf({ identity }: Committable): string {
  const { job, lineage, sink, attempt, subtask, sequence } = identity;
  return JSON.stringify([job, lineage, sink, attempt, subtask, sequence]);
}

class CollectedWriter<T> implements SinkWriter<T, readonly T[]> {
  #records: T[] = [];

  write(batch: readonly T[]): void {
    for (const record of batch) this.#records.push(record);
  }

  prepareCommit(): readonly (readonly T[])[] {
    const records = this.#records;
    this.#records = [];
    return records.length === 0 ? [] : [records];
  }

  close(): void {
    this.#records = [];
  }
}
