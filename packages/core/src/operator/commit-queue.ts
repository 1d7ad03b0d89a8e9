import { sleep } from '../contracts/clock.js';
import type { Committer, CommitOutcome } from '../contracts/sink.js';
import type { Committable } from '../contracts/snapshot.js';
import { messageOf, WeirError } from '../errors.js';
import type { OperatorContext } from './operator.js';
import { checkedOutcomes } from '../bounds/sink-answers.js';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;

/** A commit that does not succeed. */
export interface CommitRetry {
  /** What has to be tried again. */
  readonly committables: number;
  /** How often it was. */
  readonly tries: number;
  readonly delayMs: number;
  readonly error: unknown;
}

export interface CommitOptions {
  /** Rejects once another process or attempt has taken over. */
  readonly verify: () => Promise<void>;
  /** How often a commit that does not succeed is tried again. */
  readonly retries: number;
  readonly onRetry?: ((retry: CommitRetry) => void) | undefined;
}

/**
 * Commits committables in order, one batch after the other, again and again until the committer says they are in, or too often (Flink:
 * CommitterOperator). Before each try the right to write is verified, so that an attempt that lost its lock commits nothing any more.
 */
export class CommitQueue {
  readonly #context: OperatorContext;
  readonly #committer: Committer;
  readonly #options: CommitOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(context: OperatorContext, committer: Committer, options: CommitOptions) {
    this.#context = context;
    this.#committer = committer;
    this.#options = options;
  }

  /**
   * Commits what `select` gives once all earlier calls are done. Settles when all of it is committed; rejects with COMMIT_FAILED, or when the
   * attempt ends.
   */
  commit(select: () => readonly Committable[]): Promise<void> {
    const next = this.#last.then(() => this.#commitAll(select()));
    this.#last = next.catch(() => undefined);
    return next;
  }

  /**
   * One try for what an ending attempt has left, which its abort signal does not stop. Rejects with COMMIT_FAILED if that is not enough.
   */
  commitLast(committables: readonly Committable[]): Promise<void> {
    const next = this.#last.then(async () => {
      if (committables.length === 0) return;
      await this.#options.verify();
      const outcomes = await this.#tryOnce(committables, new AbortController().signal);
      for (const [i, committable] of committables.entries()) {
        const outcome = outcomes[i];
        if (this.#mustRetry(committable, outcome)) throw commitFailure(committable, outcome);
      }
    });
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Settles when nothing is under way; never rejects. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #commitAll(committables: readonly Committable[]): Promise<void> {
    const { clock, signal, logger } = this.#context;
    const { verify, retries, onRetry } = this.#options;
    let rest = committables;
    let tries = 0;
    for (let delayMs = FIRST_RETRY_MS; rest.length > 0; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      await verify();
      signal.throwIfAborted();
      const outcomes = await this.#tryOnce(rest, signal);
      const again = rest.filter((committable, i) => this.#mustRetry(committable, outcomes[i]));
      if (again[0] !== undefined) {
        const err = errorsOf(outcomes)[0];
        if (++tries > retries) throw commitFailure(again[0], { kind: 'retry', error: err }, tries);
        onRetry?.({ committables: again.length, tries, delayMs, error: err });
        logger.warn(
          { sink: this.#context.uid, committables: again.length, delayMs, err },
          'commit did not succeed, trying again',
        );
        await sleep(clock, delayMs, signal);
      }
      rest = again;
    }
  }

  async #tryOnce(committables: readonly Committable[], signal: AbortSignal): Promise<readonly CommitOutcome[]> {
    let outcomes: unknown;
    try {
      outcomes = await this.#committer.commit(committables, signal);
    } catch (error) {
      return committables.map(() => ({ kind: 'retry', error }));
    }
    return checkedOutcomes(outcomes, committables.length, this.#context);
  }

  #mustRetry(committable: Committable, outcome: CommitOutcome | undefined): boolean {
    switch (outcome?.kind) {
      case 'committed':
      case 'already-committed':
        return false;
      case 'retry':
        return true;
      case 'failed':
        throw commitFailure(committable, outcome);
      case undefined:
        // Their number was checked.
        return true;
    }
  }
}

/** `tries`: so many were not enough. */
function commitFailure({ identity }: Committable, outcome: CommitOutcome | undefined, tries?: number): WeirError {
  const { sink, job, checkpointId } = identity;
  const [cause] = outcome === undefined ? [] : errorsOf([outcome]);
  const cannot =
    tries === undefined ? 'cannot commit' : `has tried ${String(tries)} times (sink.committer.retries) to commit`;
  return new WeirError(
    'COMMIT_FAILED',
    `Sink ${sink} of job ${job} ${cannot} output of checkpoint ${String(checkpointId)}: ${messageOf(cause)}`,
    { cause },
  );
}

function errorsOf(outcomes: readonly CommitOutcome[]): readonly unknown[] {
  return outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
}
