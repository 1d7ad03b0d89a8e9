import { WeirError, type AttemptNumber, type JobName, type StorageLock } from '@weir/core/contracts';
import { storageFailed } from '../failure.js';
import type { LockEntry } from './lock-entry.js';
import type { LockRegister } from './lock-register.js';

/** The lock as its owner has it: the right to write lasts for as long as the owner's own entry is in place. */
export class FsStorageLock implements StorageLock {
  readonly previousAttempt: AttemptNumber;
  readonly #register: LockRegister;
  readonly #job: JobName;
  #entry: LockEntry;
  /** One call at a time: while an attempt is recorded the entry changes its name. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(register: LockRegister, job: JobName, entry: LockEntry) {
    this.#register = register;
    this.#job = job;
    this.#entry = entry;
    this.previousAttempt = entry.attempt;
  }

  recordAttempt(attempt: AttemptNumber): Promise<void> {
    return this.#inTurn('Recording the attempt', async () => {
      const next = { attempt, owner: this.#entry.owner };
      if (!(await this.#register.replace(this.#entry, next))) throw await this.#fenced();
      this.#entry = next;
      await this.#register.sync();
    });
  }

  verify(): Promise<void> {
    return this.#inTurn('Checking the lock', async () => {
      if (!(await this.#register.has(this.#entry))) throw await this.#fenced();
    });
  }

  release(): Promise<void> {
    return this.#inTurn('Releasing the lock', async () => {
      // False if it was released before or another process has it: then there is nothing to give back. The attempt stays for the next owner.
      await this.#register.replace(this.#entry, { attempt: this.#entry.attempt, owner: undefined });
    });
  }

  async #fenced(): Promise<WeirError> {
    const owner = (await this.#register.read())[0]?.owner;
    const how = owner === undefined ? 'was given back' : `was taken over by process ${String(owner.process.pid)}`;
    return new WeirError(
      'STORAGE_FENCED',
      `${this.#register.path} ${how}: this process must not write to job ${this.#job} any more.`,
      { recoverable: false },
    );
  }

  #inTurn(doing: string, step: () => Promise<void>): Promise<void> {
    const done = this.#last.then(async () => {
      try {
        await step();
      } catch (cause) {
        throw storageFailed(`${doing} of job ${this.#job}`, cause);
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}
