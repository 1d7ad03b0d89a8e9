import { createReferenceStateBackend, VirtualClock } from '@weir/testkit';
import { Subject } from 'rxjs';
import type { KeyGroupRange, OperatorSnapshot } from '../../src/contracts/snapshot.js';
import type { StreamElement } from '../../src/element/element.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { encodeCapture } from '../../src/snapshot/encode-capture.js';
import { restoredState } from '../../src/snapshot/restored-state.js';
import { writeSnapshot } from '../../src/snapshot/write-snapshot.js';
import { memoryLocation } from './memory-location.js';
import { operatorContext } from './operator-context.js';

const UID = 'operator';

export interface OperatorBenchOptions {
  readonly clock?: VirtualClock;
  readonly keyGroups?: KeyGroupRange;
  /** Parts of a checkpoint, as many as there were subtasks before. */
  readonly restore?: readonly OperatorSnapshot[];
  readonly context?: Partial<OperatorContext>;
}

/** One operator with state, element by element; its snapshots take the whole way through bytes. */
export class OperatorBench {
  readonly clock: VirtualClock;
  readonly out: StreamElement<unknown>[] = [];
  readonly errors: unknown[] = [];
  readonly operator: Operator;
  readonly #heads: readonly Subject<StreamElement<unknown>>[];
  readonly #keyGroups: KeyGroupRange;

  private constructor(make: (context: OperatorContext) => Operator, options: OperatorBenchOptions) {
    this.clock = options.clock ?? new VirtualClock();
    this.#keyGroups = options.keyGroups ?? { first: 0, last: 127 };
    const context: OperatorContext = operatorContext({
      uid: UID,
      clock: this.clock,
      keyGroups: this.#keyGroups,
      openKeyedState: async (states) =>
        createReferenceStateBackend().open({ ...context, operator: UID, states, keyGroups: this.#keyGroups }),
      ...options.context,
    });
    this.operator = make(context);
    this.#heads = [new Subject(), new Subject()];
    (this.operator as Operator<unknown>).connect(...this.#heads).subscribe({
      next: (element) => this.out.push(element),
      error: (error) => this.errors.push(error),
    });
  }

  static async open(
    make: (context: OperatorContext) => Operator,
    options: OperatorBenchOptions = {},
  ): Promise<OperatorBench> {
    const bench = new OperatorBench(make, options);
    if (options.restore !== undefined) {
      const read = async (blob: { readonly kind: string; readonly bytes?: Uint8Array }): Promise<Uint8Array> =>
        blob.bytes as Uint8Array;
      await bench.operator.restore?.(restoredState(1, UID, options.restore, { read, isOwned: true }));
    }
    await bench.operator.open?.();
    return bench;
  }

  get records(): unknown[] {
    return this.out.flatMap((element) => (element.kind === 'batch' ? element.records : []));
  }

  send(element: StreamElement<unknown>, input = 0): void {
    this.#heads[input]?.next(element);
  }

  /** What a checkpoint has of the operator at this moment. */
  async snapshot(): Promise<readonly OperatorSnapshot[]> {
    const capture = this.operator.capture?.(1, 'full');
    const { snapshot } = await writeSnapshot({
      subtask: { stage: UID, index: 0 },
      attempt: 1,
      checkpointId: 1,
      keyGroups: this.#keyGroups,
      parts: capture === undefined ? [] : [encodeCapture(UID, capture)],
      location: memoryLocation(1),
      slice: { isOver: () => false, next: () => Promise.resolve() },
    });
    return snapshot.operators;
  }
}
