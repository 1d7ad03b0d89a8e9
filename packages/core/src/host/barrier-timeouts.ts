import type { Clock } from '../contracts/clock.js';
import type { Barrier } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import { isTimeoutable, overtakesIn } from '../element/overtaking.js';

/**
 * Tells a subtask when a checkpoint has taken so long that its barriers may overtake: once for each checkpoint whose barrier has been seen, also
 * one that still waits in a channel. The time is that of the whole checkpoint, from its trigger on (Flink: BarrierAlignmentUtil).
 */
export class BarrierTimeouts {
  readonly #clock: Clock;
  readonly #onTimeout: (checkpointId: CheckpointId) => void;
  #seen: CheckpointId = 0;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, onTimeout: (checkpointId: CheckpointId) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** A barrier is here, for the first time or again. A newer checkpoint takes the place of an older one: they are never under way together. */
  saw(barrier: Barrier): void {
    const { checkpointId } = barrier;
    if (!isTimeoutable(barrier) || checkpointId <= this.#seen) return;
    this.#cancel();
    this.#seen = checkpointId;
    const left = overtakesIn(barrier, this.#clock.now());
    if (left === 0) this.#onTimeout(checkpointId);
    else
      this.#cancel = this.#clock.timer(left, () => {
        this.#onTimeout(checkpointId);
      });
  }

  /** The checkpoint is over. */
  ended(checkpointId: CheckpointId): void {
    if (checkpointId >= this.#seen) this.close();
  }

  close(): void {
    this.#cancel();
    this.#cancel = () => undefined;
  }
}
