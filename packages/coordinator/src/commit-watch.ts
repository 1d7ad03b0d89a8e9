import type { CheckpointId } from '@weir/core/contracts';
import { warn, type CheckpointedJob } from './job.js';

/** Says so when output stays uncommitted. Checkpoints go on all the same: each holds whatever is not committed (as in Flink). */
export class CommitWatch {
  readonly #job: Pick<CheckpointedJob, 'context'>;
  /** With the monotonic ms at which their commits began, oldest first. */
  readonly #underWay = new Map<CheckpointId, number>();
  #stopTimer: () => void = () => undefined;

  constructor(job: Pick<CheckpointedJob, 'context'>) {
    this.#job = job;
  }

  begun(id: CheckpointId): void {
    this.#underWay.set(id, this.#job.context.clock.monotonic());
    if (this.#underWay.size === 1) this.#arm();
  }

  ended(id: CheckpointId): void {
    this.#underWay.delete(id);
    if (this.#underWay.size === 0) this.#stopTimer();
  }

  /** Once every timeout at most, however many checkpoints there are. */
  #arm(): void {
    const { context } = this.#job;
    const { timeoutMs } = context.settings;
    this.#stopTimer = context.clock.timer(timeoutMs, () => {
      const [oldest] = this.#underWay;
      if (oldest === undefined) return;
      const [id, begunAt] = oldest;
      const ms = context.clock.monotonic() - begunAt;
      if (ms >= timeoutMs)
        warn(
          context,
          `Output of checkpoint ${String(id)} of job ${context.job} has not been committed for ${String(Math.round(ms))} ms: a sink asks for ` +
            `another try again and again, or does not answer. Checkpoints go on; ${String(this.#underWay.size)} of them wait for their commits.`,
        );
      this.#arm();
    });
  }
}
