import type { StopSavepoint } from '../contracts/coordinator.js';

/** How an attempt is to be stopped: at most one savepoint at a time, and once one is complete there is no going on. */
export class Stopping {
  #underWay: Promise<StopSavepoint | undefined> | undefined;
  #taken: StopSavepoint | undefined;
  #drains = false;
  #onTaken: () => void = () => undefined;

  /** The savepoint that is complete. */
  get taken(): StopSavepoint | undefined {
    return this.#taken;
  }
  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }
  get drains(): boolean {
    return this.#drains;
  }

  /** Settles with the first savepoint that is complete, or like `ended`. */
  completedOr(ended: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#taken !== undefined) resolve();
      this.#onTaken = resolve;
      ended.then(resolve, reject);
    });
  }

  /** Follows a savepoint to its end; one that fails leaves everything as it was. */
  follow(savepoint: Promise<StopSavepoint>, drains: boolean): void {
    this.#drains = drains;
    this.#underWay = savepoint.then(
      (taken) => {
        this.#taken = taken;
        // Whoever ends the attempt waits for it, and that may be nobody: it rejects if the attempt fails.
        taken.committed.catch(() => undefined);
        this.#onTaken();
        return taken;
      },
      () => {
        this.#underWay = undefined;
        return undefined;
      },
    );
  }

  /** The savepoint that is complete, once it is known whether the one under way will be. */
  async outcome(): Promise<StopSavepoint | undefined> {
    return this.#underWay;
  }
}
