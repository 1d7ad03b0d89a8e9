import type { AbortReason, WeirError } from '@weir/core/contracts';
import type { Completion } from './completion.js';
import { refuseRequest } from './give-up.js';
import type { CheckpointedJob } from './job.js';
import type { SavepointWish } from './savepoint.js';
import {
  decide,
  enqueue,
  isSavepoint,
  type CheckpointRequest,
  type RequestQueue,
  type TriggerFacts,
} from './trigger.js';

/** A request and who waits for its outcome. */
export interface Asked extends CheckpointRequest {
  /** A savepoint is wanted. */
  readonly savepoint: SavepointWish | undefined;
  completed(completion: Completion): void;
  failed(error: WeirError): void;
}

/** The requests of one attempt that have not become checkpoints yet. */
export class Requests {
  readonly #job: CheckpointedJob;
  /** The next periodic request is to come in so many ms. */
  readonly #postpone: (delayMs: number) => void;
  #queue: RequestQueue<Asked> = [];
  #asked = 0;

  constructor(job: CheckpointedJob, postpone: (delayMs: number) => void) {
    this.#job = job;
    this.#postpone = postpone;
  }

  /** Settles when the checkpoint is durable, or with CHECKPOINT_FAILED. */
  add(trigger: CheckpointRequest['trigger'], savepoint?: SavepointWish): Promise<Completion> {
    return new Promise((completed, failed) => {
      const createdAt = this.#job.context.clock.monotonic();
      const asked = { trigger, savepoint, createdAt, sequence: this.#asked++, completed, failed };
      const { queue, refused } = enqueue(this.#queue, asked);
      this.#queue = queue;
      if (refused !== undefined) this.refuse(refused, 'TOO_MANY_CHECKPOINT_REQUESTS');
    });
  }

  /** The one that may run now, if any. */
  next(facts: TriggerFacts): Asked | undefined {
    for (;;) {
      const decision = decide(this.#queue, facts, this.#job.context.settings);
      switch (decision.kind) {
        case 'wait':
          return undefined;
        case 'run':
          this.#queue = decision.queue;
          return decision.request;
        case 'too-early':
          // Whatever waits behind it is periodic too, and just as early.
          this.#queue = decision.queue;
          this.#postpone(decision.retryInMs);
          this.refuse(decision.request, 'MINIMUM_TIME_BETWEEN_CHECKPOINTS');
      }
    }
  }

  /** The next one is a savepoint, and this is none; or the other way round. */
  waitsBehind(asked: Asked): boolean {
    const [next] = this.#queue;
    return next !== undefined && isSavepoint(next) !== isSavepoint(asked);
  }

  refusePeriodic(reason: AbortReason): void {
    const periodic = this.#queue.filter((asked) => asked.trigger === 'periodic');
    this.#queue = this.#queue.filter((asked) => asked.trigger !== 'periodic');
    for (const asked of periodic) this.refuse(asked, reason);
  }

  refuseAll(reason: AbortReason): void {
    const all = this.#queue;
    this.#queue = [];
    for (const asked of all) this.refuse(asked, reason);
  }

  /** It will not become a checkpoint. */
  refuse(asked: Asked, reason: AbortReason): void {
    asked.failed(refuseRequest(asked.trigger, reason, this.#job.context, this.#job.statistics));
  }
}
