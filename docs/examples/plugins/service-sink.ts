import type { CommitMark, Sink } from '@weir/core/contracts';

/** Somewhere that takes each batch once: a name that it knows already changes nothing. */
export interface BatchService<T> {
  readonly url: string;
  /** Its own, wherever it is reached. */
  id(): Promise<string>;
  /** Takes the batch together with the mark, of which it keeps the largest of each lineage, for this sink. */
  put(name: string, records: readonly T[], mark: CommitMark, signal: AbortSignal): Promise<'taken' | 'known'>;
  marks(): Promise<readonly CommitMark[]>;
}

/** More than this is only taken in while a barrier is on its way. */
const MOST_HELD = 10_000;

/** Hands batches to a service when a checkpoint commits them. Until then they are kept in the checkpoint itself. */
export function serviceSink<T>(service: BatchService<T>): Sink<T, 'exactly-once', readonly T[]> {
  return {
    grade: 'exactly-once',
    destination: async () => ({ id: await service.id(), name: service.url, committed: await service.marks() }),
    open(context) {
      let held: T[] = [];
      const take = (): readonly T[][] => {
        const taken = held;
        held = [];
        return taken.length === 0 ? [] : [taken];
      };
      return {
        write(batch) {
          for (const record of batch) held.push(record);
          if (held.length < MOST_HELD) return;
          return context.checkpointing ? context.nextBarrier?.(context.signal) : context.commitNow(take());
        },
        prepareCommit: take,
        close: () => undefined,
      };
    },
    committer: ({ lineage: own, restoredFrom }) => ({
      commit: (committables, signal) =>
        Promise.all(
          committables.map(async ({ identity, payload }) => {
            try {
              const { job, lineage, sink, attempt, checkpointId, subtask, sequence } = identity;
              const name = [job, lineage, sink, attempt, checkpointId, subtask, sequence].map(String).join('/');
              const isBranch = lineage === own && restoredFrom !== undefined && restoredFrom.lineage !== own;
              const mark = { lineage, checkpointId, from: isBranch ? restoredFrom : undefined };
              const answer = await service.put(name, payload, mark, signal);
              return { kind: answer === 'known' ? 'already-committed' : 'committed' } as const;
            } catch (error) {
              return { kind: 'retry', error } as const;
            }
          }),
        ),
    }),
  };
}
