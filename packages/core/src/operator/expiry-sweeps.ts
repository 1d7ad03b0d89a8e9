import type { KeyedStateStore } from '../contracts/state-backend.js';
import type { DeclaredState } from '../state/descriptors.js';

/** Sweeps at once: fewer would cost more to begin with than to do, in backends that have to search for where to go on. */
const LEAST = 256;
/** Bounds the pause. */
const MOST = 4096;

interface Swept {
  readonly name: string;
  readonly perRecord: number;
  /** Entries that records have paid for. */
  due: number;
}

/** Looks for what has expired in the states of a store, so much for each record (Flink: TtlIncrementalCleanup). */
export class ExpirySweeps {
  readonly #sweep: (state: string, budget: number) => void;
  readonly #states: Swept[];

  private constructor(sweep: (state: string, budget: number) => void, states: Swept[]) {
    this.#sweep = sweep;
    this.#states = states;
  }

  /** Undefined if there is nothing to sweep. */
  static of(store: KeyedStateStore, declared: readonly DeclaredState[]): ExpirySweeps | undefined {
    if (store.sweep === undefined) return undefined;
    const states = declared.flatMap(({ name, cleanupPerRecord = 0 }) =>
      cleanupPerRecord === 0 ? [] : [{ name, perRecord: cleanupPerRecord, due: 0 }],
    );
    return states.length === 0 ? undefined : new ExpirySweeps(store.sweep.bind(store), states);
  }

  /** To be called between records: no key is set afterwards. */
  pay(records: number): void {
    for (const state of this.#states) {
      state.due += records * state.perRecord;
      if (state.due < LEAST) continue;
      this.#sweep(state.name, Math.min(state.due, MOST));
      state.due = 0;
    }
  }
}
