import assert from 'node:assert/strict';
import {
  keyGroupOf,
  keyGroupRange,
  subtaskOfKeyGroup,
  type CheckpointId,
  type Key,
  type KeyGroupRange,
  type KeyedCapture,
  type KeyedStateHandle,
  type KeyedStateStore,
  type StateBackend,
} from '@weir/core/contracts';
import { contentsOfSections, contentsOfStores, emptyContents, type Contents } from './contents.js';
import { MAX_PARALLELISM, type States } from './declarations.js';
import { openStore } from './keyed-stores.js';
import { Shelf, sizeOf } from './shelf.js';
import { SteppedWrite } from './stepped-write.js';

interface Part {
  readonly capture: KeyedCapture;
  readonly range: KeyGroupRange;
  readonly write: SteppedWrite;
  readonly added: KeyedStateHandle[];
}

/** An incremental checkpoint, from the capture on. */
export interface OpenCheckpoint {
  readonly id: CheckpointId;
  readonly expected: Contents;
  readonly parts: readonly Part[];
  /** Once it is written. */
  handles?: readonly KeyedStateHandle[];
}

export interface CompletedCheckpoint {
  readonly id: CheckpointId;
  readonly expected: Contents;
  readonly handles: readonly KeyedStateHandle[];
}

/** Stores over all key groups that are checkpointed incrementally, as a job does it. */
export class CheckpointedStores {
  readonly backend: StateBackend;
  readonly #shelf = new Shelf();
  #stores: readonly KeyedStateStore[] = [];
  #nextId: CheckpointId = 1;

  private constructor(backend: StateBackend) {
    this.backend = backend;
  }
  static async open(backend: StateBackend): Promise<CheckpointedStores> {
    const stores = new CheckpointedStores(backend);
    stores.#stores = await stores.#openAll(1);
    return stores;
  }

  at(key: Key): States {
    const group = keyGroupOf(key, MAX_PARALLELISM);
    const store = this.#stores[subtaskOfKeyGroup(group, this.#stores.length, MAX_PARALLELISM)]!;
    store.setCurrentKey(key);
    return {
      count: store.handle('count') as States['count'],
      last: store.handle('last') as States['last'],
      items: store.handle('items') as States['items'],
      index: store.handle('index') as States['index'],
    };
  }
  get contents(): Contents {
    return contentsOfStores(this.#stores);
  }
  get parallelism(): number {
    return this.#stores.length;
  }

  capture(expected: Contents): OpenCheckpoint {
    const id = this.#nextId++;
    const parts = this.#stores.map((store, i) => {
      const capture = store.capture({ checkpointId: id, mode: 'incremental' });
      const added: KeyedStateHandle[] = [];
      const write = new SteppedWrite(capture, {
        createBlob: (sharedKey) => this.#shelf.createBlob(id, sharedKey),
        add: (handle) => added.push(handle),
        watermark: undefined,
      });
      return { capture, range: keyGroupRange(i, this.#stores.length, MAX_PARALLELISM), write, added };
    });
    return { id, expected, parts };
  }
  async step({ parts }: OpenCheckpoint, budget: number): Promise<void> {
    for (const { write } of parts) await write.step(budget);
  }
  /** Writes what is left. */
  async write(open: OpenCheckpoint): Promise<void> {
    if (open.handles !== undefined) return;
    const all: KeyedStateHandle[] = [];
    for (const { capture, range, write, added } of open.parts) {
      const sections = await write.finish();
      const handles = [...added, ...(await this.#shelf.store(open.id, sections, capture, range))];
      all.push(...handles);
      capture.written?.(handles);
      capture.release();
    }
    open.handles = all;
  }
  /** It is complete, and what it does not need is deleted. The stores are told later, see {@link notify}. */
  async complete(open: OpenCheckpoint): Promise<CompletedCheckpoint> {
    await this.write(open);
    const handles = this.#shelf.complete(open.id, open.handles!);
    return { id: open.id, expected: open.expected, handles };
  }
  notify({ id }: CompletedCheckpoint): void {
    for (const store of this.#stores) store.completed(id);
  }
  /** Wherever it is. */
  abort({ id, parts, handles }: OpenCheckpoint): void {
    if (handles === undefined) for (const { capture } of parts) capture.release();
    this.#shelf.discard(id);
    for (const store of this.#stores) store.aborted(id);
  }

  /** One that goes all the way. */
  async checkpoint(): Promise<CompletedCheckpoint> {
    const completed = await this.complete(this.capture(this.contents));
    this.notify(completed);
    return completed;
  }

  /** What a full capture holds meanwhile. */
  async savepoint(): Promise<Contents> {
    const id = this.#nextId++;
    const contents = emptyContents();
    for (const [i, store] of this.#stores.entries()) {
      const capture = store.capture({ checkpointId: id, mode: 'full' });
      assert.equal(capture.sections ?? 'private', 'private', 'what is full belongs to one checkpoint alone');
      const sections = await new SteppedWrite(capture).finish();
      contentsOfSections(sections, keyGroupRange(i, this.#stores.length, MAX_PARALLELISM), contents);
      capture.release();
    }
    for (const store of this.#stores) store.completed(id);
    return contents;
  }

  /** The contents of a checkpoint, in stores of their own. */
  async read(checkpoint: CompletedCheckpoint, parallelism: number): Promise<Contents> {
    const stores = await this.#restored(checkpoint, parallelism, true);
    const contents = contentsOfStores(stores);
    for (const store of stores) await store.close();
    return contents;
  }
  /** Ends, and goes on from the checkpoint, or from nothing. Not owned: its files go once they are read. */
  async restart(from: CompletedCheckpoint | undefined, parallelism: number, isOwned = true): Promise<void> {
    for (const store of this.#stores) await store.close();
    this.#stores =
      from === undefined ? await this.#openAll(parallelism) : await this.#restored(from, parallelism, isOwned);
    if (!isOwned && from !== undefined) this.#shelf.forget(from.handles);
  }
  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async #restored(from: CompletedCheckpoint, parallelism: number, isOwned: boolean): Promise<KeyedStateStore[]> {
    const stores = await this.#openAll(parallelism);
    for (const [i, store] of stores.entries()) {
      const range = keyGroupRange(i, parallelism, MAX_PARALLELISM);
      await this.#shelf.restore(store, from.id, from.handles, range, isOwned);
    }
    return stores;
  }
  async #openAll(parallelism: number): Promise<KeyedStateStore[]> {
    const stores: KeyedStateStore[] = [];
    for (let i = 0; i < parallelism; i++) {
      stores.push(await openStore(this.backend, keyGroupRange(i, parallelism, MAX_PARALLELISM), i));
    }
    return stores;
  }
}

/** Bytes that were written for a checkpoint after another. */
export function bytesBeyond(checkpoint: CompletedCheckpoint, before: CompletedCheckpoint): number {
  return sizeOf(checkpoint.handles, before.handles);
}
