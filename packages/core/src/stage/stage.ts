import { Subject, type Observable, type Subscription } from 'rxjs';
import type { IdleFlag, RecordBatch, SnapshotKind, StreamElement, Watermark } from '../element/element.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import { allOf } from '../contracts/all-of.js';
import type { Awaitable } from '../contracts/awaitable.js';
import type { CaptureMode } from '../contracts/state-backend.js';
import { together } from '../errors.js';
import type { Operator, OperatorEnd, RestoredState } from '../operator/operator.js';
import { encodeCapture, type EncodedCapture } from '../snapshot/encode-capture.js';
import { inOrder } from './in-order.js';
import { inSegments, Relay } from './segments.js';

export interface StageOperator {
  readonly uid: OperatorUid;
  readonly operator: Operator;
}
export interface StageOptions {
  /** Head first. */
  readonly operators: readonly StageOperator[];
  /** Of the first operator. */
  readonly inputs: number;
  /** Takes what leaves the last operator; what it throws fails the stage. */
  readonly output: (element: StreamElement<unknown>) => void;
  readonly failed: (error: unknown) => void;
  /** Settles once operators have passed on all that they were handed; undefined if they have. */
  readonly drained: () => Promise<void> | undefined;
  /** What an operator threw, with its name on it. */
  readonly failureOf: (uid: OperatorUid, error: unknown) => unknown;
  /** Between the segments of a long stage. Whoever says that flow is open looks into it. */
  readonly relay?: Relay | undefined;
  /** Lets others run now and then while many operators are opened or closed; undefined: it is not time for that. */
  readonly pause?: (() => Promise<void> | undefined) | undefined;
}

/**
 * A chain of operators with no exchange inside, composed with `pipe`; it knows nothing of other subtasks, channels, alignment or coordinator.
 * Restore and open go from tail to head, prepare and finish from head to tail, capture, notifications and close from tail to head
 * (Flink: RegularOperatorChain).
 */
export class Stage {
  readonly #options: StageOptions;
  readonly #heads: readonly Subject<StreamElement<unknown>>[];
  readonly #subscriptions: readonly Subscription[];

  constructor(options: StageOptions) {
    this.#options = options;
    const { operators, inputs, output, failed, failureOf, relay = new Relay() } = options;
    this.#heads = Array.from({ length: inputs }, () => new Subject());
    const last = operators.at(-1);
    if (last === undefined) throw new RangeError('a stage has at least one operator');
    const segments = inSegments(operators);
    const error = (cause: unknown): void => {
      failed(cause);
    };
    const leave = (element: StreamElement<unknown>): void => {
      try {
        output(element);
      } catch (cause) {
        failed(failureOf(last.uid, cause));
      }
    };
    // Tail first, so that somebody is there for what an operator emits at once.
    this.#subscriptions = segments
      .map((members, segment) => ({ members, segment }))
      .toReversed()
      .map(({ members, segment }) => {
        const heads = segment === 0 ? this.#heads : [new Subject<StreamElement<unknown>>()];
        const next =
          segment === segments.length - 1
            ? leave
            : (element: StreamElement<unknown>): void => {
                relay.send(segment + 1, element);
              };
        const subscription = chain(members, heads).subscribe({ next, error });
        if (segment > 0)
          relay.connect(segment, (element) => {
            heads[0]?.next(element);
          });
        return subscription;
      });
  }

  get hasUnionState(): boolean {
    return this.#options.operators.some(({ operator }) => operator.hasUnionState === true);
  }

  async restoreAndOpen(restored: (uid: OperatorUid) => RestoredState | undefined): Promise<void> {
    const { operators, pause } = this.#options;
    for (const member of operators.toReversed()) {
      const pausing = pause?.();
      if (pausing !== undefined) await pausing;
      const state = restored(member.uid);
      if (state !== undefined) await this.#call(member, (operator) => operator.restore?.(state));
      await this.#call(member, (operator) => operator.open?.());
    }
  }

  accept(input: number, batch: RecordBatch<unknown>): void {
    this.#heads[input]?.next(batch);
  }

  /** Event time over all inputs; it enters at the first. */
  time(signal: Watermark | IdleFlag): void {
    this.#heads[0]?.next(signal);
  }

  prepare(checkpointId: CheckpointId, kind: SnapshotKind = 'checkpoint'): Awaitable<void> {
    return this.#headToTail((operator) => operator.prepare?.(checkpointId, kind));
  }

  /** What the stage as a whole holds of one checkpoint until it is written, out of reach of user code. */
  capture(checkpointId: CheckpointId, mode: CaptureMode = 'full'): readonly EncodedCapture[] {
    const captures: EncodedCapture[] = [];
    for (const { uid, operator } of this.#options.operators.toReversed()) {
      try {
        const capture = operator.capture?.(checkpointId, mode);
        if (capture !== undefined) captures.push(encodeCapture(uid, capture));
      } catch (error) {
        for (const { keyed } of captures) keyed?.release();
        throw this.#options.failureOf(uid, error);
      }
    }
    return captures;
  }

  /** Every operator hears of it, also if one before it threw; the first error is thrown in the end. */
  async completed(checkpointId: CheckpointId): Promise<void> {
    const told = this.#options.operators
      .toReversed()
      .map(async (member) => this.#call(member, (operator) => operator.completed?.(checkpointId)));
    await allOf(told);
  }

  /** Every operator hears of it, as with `completed`. */
  aborted(checkpointId: CheckpointId): void {
    const errors: unknown[] = [];
    for (const { uid, operator } of this.#options.operators.toReversed()) {
      try {
        operator.aborted?.(checkpointId);
      } catch (error) {
        errors.push(this.#options.failureOf(uid, error));
      }
    }
    if (errors.length > 0) throw together(errors);
  }

  finish(): Awaitable<void> {
    return this.#headToTail((operator) => operator.finish?.());
  }

  /** Closes every operator, tail first, whatever the others do; every error is told in the end. */
  async close(end: OperatorEnd): Promise<void> {
    const { operators, failureOf, pause } = this.#options;
    const errors: unknown[] = [];
    for (const subscription of this.#subscriptions) {
      try {
        subscription.unsubscribe();
      } catch (error) {
        errors.push(error);
      }
    }
    for (const { uid, operator } of operators.toReversed()) {
      const pausing = pause?.();
      if (pausing !== undefined) await pausing;
      try {
        await operator.close?.(end);
      } catch (error) {
        errors.push(failureOf(uid, error));
      }
    }
    if (errors.length > 0) throw together(errors);
  }

  /** One after the other; what one of them emits has gone through the rest before these have their turn. Synchronous where nobody waits. */
  #headToTail(step: (operator: Operator) => Awaitable<void>): Awaitable<void> {
    const { operators, drained } = this.#options;
    const steps = operators.flatMap((member) => [() => this.#call(member, step), drained]);
    return inOrder(steps, (next) => next());
  }

  #call({ uid, operator }: StageOperator, step: (operator: Operator) => Awaitable<void>): Awaitable<void> {
    const named = (error: unknown): never => {
      throw this.#options.failureOf(uid, error);
    };
    try {
      return step(operator)?.then(undefined, named);
    } catch (error) {
      return named(error);
    }
  }
}

function chain(
  operators: readonly StageOperator[],
  heads: readonly Observable<StreamElement<unknown>>[],
): Observable<StreamElement<unknown>> {
  // Types meet where the graph connects operators; between them the elements are of whatever type the neighbours agreed on.
  const [first, ...rest] = operators.map(({ operator }) => operator as Operator<unknown>);
  return rest.reduce((stream, operator) => operator.connect(stream), (first as Operator<unknown>).connect(...heads));
}
