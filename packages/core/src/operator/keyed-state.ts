import { closeInTime, restoreNativeInTime, writtenInTime } from '../bounds/bounded-state.js';
import type { NativeStateHandle, RecordedKind, StateMeta } from '../contracts/snapshot.js';
import type {
  CaptureMode,
  IncrementalOutput,
  KeyedCapture,
  KeyedSection,
  KeyedStateStore,
  StateDeclaration,
} from '../contracts/state-backend.js';
import { assertKey, isPlainKey } from '../element/assert-key.js';
import type { RecordBatch } from '../element/element.js';
import type { CheckpointId } from '../element/ids.js';
import type { Key, KeyOf } from '../element/key.js';
import type { KeyType } from '../element/key-type.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import type { DeclaredState } from '../state/descriptors.js';
import type { Declared } from '../state/state-match.js';
import { ExpirySweeps } from './expiry-sweeps.js';
import { GroupWatermarks } from './group-watermarks.js';
import { liveCaptures } from './live-capture.js';
import { rewrittenCapture } from './rewritten-capture.js';
import type { Operator, OperatorCapture, OperatorContext, RestoredState } from './operator.js';
import { userHandle } from './held-handles.js';
import { HeldReferences } from './held-references.js';
import { KeyTypes } from './stored-key-types.js';

export interface KeyedRestoreOptions {
  /** Names of states that are left behind in what is restored. */
  readonly dropped?: readonly string[] | undefined;
  /** What keys may be; absent: whatever they have been. */
  readonly keyTypes?: readonly KeyType[] | undefined;
}

/** The keyed state of one operator over its life: opened, filled from a checkpoint, captured, closed. */
export class KeyedState {
  readonly #context: OperatorContext;
  readonly #declared: Declared<DeclaredState>;
  /** Of the states that are more than how they are kept. */
  readonly #recordedKinds = new Map<string, RecordedKind>();
  #restored: RestoredState | undefined;
  readonly #liveCapture: ((capture: KeyedCapture) => KeyedCapture) | undefined;
  #store: KeyedStateStore | undefined;
  #sweeps: ExpirySweeps | undefined;
  /** The batch that is worked on. With what it was keyed by: it may be the batch of two inputs. */
  #keyed: { readonly batch: unknown; readonly keyOf: unknown; readonly keys: readonly Key[] } | undefined;
  readonly #declaredTypes: readonly KeyType[] | undefined;
  readonly #keyTypes: KeyTypes;
  /** Of the key that came last. */
  #typeOfKey = '';
  /** What user code gets from the handles, for whoever emits it. */
  readonly held: HeldReferences = new HeldReferences();
  #handles: Readonly<Record<string, object>> = {};
  #watermark = Number.NEGATIVE_INFINITY;

  constructor(
    context: OperatorContext,
    declarations: readonly StateDeclaration[],
    { dropped = [], keyTypes }: KeyedRestoreOptions = {},
  ) {
    this.#context = context;
    requireDistinctNames(context, declarations);
    this.#declaredTypes = keyTypes;
    this.#keyTypes = new KeyTypes(context.uid);
    this.#declared = { states: declarations, dropped };
    this.#liveCapture = liveCaptures(declarations);
    for (const { name, recordedAs } of declarations)
      if (recordedAs !== undefined) this.#recordedKinds.set(name, recordedAs);
  }

  /** False: no states are declared, so there is no store and no backend is needed. */
  get hasStates(): boolean {
    return this.#declared.states.length > 0;
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
  get handles(): Readonly<Record<string, object>> {
    return this.#handles;
  }

  /** The largest watermark that came, also before a restore; -Infinity before the first. */
  get watermark(): number {
    return this.#watermark;
  }
  /** To be told of each watermark, before it sets anything off. False: event time is no later than before. */
  advance(watermark: number): boolean {
    if (!(watermark > this.#watermark)) return false;
    this.#watermark = watermark;
    return true;
  }

  /** The keys of a batch, which the store has been told to look ahead for. The same array until it is asked for those of another batch. */
  keysOf<T, K extends Key>(batch: RecordBatch<T>, keyOf: KeyOf<T, K>, keyedAt?: string): readonly K[] {
    if (this.#keyed?.batch === batch && this.#keyed.keyOf === keyOf) return this.#keyed.keys as readonly K[];
    const keys = keyOf === undefined ? this.#travelled<K>(batch) : this.#chosen(batch.records, keyOf, keyedAt);
    this.#keyed = { batch, keyOf, keys };
    this.#keyTypes.cameInBatch(keys);
    this.#sweeps?.pay(keys.length);
    this.#store?.lookAhead?.(keys);
    return keys;
  }

  #chosen<T, K extends Key>(records: readonly T[], keyOf: (record: T) => K, keyedAt: string | undefined): readonly K[] {
    const { length } = records;
    const keys = new Array<K>(length);
    let type = this.#typeOfKey;
    for (let i = 0; i < length; i++) {
      const key = keyOf(records[i] as T);
      if (!isPlainKey(key)) assertKey(key, keyedAt ?? `Operator ${this.#context.uid}`);
      // Only where it changes is there something to note.
      if (typeof key !== type) {
        type = typeof key;
        this.#keyTypes.came(key);
      }
      keys[i] = key;
    }
    this.#typeOfKey = type;
    return keys;
  }

  #travelled<K extends Key>({ keys }: RecordBatch<unknown>): readonly K[] {
    if (keys !== undefined) {
      for (const key of keys) {
        if (typeof key === this.#typeOfKey) continue;
        this.#typeOfKey = typeof key;
        this.#keyTypes.came(key);
      }
      // The keyBy in front has chosen them, and checked each.
      return keys as readonly K[];
    }
    const { uid, job } = this.#context;
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `Records have come to operator ${uid} of job ${job} without the keys that were to travel with them.`,
      { recoverable: false },
    );
  }

  async open(): Promise<void> {
    const { states } = this.#declared;
    if (!this.hasStates) {
      // With nothing to take state back, what is stored must have been dropped.
      this.#restored?.baseFor(this.#declared);
      return;
    }
    for (const { schema } of states) schema?.compile(this.#context.compileSchema);
    const store = await this.#context.openKeyedState(states);
    this.#store = store;
    this.#sweeps = ExpirySweeps.of(store, states);
    await this.#restore(store);
    this.#handles = Object.fromEntries(
      states.map((state) => [state.name, userHandle(state, store.handle(state.name), this.held)]),
    );
  }

  async #restore(store: KeyedStateStore): Promise<void> {
    const restored = this.#restored;
    if (restored === undefined) return;
    this.#restored = undefined;
    const { keyGroups } = this.#context;
    const watermarks = new GroupWatermarks(keyGroups);
    const kinds = new Map(this.#declared.states.map(({ name, kind }) => [name, kind]));
    const base = restored.baseFor(this.#declared);
    if (restored.keyTypes !== undefined) this.#keyTypes.restored(restored.keyTypes, this.#declaredTypes);
    const restoreNative = store.restoreNative?.bind(store);
    for (const state of restored.nativeStates(this.#declared, keyGroups)) {
      if (restoreNative === undefined) throw this.#unreadable(restored, state);
      watermarks.ofRange(state.range, state.watermark);
      const native = { ...state, states: state.states.map((meta) => metaOf(meta, kinds)) };
      await restoreNativeInTime((stored) => restoreNative(native, stored), restored, this.#context);
    }
    for await (const group of restored.keyedGroups(this.#declared, keyGroups)) {
      watermarks.ofGroup(group.keyGroup, group.watermark);
      for (const section of group.sections) store.restore(sectionOf(section, kinds));
    }
    store.restored?.(base);
    this.#watermark = watermarks.smallest ?? this.#watermark;
  }

  #unreadable({ checkpointId }: RestoredState, { engine }: NativeStateHandle): WeirError {
    return new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      `Checkpoint ${String(checkpointId)} of job ${this.#context.job} holds state of operator ${this.#context.uid} in the format of state backend ` +
        `'${engine}', which the installed one does not read. Install that backend, or restore a savepoint: any backend reads those.`,
      { recoverable: false },
    );
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    if (store !== undefined) await closeInTime(store, this.#context);
  }

  get #capturedWatermark(): number | undefined {
    return this.#watermark === Number.NEGATIVE_INFINITY ? undefined : this.#watermark;
  }

  #capture(checkpointId: CheckpointId, mode: CaptureMode): KeyedCapture {
    const taken = writtenInTime(this.store.capture({ checkpointId, mode }), this.#context);
    const capture = this.#liveCapture === undefined ? taken : this.#liveCapture(taken);
    return this.#recordedKinds.size === 0 ? capture : recordingKinds(capture, this.#recordedKinds);
  }

  /** The part of an operator's life that is the state's alone. */
  readonly life: Pick<Operator, 'restore' | 'capture' | 'completed' | 'aborted'> = {
    restore: (state: RestoredState): void => {
      this.#restored = state;
    },
    capture: (checkpointId: CheckpointId, mode: CaptureMode): OperatorCapture | undefined =>
      this.hasStates
        ? {
            keyed: this.#capture(checkpointId, mode),
            keyTypes: this.#keyTypes.seen,
            watermark: this.#capturedWatermark,
          }
        : undefined,
    completed: (checkpointId: CheckpointId): void => {
      this.#store?.completed(checkpointId);
    },
    aborted: (checkpointId: CheckpointId): void => {
      this.#store?.aborted(checkpointId);
    },
  };
}

/** PROTOCOL_VIOLATION where a checkpoint could not tell two states apart. What weir declares itself was looked at before. */
function requireDistinctNames({ uid }: Pick<OperatorContext, 'uid'>, declared: readonly StateDeclaration[]): void {
  const names = new Set<string>();
  for (const { name } of declared) {
    if (name !== '' && isWellFormed(name) && !names.has(name)) names.add(name);
    else
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Operator ${uid} declares keyed state under the name ${JSON.stringify(name)}, which is empty, no valid Unicode, or declared twice.`,
        { recoverable: false },
      );
  }
}

/** The same capture, whose sections and handles say what kind of state the operator declared. */
function recordingKinds(capture: KeyedCapture, kinds: ReadonlyMap<string, RecordedKind>): KeyedCapture {
  return rewrittenCapture(capture, (out) => ({
    section: (section) => out.section(sectionOf(section, kinds)),
    incremental: out.incremental === undefined ? undefined : recordingHandles(out.incremental, kinds),
  }));
}

function recordingHandles(out: IncrementalOutput, kinds: ReadonlyMap<string, RecordedKind>): IncrementalOutput {
  return {
    watermark: out.watermark,
    createBlob: (sharedKey) => out.createBlob(sharedKey),
    add(handle) {
      out.add({ ...handle, states: handle.states.map((state) => metaOf(state, kinds)) });
    },
  };
}

function sectionOf(section: KeyedSection, kinds: ReadonlyMap<string, RecordedKind>): KeyedSection {
  const state = metaOf(section.state, kinds);
  return state === section.state ? section : { ...section, state };
}

function metaOf(state: StateMeta, kinds: ReadonlyMap<string, RecordedKind>): StateMeta {
  const kind = kinds.get(state.name) ?? state.kind;
  return kind === state.kind ? state : { ...state, kind };
}
