import { checkedDestination } from '../bounds/sink-answers.js';
import type { Sink, SinkContext, SinkDestination } from '../contracts/sink.js';
import type { CheckpointRef, DestinationRef } from '../contracts/snapshot.js';
import type { CheckpointId, Lineage } from '../element/ids.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import type { CommitRetry } from './commit-queue.js';
import type { OperatorContext } from './operator.js';

/** Services that a sink has from the job around it. */
export interface SinkServices {
  readonly lineage: Lineage;
  readonly restoredFrom: CheckpointRef | undefined;
  readonly checkpointing: boolean;
  /** Rejects once another process or attempt has taken over. */
  readonly verify: () => Promise<void>;
  /** Of this sink, if its output has to be committed. */
  readonly destination?: DestinationRef | undefined;
  /** How often a commit is tried again. */
  readonly commitRetries: number;
  /** A commit does not succeed, and is tried again. */
  readonly onRetry?: ((retry: CommitRetry) => void) | undefined;
  /**
   * {@link SinkWriterContext.nextBarrier}, for a writer that the barrier `passed` has reached. Absent
   * with checkpointing off.
   */
  readonly nextBarrier?: ((passed: CheckpointId, until: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Place where the sink's output is committed; undefined for one that has nothing to commit.
 * PROTOCOL_VIOLATION for one that does not say where.
 */
export async function destinationOf(
  sink: Sink<unknown>,
  context: OperatorContext,
  services: SinkServices,
): Promise<SinkDestination | undefined> {
  if (sink.committer === undefined) return undefined;
  try {
    return checkedDestination(await sink.destination?.(sinkContext(context, services)), context);
  } catch (error) {
    throw sinkFailure(context, error);
  }
}

/** What all subtasks of a sink share, before any of them is opened. */
export async function prepareSink(
  sink: Sink<unknown>,
  context: OperatorContext,
  services: SinkServices,
): Promise<void> {
  try {
    await sink.prepare?.(sinkContext(context, services));
  } catch (error) {
    throw sinkFailure(context, error);
  }
}

/** Context of the calls that come before a writer. */
export function sinkContext(context: OperatorContext, services: SinkServices): SinkContext {
  const { job, uid, attempt, parallelism, clock, random, logger, metrics, signal } = context;
  const { lineage, restoredFrom, checkpointing } = services;
  return {
    job,
    uid,
    attempt,
    parallelism,
    clock,
    random,
    logger,
    metrics,
    signal,
    lineage,
    restoredFrom,
    checkpointing,
  };
}

/** What a sink threw, with its name on it; weir's own errors pass as they are. */
export function sinkFailure({ uid, job, subtask }: OperatorContext, error: unknown): WeirError {
  if (isWeirError(error)) return error;
  const message = `Sink ${uid} of job ${job} (subtask ${String(subtask)}) failed: ${messageOf(error)}`;
  return new WeirError('SINK_FAILED', message, { cause: error });
}
