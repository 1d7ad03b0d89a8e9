import { WeirError } from '@weir/core/contracts';
import type { AttemptNumber, StorageLock } from '@weir/core/contracts';
import type { StoredJob } from './stored-job.js';

/**
 * The right to write of one run of a job. There is no other process to keep out, and of a run within this process nobody can tell whether it
 * is over; so a new one takes the lock at once, and the former is told when it next asks.
 */
export class MemoryLock implements StorageLock {
  readonly previousAttempt: AttemptNumber;
  readonly #job: StoredJob;

  constructor(job: StoredJob) {
    this.previousAttempt = job.attempt;
    this.#job = job;
    job.owner = this;
  }

  async recordAttempt(attempt: AttemptNumber): Promise<void> {
    await this.verify();
    this.#job.attempt = attempt;
  }
  async verify(): Promise<void> {
    if (this.#job.owner === this) return;
    throw new WeirError('STORAGE_FENCED', `Job ${this.#job.name} was started again, or its lock was released.`, {
      recoverable: false,
    });
  }
  async release(): Promise<void> {
    if (this.#job.owner === this) this.#job.owner = undefined;
  }
}
