import { ByteWriter } from '../element/bytes.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Flow } from './flow.js';

/**
 * What a sink keeps unwritten because a barrier waits for its stage: it is part of the sink's state at that barrier, and written afterwards, or
 * first of all after a restore. Without this a barrier would have to wait for every write that one expanded record leads to.
 */
export class HeldBatches<T> {
  readonly #flow: Flow;
  readonly #release: () => void;
  #batches: (readonly T[])[] = [];

  /** `release` is called when the barrier has gone on. */
  constructor(flow: Flow, release: () => void) {
    this.#flow = flow;
    this.#release = release;
  }

  get size(): number {
    return this.#batches.length;
  }
  /** What comes now has to wait until what is held is written. */
  get isInFront(): boolean {
    return this.#batches.length > 0 && this.#flow.isOverdrawn !== true;
  }
  get all(): readonly (readonly T[])[] {
    return this.#batches;
  }

  /** False: nothing waits, or the records cannot be stored, and have to be written now. */
  hold(records: readonly T[]): boolean {
    if (this.#flow.isOverdrawn !== true) return false;
    if (this.#batches.length === 0 && !isStorable(records)) return false;
    this.#batches.push(records);
    this.#flow.hold?.(records.length, this.#release);
    return true;
  }

  /** True: another barrier waits, and what is held stays so until that has gone on too. */
  holdOn(): boolean {
    if (this.#batches.length === 0 || this.#flow.isOverdrawn !== true) return false;
    this.#flow.hold?.(0, this.#release);
    return true;
  }

  restore(batches: readonly (readonly T[])[]): void {
    this.#batches = [...batches];
  }

  shift(): readonly T[] | undefined {
    return this.#batches.shift();
  }
}

function isStorable(records: readonly unknown[]): boolean {
  try {
    defaultSerializer.encode(records, new ByteWriter());
    return true;
  } catch {
    return false;
  }
}
