import type { CheckpointTrigger } from '@weir/core/contracts';

/** Somebody wants a checkpoint. */
export interface CheckpointRequest {
  readonly trigger: CheckpointTrigger;
  /** Monotonic ms. */
  readonly createdAt: number;
  /** Grows with every request; decides between equals. */
  readonly sequence: number;
}

/** Requests that wait, the most urgent first. */
export type RequestQueue<R extends CheckpointRequest> = readonly R[];

export interface TriggerLimits {
  readonly maxConcurrent: number;
  readonly minPauseMs: number;
  readonly unaligned: boolean;
}
/** Everything a decision looks at, read in one go: a fresh count beside an old completion time would skip the pause. */
export interface TriggerFacts {
  /** A checkpoint is being set up. */
  readonly isTriggering: boolean;
  /** Checkpoints until their end, savepoints until they are published: what is left of one then is between it and the storage. */
  readonly pending: number;
  /** Of these, the ones whose barriers may still be under way. */
  readonly collecting: number;
  /** Monotonic ms, at which the last checkpoint or savepoint completed or failed; undefined before the first. */
  readonly lastEndedAt: number | undefined;
  readonly now: number;
}

export type TriggerDecision<R extends CheckpointRequest> =
  | { readonly kind: 'wait' }
  | { readonly kind: 'run'; readonly request: R; readonly queue: RequestQueue<R> }
  /** Periodic and inside the minimum pause: dropped, and the schedule fires again in `retryInMs`. */
  | { readonly kind: 'too-early'; readonly request: R; readonly retryInMs: number; readonly queue: RequestQueue<R> };

export const QUEUE_LIMIT = 1000;

const URGENCY: Readonly<Record<CheckpointTrigger, number>> = {
  savepoint: 0,
  stop: 0,
  final: 1,
  manual: 2,
  periodic: 3,
};

/**
 * A user waits for a savepoint, and the job for its final checkpoint with nothing else to do: those may run beside any number of others. But the
 * barriers of a savepoint overtake nothing, so it does not mix with checkpoints whose barriers do.
 */
function isForced(request: CheckpointRequest, { unaligned }: TriggerLimits): boolean {
  return request.trigger === 'final' || (isSavepoint(request) && !unaligned);
}

export function isSavepoint({ trigger }: Pick<CheckpointRequest, 'trigger'>): boolean {
  return trigger === 'savepoint' || trigger === 'stop';
}

function isBefore(a: CheckpointRequest, b: CheckpointRequest): boolean {
  return (URGENCY[a.trigger] - URGENCY[b.trigger] || a.createdAt - b.createdAt || a.sequence - b.sequence) < 0;
}

/** Adds a request. A periodic one that waits stands for all that come meanwhile (in Flink each waits). A full queue gives up its least urgent one; if that one is not periodic, the new one is refused instead. */
export function enqueue<R extends CheckpointRequest>(
  queue: RequestQueue<R>,
  request: R,
  limit: number = QUEUE_LIMIT,
): { readonly queue: RequestQueue<R>; readonly refused: R | undefined } {
  const last = queue.at(-1);
  if (request.trigger === 'periodic' && last?.trigger === 'periodic') return { queue, refused: request };
  if (queue.length >= limit && last !== undefined && last.trigger !== 'periodic') return { queue, refused: request };
  const place = queue.findIndex((waiting) => isBefore(request, waiting));
  const longer = queue.toSpliced(place === -1 ? queue.length : place, 0, request);
  if (longer.length <= limit) return { queue: longer, refused: undefined };
  return { queue: longer.slice(0, -1), refused: longer.at(-1) };
}

/**
 * May a checkpoint start now, and which (Flink: CheckpointRequestDecider)? Files that are being removed hold nothing back, and the minimum pause
 * begins with any end, also that of a checkpoint that failed: a job whose checkpoints fail gets to work in between as well.
 */
export function decide<R extends CheckpointRequest>(
  queue: RequestQueue<R>,
  facts: TriggerFacts,
  limits: TriggerLimits,
): TriggerDecision<R> {
  const [first, ...rest] = queue;
  if (first === undefined || facts.isTriggering) return { kind: 'wait' };
  const inTheWay = isSavepoint(first) ? facts.collecting : facts.pending;
  if (inTheWay >= limits.maxConcurrent && !isForced(first, limits)) return { kind: 'wait' };
  if (first.trigger === 'periodic' && facts.lastEndedAt !== undefined) {
    const retryInMs = facts.lastEndedAt + limits.minPauseMs - facts.now;
    if (retryInMs > 0) return { kind: 'too-early', request: first, retryInMs, queue: rest };
  }
  return { kind: 'run', request: first, queue: rest };
}
