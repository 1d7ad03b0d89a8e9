import type { KeyedStateStore, StateDeclaration, StateHandle } from '../contracts/state-backend.js';
import { assertKey, isPlainKey } from '../element/assert-key.js';
import type { RecordBatch } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import type { Operator, OperatorCapture, OperatorContext, RestoredState } from './operator.js';

/** The keyed state of one operator over its life: opened, filled from a checkpoint, captured, closed. */
export class KeyedState {
  readonly #context: OperatorContext;
  readonly #declarations: readonly StateDeclaration[];
  #restored: RestoredState | undefined;
  #store: KeyedStateStore | undefined;
  /** The batch that is worked on. With what it was keyed by: it may be the batch of two inputs. */
  #keyed: { readonly batch: unknown; readonly keyOf: unknown; readonly keys: readonly Key[] } | undefined;
  #handles: Readonly<Record<string, StateHandle>> = {};

  constructor(context: OperatorContext, declarations: readonly StateDeclaration[]) {
    this.#context = context;
    this.#declarations = declarations;
  }

  /** False: no states are declared, so there is no store and no backend is needed. */
  get hasStates(): boolean {
    return this.#declarations.length > 0;
  }
  get store(): KeyedStateStore {
    if (this.#store === undefined) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Operator ${this.#context.uid}: keyed state was used before it was opened.`,
      );
    }
    return this.#store;
  }
  get handles(): Readonly<Record<string, StateHandle>> {
    return this.#handles;
  }

  /** The keys of a batch, which the store has been told to look ahead for. The same array until it is asked for those of another batch. */
  keysOf<T, K extends Key>(batch: RecordBatch<T>, keyOf: (record: T) => K): readonly K[] {
    if (this.#keyed?.batch === batch && this.#keyed.keyOf === keyOf) return this.#keyed.keys as readonly K[];
    const { records } = batch;
    const { length } = records;
    const keys = new Array<K>(length);
    for (let i = 0; i < length; i++) {
      const key = keyOf(records[i] as T);
      if (!isPlainKey(key)) assertKey(key, `Operator ${this.#context.uid}`);
      keys[i] = key;
    }
    this.#keyed = { batch, keyOf, keys };
    this.#store?.lookAhead?.(keys);
    return keys;
  }

  async open(): Promise<void> {
    if (!this.hasStates) return;
    const store = await this.#context.openKeyedState(this.#declarations);
    this.#store = store;
    if (this.#restored !== undefined) {
      for await (const section of this.#restored.keyedSections(this.#declarations, this.#context.keyGroups))
        store.restore(section);
      this.#restored = undefined;
    }
    this.#handles = Object.fromEntries(this.#declarations.map(({ name }) => [name, store.handle(name)]));
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    await store?.close();
  }

  /** The part of an operator's life that is the state's alone. */
  readonly life: Pick<Operator, 'restore' | 'capture' | 'completed' | 'aborted'> = {
    restore: (state: RestoredState): void => {
      this.#restored = state;
    },
    capture: (checkpointId: CheckpointId): OperatorCapture | undefined =>
      this.hasStates ? { keyed: this.store.capture({ checkpointId }) } : undefined,
    completed: (checkpointId: CheckpointId): void => {
      this.#store?.completed(checkpointId);
    },
    aborted: (checkpointId: CheckpointId): void => {
      this.#store?.aborted(checkpointId);
    },
  };
}
