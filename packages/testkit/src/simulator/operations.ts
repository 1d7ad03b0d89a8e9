import type { JobHandle } from '@weir/core';
import type { Random } from '@weir/core/contracts';

/** What somebody does to a running job. `stop`: with a savepoint, from which the next process goes on. `suspend`: as it stands. */
type Operation = 'checkpoint' | 'savepoint' | 'stop' | 'suspend';

/** Those who run the job of one simulation: they ask it for checkpoints and savepoints, and stop it to start it again. */
export class Operations {
  readonly #random: Random;
  readonly #directory: string | undefined;
  #stopsLeft = 2;
  #stopping: 'stop' | 'suspend' | undefined;
  #stoppedAt: string | undefined;

  /** `directory`: where savepoints go; without one there are none. */
  constructor(random: Random, directory: string | undefined) {
    this.#random = random;
    this.#directory = directory;
  }

  /** What the next process is to start from, if it is to be told. Half of those that follow a stop have to find it by themselves. */
  takeStart(): { readonly restoreFrom: string; readonly claimMode: 'claim' | 'no-claim' } | undefined {
    const pointer = this.#stoppedAt;
    this.#stoppedAt = undefined;
    if (pointer === undefined || this.#random() < 0.5) return undefined;
    return { restoreFrom: pointer, claimMode: this.#random() < 0.5 ? 'claim' : 'no-claim' };
  }

  /** How the process that runs now was asked to end, if it was. */
  get stopping(): 'stop' | 'suspend' | undefined {
    return this.#stopping;
  }

  /** Plans what is done in a process that takes about `usualMs`; `later` is its clock's. */
  begin(job: JobHandle, usualMs: number, later: (ms: number, action: () => void) => void): void {
    this.#stopping = undefined;
    for (const operation of this.#draw()) {
      later(this.#random() ** 2 * usualMs, () => {
        // That it is refused, or fails, is an ordinary answer.
        this.#carryOut(operation, job).catch(() => undefined);
      });
    }
  }

  #draw(): readonly Operation[] {
    const drawn: Operation[] = [];
    if (this.#random() < 0.2) drawn.push('checkpoint');
    if (this.#random() < 0.1 && this.#stopsLeft > 0) drawn.push('suspend');
    if (this.#directory === undefined) return drawn;
    if (this.#random() < 0.5) drawn.push('savepoint');
    if (this.#random() < 0.5 && this.#stopsLeft > 0) drawn.push('stop');
    return drawn;
  }

  async #carryOut(operation: Operation, job: JobHandle): Promise<void> {
    switch (operation) {
      case 'checkpoint':
        await job.triggerCheckpoint();
        return;
      case 'savepoint':
        await job.triggerSavepoint(this.#directory);
        return;
      case 'stop':
        this.#stopping = 'stop';
        this.#stoppedAt = (await job.stopWithSavepoint({ dir: this.#directory })).pointer;
        this.#stopsLeft--;
        return;
      case 'suspend':
        this.#stopsLeft--;
        this.#stopping = 'suspend';
        await job[Symbol.asyncDispose]();
    }
  }
}
