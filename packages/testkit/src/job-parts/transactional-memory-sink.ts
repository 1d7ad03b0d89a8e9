import {
  CommitMarks,
  type AttemptNumber,
  type CheckpointId,
  type Committable,
  type CommitOutcome,
  type Sink,
  type SinkWriter,
} from '@weir/core/contracts';

/** A step of one transaction. `abandon`: the attempt ended before it was prepared. */
export interface TransactionStep {
  readonly kind: 'begin' | 'prepare' | 'commit' | 'abandon';
  readonly transaction: number;
  readonly attempt: AttemptNumber;
  readonly subtask: number;
  /** Of `prepare`; 0 with checkpointing off. */
  readonly checkpointId?: CheckpointId;
}

/**
 * A transactional sink whose outside world is memory. What was prepared waits there under a number, as pending files do, and becomes visible when
 * that number is committed; so it survives attempts, but not the process.
 */
export interface TransactionalMemorySink<T> extends Sink<T, 'exactly-once', number> {
  /** What was committed, in the order of the commits. */
  readonly visible: readonly T[];
  readonly log: readonly TransactionStep[];
}

export function transactionalMemorySink<T>(): TransactionalMemorySink<T> {
  const visible: T[] = [];
  const log: TransactionStep[] = [];
  const prepared = new Map<number, readonly T[]>();
  const committed = new Set<number>();
  const marks = new CommitMarks();
  let transactions = 0;

  const commit = (transaction: number): CommitOutcome => {
    if (committed.has(transaction)) return { kind: 'already-committed' };
    const records = prepared.get(transaction);
    if (records === undefined)
      return { kind: 'failed', error: new Error(`nobody prepared transaction ${String(transaction)}`) };
    prepared.delete(transaction);
    committed.add(transaction);
    for (const record of records) visible.push(record);
    return { kind: 'committed' };
  };

  return {
    grade: 'exactly-once',
    visible,
    log,
    destination: ({ lineage, restoredFrom }) => ({
      id: 'memory',
      name: 'memory',
      committed: marks.of(lineage, restoredFrom),
    }),
    open({ attempt, subtask }): SinkWriter<T, number> {
      let current: { readonly transaction: number; readonly records: T[] } | undefined;
      const note = (
        kind: TransactionStep['kind'],
        transaction: number,
        rest: { checkpointId?: CheckpointId } = {},
      ): void => {
        log.push({ kind, transaction, attempt, subtask, ...rest });
      };
      return {
        write(batch) {
          if (current === undefined) {
            current = { transaction: ++transactions, records: [] };
            note('begin', current.transaction);
          }
          for (const record of batch) current.records.push(record);
        },
        prepareCommit(checkpointId) {
          if (current === undefined) return [];
          const { transaction, records } = current;
          current = undefined;
          prepared.set(transaction, records);
          note('prepare', transaction, { checkpointId });
          return [transaction];
        },
        close() {
          if (current !== undefined) note('abandon', current.transaction);
          current = undefined;
        },
      };
    },
    committer: ({ attempt, subtask }) => ({
      async commit(committables: readonly Committable<number>[]) {
        return committables.map(({ identity, payload: transaction }) => {
          marks.add(identity);
          const outcome = commit(transaction);
          if (outcome.kind === 'committed') log.push({ kind: 'commit', transaction, attempt, subtask });
          return outcome;
        });
      },
    }),
  };
}
