import { WeirError } from '@weir/core/contracts';
import type { CheckpointId, Slice } from '@weir/core/contracts';
import type { Generations } from '../cache/generations.js';
import type { Moment } from '../cache/generation.js';

/** The moment of a capture, and the way there. */
export abstract class CaptureMoment implements Moment {
  readonly checkpointId: CheckpointId;
  isWanted = true;
  #isReached = false;
  #failure: Error | undefined;

  constructor(checkpointId: CheckpointId) {
    this.checkpointId = checkpointId;
  }

  /** Makes what the capture reads; with a promise, it does not reject. */
  protected abstract make(): Promise<void> | void;
  /** Gives it up again, if it was made. */
  protected abstract drop(): void;

  reach(): Promise<void> | void {
    try {
      const made = this.make();
      if (made === undefined) {
        this.#isReached = true;
        return undefined;
      }
      return made.then(
        () => {
          this.#isReached = true;
          // Released while it was made.
          if (!this.isWanted) this.drop();
        },
        (error: unknown) => {
          this.fail(error as Error);
        },
      );
    } catch (error) {
      this.fail(error as Error);
      return undefined;
    }
  }
  fail(reason: Error): void {
    this.#failure ??= reason;
  }
  release(): void {
    if (!this.isWanted) return;
    this.isWanted = false;
    this.fail(
      new WeirError(
        'CHECKPOINT_FAILED',
        `The capture of checkpoint ${this.checkpointId} was released before it was written.`,
      ),
    );
    if (this.#isReached) this.drop();
  }
  assertWhole(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Writes all generations up to it, in slices. */
  async come(generations: Generations, slice: Slice): Promise<void> {
    for (;;) {
      this.assertWhole();
      if (this.#isReached) return;
      if (generations.busy === undefined) generations.writeAside();
      else await generations.busy;
      if (slice.isOver()) await slice.next();
    }
  }
}
