import type { AttemptNumber, Sink } from '@weir/core/contracts';

export interface LedgerEntry<T> {
  readonly record: T;
  readonly attempt: AttemptNumber;
  readonly subtask: number;
}
/** A sink that shows every attempt to process a record, replays included. */
export interface Ledger<T> extends Sink<T, 'at-least-once', never> {
  readonly entries: readonly LedgerEntry<T>[];
}

/** Writes into memory at once, without transactions. */
export function ledger<T>(): Ledger<T> {
  const entries: LedgerEntry<T>[] = [];
  return {
    grade: 'at-least-once',
    entries,
    open: ({ attempt, subtask }) => ({
      write(batch) {
        for (const record of batch) entries.push({ record, attempt, subtask });
      },
      close: () => undefined,
    }),
  };
}
