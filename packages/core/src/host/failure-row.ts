import type { JobName } from '../element/ids.js';
import { messageOf } from '../errors.js';

/** From here on it is no coincidence any more. */
const LEAST_REPEATS = 3;

export interface Failed {
  /** Whether a checkpoint that the job falls back to has completed since the failure before, or since the job began. */
  readonly progressed: boolean;
  /** This one and those before it, back to the latest completed checkpoint. */
  readonly inARow: number;
}

/** Failures between which no checkpoint has completed: each attempt begins where the one before it did, and meets the same again. */
export class FailureRow {
  #inARow = 0;
  #progressed = false;

  get length(): number {
    return this.#inARow;
  }

  checkpointCompleted(): void {
    this.#progressed = true;
    this.#inARow = 0;
  }

  failed(): Failed {
    const progressed = this.#progressed;
    this.#progressed = false;
    this.#inARow++;
    return { progressed, inARow: this.#inARow };
  }
}

/** What to tell of a failure that others preceded without a checkpoint between; undefined: nothing yet. */
export function repeated(job: JobName, { inARow }: Failed, error: unknown): string | undefined {
  if (inARow < LEAST_REPEATS) return undefined;
  return (
    `Job ${job} has failed ${String(inARow)} times in a row without completing a checkpoint in between. Each restart begins at the same place, so ` +
    `what always fails there, such as a record that an operator throws at, fails again. The failure was: ${messageOf(error)}`
  );
}
