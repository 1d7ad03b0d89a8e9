import { WeirError } from '@weir/core/contracts';
import type {
  KeyGroup,
  KeyGroupRange,
  KeyedCapture,
  KeyedStateHandle,
  KeyedStateOutput,
  Slice,
  StateMeta,
} from '@weir/core/contracts';
import type { Captures } from './capture/captures.js';
import type { Extent, Slots } from './capture/extent.js';
import type { GroupRows, Rows } from './capture/group-rows.js';
import type { Hold } from './capture/hold.js';
import type { Preserved, RowSource } from './capture/preserved.js';
import { offsetOf } from './state/page.js';
import type { StoredState } from './state/stored-state.js';

/** The slice is asked whether it is over after this many rows or bytes, whichever comes first. */
const STEP_ROWS = 64;
const STEP_BYTES = 16 * 1024;

export interface MemoryCaptureOptions {
  readonly preserved: Preserved;
  readonly captures: Captures;
  readonly states: readonly StoredState[];
  readonly range: KeyGroupRange;
  readonly extent: Extent;
  /** Told once the state lies in storage. */
  readonly onWritten?: ((handles: readonly KeyedStateHandle[]) => void) | undefined;
  readonly onRelease?: (() => void) | undefined;
}

/**
 * The state at one moment. Taking it copies nothing: entries that change before they are written are encoded first, by whoever changes
 * them (after the idea of Flink's CopyOnWriteStateMap, with bytes in place of copied objects).
 */
export class MemoryCapture implements KeyedCapture {
  readonly sections: Extent['sections'];
  readonly #options: MemoryCaptureOptions;
  readonly #preserved: Preserved;
  #isWriting = false;

  constructor(options: MemoryCaptureOptions) {
    this.#options = options;
    this.#preserved = options.preserved;
    this.sections = options.extent.sections;
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    if (this.#isWriting) throw new WeirError('PROTOCOL_VIOLATION', 'A capture is written only once.');
    this.#isWriting = true;
    this.#preserved.assertOpen();
    const { states, range, extent } = this.#options;
    this.#keep(extent.kept, out);
    for (let group = range.first; group <= range.last; group++) {
      for (const [index, state] of states.entries()) {
        for (const rows of extent.removals(group, index)) {
          await this.#give(rows, state.meta, group, out);
          if (slice.isOver()) await slice.next();
        }
        const slots = extent.slots(group, index);
        const isEmpty = slots.length === 0 && !this.#preserved.hasRows(group, index);
        if (!isEmpty) await this.#writeGroup({ group, state, index, slots }, out, slice);
      }
      if (slice.isOver()) await slice.next();
    }
    // Storage has yet to make it durable, and that takes longer than all this: meanwhile nothing needs to be preserved for it.
    this.#end();
  }

  written(handles: readonly KeyedStateHandle[]): void {
    this.#options.onWritten?.(handles);
  }

  release(): void {
    this.#end();
    this.#options.onRelease?.();
  }

  #end(): void {
    this.#options.captures.end(this.#preserved);
  }

  #keep(kept: readonly KeyedStateHandle[], { incremental }: KeyedStateOutput): void {
    if (kept.length === 0) return;
    if (incremental === undefined) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        `Checkpoint ${this.#preserved.checkpointId} was to be incremental, and is written as if it were not.`,
      );
    }
    for (const handle of kept) incremental.add(handle);
  }

  async #writeGroup({ group, state, index, slots }: GroupOfState, out: KeyedStateOutput, slice: Slice): Promise<void> {
    const rows = this.#preserved.rows(group, index);
    // Backwards, so that the end is in sight although entries come meanwhile: these are younger, wherever they are put.
    let rest = slots.length;
    rows.expectMany();
    for (;;) {
      const hold = rows.nextHold();
      if (hold !== undefined) this.#preserved.take(ONE_STEP, hold);
      else if (rest > 0) rest = this.#visit(state, slots, rest);
      else break;
      this.#preserved.assertOpen();
      if (rows.hasFull) await this.#giveFull(rows, state.meta, group, out);
      if (slice.isOver()) await slice.next();
    }
    rows.seal();
    await this.#giveFull(rows, state.meta, group, out);
    this.#preserved.finish(group, index);
    const { captures, extent } = this.#options;
    if (captures.isAlone(this.#preserved)) extent.finished(group, index);
  }

  get #isSimple(): boolean {
    return !this.#preserved.isOfChanges && this.#options.captures.isAlone(this.#preserved);
  }

  /** Takes entries below `rest` that are not taken yet. Returns where to go on. */
  #visit(state: StoredState, slots: Slots, rest: number): number {
    const { version } = this.#preserved;
    const enough = this.#preserved.bytes + STEP_BYTES;
    if (state.runs !== undefined && slots.pageAt !== undefined && this.#isSimple) {
      const to = offsetOf(rest - 1) + 1;
      const run = { page: slots.pageAt(rest - 1), from: Math.max(0, to - STEP_ROWS), to, enough };
      this.#preserved.take(state.runs, run);
      return rest - to + run.to;
    }
    const stop = Math.max(0, rest - STEP_ROWS);
    let place = rest;
    while (place > stop && this.#preserved.bytes < enough) state.preserve(slots.slotAt(--place), version);
    return place;
  }

  async #giveFull(rows: GroupRows, state: StateMeta, group: KeyGroup, out: KeyedStateOutput): Promise<void> {
    for (let full = rows.takeFull(); full !== undefined; full = rows.takeFull()) {
      await this.#give(full, state, group, out);
      rows.written(full);
    }
  }
  async #give({ out: rows, count }: Rows, state: StateMeta, keyGroup: KeyGroup, out: KeyedStateOutput): Promise<void> {
    const section = { keyGroup, state, count, rows: rows.view() };
    const taken = out.section(this.#preserved.isOfChanges ? { ...section, isChange: true } : section);
    if (taken !== undefined) await taken;
    this.#preserved.assertOpen();
  }
}

/** What is written of one state in one key group. */
interface GroupOfState {
  readonly group: KeyGroup;
  readonly state: StoredState;
  readonly index: number;
  readonly slots: Slots;
}

const ONE_STEP: RowSource<Hold> = { append: (hold) => hold.drain() };
