import { closeInTurn, restoringSection, unknownState } from '@weir/core/contracts';
import type {
  CaptureRequest,
  CheckpointId,
  Key,
  KeyedCapture,
  KeyedSection,
  KeyedStateStore,
  NativeStateHandle,
  RestoredBase,
  StateDeclaration,
  StateEntry,
  StateHandle,
  StateMeta,
  StateScope,
  StoredBytes,
} from '@weir/core/contracts';
import { randomId } from './adapters/random-id.js';
import { Clock } from './cache/clock.js';
import { Generations } from './cache/generations.js';
import { PackedBatch } from './cache/packed-batch.js';
import { FilesCapture } from './capture/files-capture.js';
import { FullCapture } from './capture/full-capture.js';
import type { CaptureMoment } from './capture/moment.js';
import type { Databases } from './files/databases.js';
import { FileBase } from './files/file-base.js';
import { restoreFiles } from './files/restore-files.js';
import type { RestoreTarget } from './files/restore-files.js';
import { Rows } from './rows.js';
import { applyChanges } from './state/apply-changes.js';
import { CurrentKey } from './state/current-key.js';
import { StoredLists } from './state/list-state.js';
import { StoredMaps } from './state/map-state.js';
import type { StoreParts, StoredState } from './state/stored-state.js';
import { sweepOf } from './state/sweep.js';
import { StoredValues } from './state/value-state.js';

export interface RocksStoreOptions {
  /** Bytes of keys and values that are kept in memory. */
  readonly cacheSize: number;
  /** Bytes that captures may hold beyond that. */
  readonly preservedBytes: number;
}

/** Beside the present generation, so many are kept and written while records flow; with more, the stage waits. */
const FROZEN_AT_ONCE = 1;

/** Keyed state of one operator in one subtask: rows of a RocksDB database, with the hot ones in memory as live values. */
export class RocksStateStore implements KeyedStateStore {
  readonly #scope: StateScope;
  readonly #options: RocksStoreOptions;
  readonly #databases: Databases;
  readonly #base = new FileBase();
  /** Tells files of this database from those of the same name that another has written. */
  readonly #instance: string = randomId();
  /** What the database was opened from, if it was a copy of what is stored. */
  #copyOf: NativeStateHandle | undefined;
  private readonly current: CurrentKey;
  private readonly clock: Clock;
  readonly #rows: Rows;
  readonly #generations: Generations;
  readonly #states: Map<string, StoredState>;
  readonly #moments = new Set<CaptureMoment>();
  readonly #restoring = new PackedBatch();
  readonly #sweeps = new Map<string, (budget: number) => void>();
  #closing: Promise<void> | undefined;

  constructor(scope: StateScope, options: RocksStoreOptions, databases: Databases) {
    this.#scope = scope;
    this.#options = options;
    this.#databases = databases;
    this.current = new CurrentKey(scope.operator);
    this.#rows = new Rows(databases.open(databases.newPlace('db'), 'create'), this.current);
    this.#generations = new Generations(this.#rows);
    this.clock = new Clock(options.cacheSize, this.#generations, this.current);
    const parts: StoreParts = {
      operator: scope.operator,
      keyGroups: scope.keyGroups,
      maxParallelism: scope.maxParallelism,
      current: this.current,
      clock: this.clock,
      generations: this.#generations,
      rows: this.#rows,
    };
    try {
      this.#states = new Map(scope.states.map((state, id) => [state.name, createState(state, id, parts)]));
    } catch (error) {
      this.#rows.database.close();
      throw error;
    }
  }

  setCurrentKey(key: Key): void {
    if (this.clock.isFull) this.clock.makeRoom();
    this.current.set(key);
  }
  lookAhead(keys: readonly Key[]): void {
    this.current.assertOpen();
    for (const state of this.#states.values()) state.lookAhead?.(keys);
  }
  handle(name: string): StateHandle {
    return this.#state(name).handle;
  }

  capture({ checkpointId, mode }: CaptureRequest): KeyedCapture {
    this.current.assertOpen();
    const capture =
      mode === 'incremental'
        ? this.#captureFiles(checkpointId)
        : new FullCapture(checkpointId, this.#rows, this.#generations, new Map(this.#metas().entries()));
    this.#generations.freeze(capture.moment);
    for (const moment of this.#moments) if (!moment.isWanted) this.#moments.delete(moment);
    this.#moments.add(capture.moment);
    return capture;
  }
  #captureFiles(checkpointId: CheckpointId): FilesCapture {
    return new FilesCapture({
      checkpointId,
      range: this.#scope.keyGroups,
      states: this.#metas(),
      sharedKey: `${this.#scope.operator}/${this.#instance}`,
      databases: this.#databases,
      rows: this.#rows,
      generations: this.#generations,
      base: this.#base,
    });
  }
  isOverBudget(): boolean {
    const generations = this.#generations;
    if (!generations.hasFrozen) return false;
    const { wanted } = generations;
    if (wanted === 0) return false;
    const { preservedBytes, cacheSize } = this.#options;
    return (
      wanted > FROZEN_AT_ONCE ||
      generations.bytes > preservedBytes ||
      // What is dirty cannot leave the memory before them.
      this.clock.bytes > cacheSize + preservedBytes
    );
  }

  restore(section: KeyedSection): void {
    const state = this.#state(section.state.name);
    const batch = this.#restoring;
    batch.reset();
    restoringSection(this.#scope.operator, state.meta, section, () => {
      if (section.isChange === true) this.#change(section, state.handle);
      else state.restore(section, batch);
    });
    if (batch.length > 0) this.#rows.write(batch);
  }
  #change(section: KeyedSection, handle: StateHandle): void {
    const { serializer } = this.#scope.states.find(({ name }) => name === section.state.name)!;
    applyChanges(section, serializer, handle, (key) => {
      this.setCurrentKey(key);
    });
  }
  sweep(name: string, budget: number): void {
    this.#state(name);
    let sweep = this.#sweeps.get(name);
    if (sweep === undefined) {
      const { expiry } = this.#scope.states.find((state) => state.name === name)!;
      if (expiry === undefined) return;
      sweep = sweepOf(this.#state(name), expiry, (key) => {
        this.setCurrentKey(key);
      });
      this.#sweeps.set(name, sweep);
    }
    sweep(budget);
  }
  entries(name: string): Iterable<StateEntry> {
    return this.#state(name).entries();
  }

  async restoreNative(handle: NativeStateHandle, stored: StoredBytes): Promise<void> {
    this.current.assertOpen();
    const target: RestoreTarget = {
      operator: this.#scope.operator,
      range: this.#scope.keyGroups,
      states: this.#states,
      rows: this.#rows,
      databases: this.#databases,
      restore: (section) => {
        this.restore(section);
      },
      assertOpen: () => {
        this.current.assertOpen();
      },
    };
    if ((await restoreFiles(handle, stored, target)) === 'opened') this.#copyOf = handle;
  }
  restored({ checkpointId, isOwned }: RestoredBase): void {
    if (isOwned && this.#copyOf !== undefined) this.#base.restored(checkpointId, this.#copyOf);
    this.#copyOf = undefined;
  }

  completed(checkpointId: CheckpointId): void {
    this.#base.completed(checkpointId);
  }
  aborted(checkpointId: CheckpointId): void {
    this.#base.aborted(checkpointId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }
  /** All of it, also of a store whose database has failed, and whatever fails on the way: what stays open keeps its files, and room on the disk. */
  async #close(): Promise<void> {
    this.current.close();
    const reason = this.current.violation();
    for (const moment of this.#moments) moment.fail(reason);
    await closeInTurn([
      () => this.#generations.busy,
      () => {
        this.#rows.database.close();
      },
      () => {
        this.#states.clear();
      },
      () => this.#databases.directory.remove(),
    ]);
  }

  /** By id. */
  #metas(): readonly StateMeta[] {
    return [...this.#states.values()].sort((a, b) => a.id - b.id).map(({ meta }) => meta);
  }
  #state(name: string): StoredState {
    this.current.assertOpen();
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw unknownState(this.#scope.operator, name, this.#states.keys());
  }
}

function createState(declaration: StateDeclaration, id: number, parts: StoreParts): StoredState {
  switch (declaration.kind) {
    case 'value':
      return new StoredValues(declaration, id, parts);
    case 'list':
      return new StoredLists(declaration, id, parts);
    case 'map':
      return new StoredMaps(declaration, id, parts);
  }
}
