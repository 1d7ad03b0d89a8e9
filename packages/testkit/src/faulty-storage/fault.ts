import { sleep, type Clock } from '@weir/core/contracts';

/** `write`: a chunk of a blob. `publish`: of `_metadata`. `read`: a blob or `_metadata`. `delete`: of a whole checkpoint. */
export type StorageOperation = 'write' | 'publish' | 'read' | 'delete';

interface Fails {
  readonly kind: 'throw';
  readonly error?: Error | undefined;
}
interface IsLate {
  readonly kind: 'delay';
  readonly ms: number;
}
/** Only the first bytes are written, or read, and nobody is told: a disk that lies. */
interface IsCut {
  readonly kind: 'truncate';
  readonly bytes: number;
}
export type Misfortune = Fails | IsLate | IsCut;

interface Occasion {
  /** Which of these operations: the first is 1, counted over all jobs and attempts that use the storage. */
  readonly nth: number | 'all';
}
export type StorageFault = Occasion &
  (
    | { readonly on: 'write' | 'publish' | 'read'; readonly does: Misfortune }
    | { readonly on: 'delete'; readonly does: Fails | IsLate }
  );

/** Counts operations and knows what is to happen to each. */
export class FaultPlan {
  readonly #faults: readonly StorageFault[];
  readonly calls: Record<StorageOperation, number> = { write: 0, publish: 0, read: 0, delete: 0 };

  constructor(faults: readonly StorageFault[]) {
    this.#faults = faults;
  }

  /** What happens to the operation that begins now. */
  next(operation: StorageOperation): Misfortune | undefined {
    const call = ++this.calls[operation];
    return this.#faults.find(({ on, nth }) => on === operation && (nth === 'all' || nth === call))?.does;
  }
}

/** Fails or waits. */
export async function suffer(misfortune: Misfortune | undefined, clock: Clock): Promise<void> {
  if (misfortune?.kind === 'throw') throw misfortune.error ?? new Error('the storage fails as planned');
  if (misfortune?.kind === 'delay') await sleep(clock, misfortune.ms);
}

export function cut(bytes: Uint8Array, misfortune: Misfortune | undefined): Uint8Array {
  return misfortune?.kind === 'truncate' ? bytes.subarray(0, misfortune.bytes) : bytes;
}
