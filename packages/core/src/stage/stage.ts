import { Subject, type Observable, type Subscription } from 'rxjs';
import type { IdleFlag, RecordBatch, StreamElement, Watermark } from '../element/element.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Operator, OperatorEnd, RestoredState } from '../operator/operator.js';
import { encodeCapture, type EncodedCapture } from '../snapshot/encode-capture.js';
import { inOrder } from './in-order.js';

export interface StageOperator {
  readonly uid: OperatorUid;
  readonly operator: Operator;
}
/**
 * A chain of operators with no exchange inside, composed with `pipe`; it knows nothing of other subtasks, channels, alignment or coordinator.
 * Head first: restore and open go from tail to head, prepare and finish from head to tail, capture and notifications from tail to head
 * (Flink: RegularOperatorChain).
 */
export class Stage {
  readonly #operators: readonly StageOperator[];
  readonly #heads: readonly Subject<StreamElement<unknown>>[];
  readonly #subscription: Subscription;

  constructor(
    operators: readonly StageOperator[],
    inputs: number,
    output: { next(element: StreamElement<unknown>): void; failed(error: unknown): void },
  ) {
    this.#operators = operators;
    this.#heads = Array.from({ length: inputs }, () => new Subject());
    this.#subscription = chain(operators, this.#heads).subscribe({
      next: (element) => {
        try {
          output.next(element);
        } catch (error) {
          output.failed(error);
        }
      },
      error: (error: unknown) => {
        output.failed(error);
      },
    });
  }

  async restoreAndOpen(restored: (uid: OperatorUid) => RestoredState | undefined): Promise<void> {
    for (const { uid, operator } of this.#operators.toReversed()) {
      const state = restored(uid);
      if (state !== undefined) await operator.restore?.(state);
      await operator.open?.();
    }
  }

  accept(input: number, batch: RecordBatch<unknown>): void {
    this.#heads[input]?.next(batch);
  }

  /** Event time over all inputs; it enters at the first. */
  time(signal: Watermark | IdleFlag): void {
    this.#heads[0]?.next(signal);
  }

  prepare(checkpointId: CheckpointId): Awaitable<void> {
    return inOrder(this.#operators, ({ operator }) => operator.prepare?.(checkpointId));
  }

  /** What the stage as a whole holds of one checkpoint until it is written, out of reach of user code. */
  capture(checkpointId: CheckpointId): readonly EncodedCapture[] {
    const captures: EncodedCapture[] = [];
    try {
      for (const { uid, operator } of this.#operators.toReversed()) {
        const capture = operator.capture?.(checkpointId);
        if (capture !== undefined) captures.push(encodeCapture(uid, capture));
      }
    } catch (error) {
      for (const { keyed } of captures) keyed?.release();
      throw error;
    }
    return captures;
  }

  /** Every operator hears of it, also if one before it threw; the first error is thrown in the end. */
  async completed(checkpointId: CheckpointId): Promise<void> {
    const told = this.#operators.toReversed().map(async ({ operator }) => operator.completed?.(checkpointId));
    for (const outcome of await Promise.allSettled(told)) if (outcome.status === 'rejected') throw outcome.reason;
  }

  aborted(checkpointId: CheckpointId): void {
    for (const { operator } of this.#operators.toReversed()) operator.aborted?.(checkpointId);
  }

  finish(): Awaitable<void> {
    return inOrder(this.#operators, ({ operator }) => operator.finish?.());
  }

  /** Closes every operator, tail first, whatever the others do; the first error is thrown in the end. */
  async close(end: OperatorEnd): Promise<void> {
    this.#subscription.unsubscribe();
    const errors: unknown[] = [];
    for (const { operator } of this.#operators.toReversed()) {
      try {
        await operator.close?.(end);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

function chain(
  operators: readonly StageOperator[],
  heads: readonly Observable<StreamElement<unknown>>[],
): Observable<StreamElement<unknown>> {
  // Types meet where the graph connects operators; between them the elements are of whatever type the neighbours agreed on.
  const [first, ...rest] = operators.map(({ operator }) => operator as Operator<unknown>);
  if (first === undefined) throw new RangeError('a stage has at least one operator');
  return rest.reduce((stream, operator) => operator.connect(stream), first.connect(...heads));
}
