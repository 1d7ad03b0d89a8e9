import { WeirError } from '@weir/core/contracts';

/** Records that an RxJS end buffers unless it is told otherwise. */
export const DEFAULT_CAPACITY = 10_000;

/** The capacity that was asked for, or the default. CONFIG_INVALID unless it is a whole number of records from 1. */
export function checkedCapacity(of: string, capacity: number = DEFAULT_CAPACITY): number {
  if (Number.isSafeInteger(capacity) && capacity >= 1) return capacity;
  throw new WeirError(
    'CONFIG_INVALID',
    `${of}: capacity must be a whole number of records from 1, not ${String(capacity)}.`,
    { recoverable: false },
  );
}
