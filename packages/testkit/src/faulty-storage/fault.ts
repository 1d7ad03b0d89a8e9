import { sleep, type Clock } from '@weir/core/contracts';

/**
 * `create`: a location for a checkpoint. `write`: a chunk of a blob. `publish`: of `_metadata`. `read`: a blob or `_metadata`. `delete`: of a whole
 * checkpoint. `list`: what is there. `write-committed`: the mark that its output is committed. `delete-shared` and `list-shared`: of files that several checkpoints are made of; writing them is `write`.
 */
export type StorageOperation =
  'create' | 'write' | 'publish' | 'read' | 'delete' | 'list' | 'write-committed' | 'delete-shared' | 'list-shared';

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
/** It happens, and then it fails all the same: nobody knows whether it has. */
interface LosesItsAnswer {
  readonly kind: 'lose-answer';
  readonly error?: Error | undefined;
}
export type Misfortune = Fails | IsLate | IsCut | LosesItsAnswer;

interface Occasion {
  /** Which of these operations: the first is 1, counted over all jobs and attempts that use the storage. */
  readonly nth: number | 'all';
}
export type StorageFault = Occasion &
  (
    | { readonly on: 'write' | 'publish' | 'read'; readonly does: Misfortune }
    | {
        readonly on: 'create' | 'delete' | 'list' | 'write-committed' | 'delete-shared' | 'list-shared';
        readonly does: Fails | IsLate | LosesItsAnswer;
      }
  );

/** Counts operations and knows what is to happen to each. */
export class FaultPlan {
  readonly #faults: readonly StorageFault[];
  readonly calls: Record<StorageOperation, number> = {
    create: 0,
    write: 0,
    publish: 0,
    read: 0,
    delete: 0,
    list: 0,
    'write-committed': 0,
    'delete-shared': 0,
    'list-shared': 0,
  };

  constructor(faults: readonly StorageFault[]) {
    this.#faults = faults;
  }

  /** What happens to the operation that begins now. */
  next(operation: StorageOperation): Misfortune | undefined {
    const call = ++this.calls[operation];
    return this.#faults.find(({ on, nth }) => on === operation && (nth === 'all' || nth === call))?.does;
  }
}

/** What `operation` gives, unless it fails, is late, or its answer gets lost. */
export async function suffering<T>(
  misfortune: Misfortune | undefined,
  clock: Clock,
  operation: () => T | Promise<T>,
): Promise<T> {
  if (misfortune?.kind === 'throw') throw planned(misfortune);
  if (misfortune?.kind === 'delay') await sleep(clock, misfortune.ms);
  const result = await operation();
  if (misfortune?.kind === 'lose-answer') throw planned(misfortune);
  return result;
}

function planned({ error }: Fails | LosesItsAnswer): Error {
  return error ?? new Error('the storage fails as planned');
}

export function cut(bytes: Uint8Array, misfortune: Misfortune | undefined): Uint8Array {
  return misfortune?.kind === 'truncate' ? bytes.subarray(0, misfortune.bytes) : bytes;
}
