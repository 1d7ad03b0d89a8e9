import { CommitMarks } from '../../src/contracts/commit-marks.js';
import type { Sink } from '../../src/contracts/sink.js';
import type { Committable } from '../../src/contracts/snapshot.js';

/** The outside world of a transactional sink: what is visible, over all attempts of a job. */
export class Outside<T> {
  readonly visible: T[] = [];
  /** Every identity that was ever committed, in order, repetitions included. */
  readonly commits: string[] = [];
  readonly #done = new Set<string>();
  readonly marks = new CommitMarks();

  commit({ identity, payload }: Committable<readonly T[]>): 'committed' | 'already-committed' {
    const id = JSON.stringify(identity);
    this.commits.push(id);
    if (this.#done.has(id)) return 'already-committed';
    this.#done.add(id);
    this.marks.add(identity);
    this.visible.push(...payload);
    return 'committed';
  }
}

/** Exactly once: records become visible in `outside` when a checkpoint commits them. `write` may take its time or fail. */
export function committingSink<T>(
  outside: Outside<T>,
  options: {
    readonly onWrite?: (batch: readonly T[]) => void | Promise<void>;
    readonly onPrepare?: () => void | Promise<void>;
  } = {},
): Sink<T, 'exactly-once', readonly T[]> {
  return {
    grade: 'exactly-once',
    destination: ({ lineage, restoredFrom }) => ({
      id: 'outside',
      name: 'outside',
      committed: outside.marks.of(lineage, restoredFrom),
    }),
    open: () => {
      let pending: T[] = [];
      return {
        write(batch) {
          pending.push(...batch);
          return options.onWrite?.(batch);
        },
        async prepareCommit() {
          await options.onPrepare?.();
          const prepared = pending;
          pending = [];
          return prepared.length === 0 ? [] : [prepared];
        },
        close: () => undefined,
      };
    },
    committer: () => ({
      commit: async (committables) => committables.map((committable) => ({ kind: outside.commit(committable) })),
    }),
  };
}
