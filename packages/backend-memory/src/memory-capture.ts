import { WeirError } from '@weir/core/contracts';
import type { KeyGroup, KeyGroupRange, KeyedCapture, KeyedStateOutput, Slice, StateMeta } from '@weir/core/contracts';
import type { Captures } from './capture/captures.js';
import type { GroupRows } from './capture/group-rows.js';
import type { Hold } from './capture/hold.js';
import type { Preserved, RowSource } from './capture/preserved.js';
import { releasedEarly } from './capture/preserved.js';
import type { GroupPages } from './state/group-pages.js';
import { offsetOf } from './state/page.js';
import type { StoredState } from './state/stored-state.js';

/** The slice is asked whether it is over after this many rows or bytes, whichever comes first. */
const STEP_ROWS = 64;
const STEP_BYTES = 16 * 1024;

/**
 * The state at one moment. Taking it copies nothing: entries that change before they are written are encoded first, by whoever changes
 * them (after the idea of Flink's CopyOnWriteStateMap, with bytes in place of copied objects).
 */
export class MemoryCapture implements KeyedCapture {
  readonly #preserved: Preserved;
  readonly #captures: Captures;
  readonly #states: readonly StoredState[];
  readonly #range: KeyGroupRange;
  #isWriting = false;

  constructor(preserved: Preserved, captures: Captures, states: readonly StoredState[], range: KeyGroupRange) {
    this.#preserved = preserved;
    this.#captures = captures;
    this.#states = states;
    this.#range = range;
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    if (this.#isWriting) throw new WeirError('PROTOCOL_VIOLATION', 'A capture is written only once.');
    this.#isWriting = true;
    this.#preserved.assertOpen();
    for (let group = this.#range.first; group <= this.#range.last; group++) {
      for (const [index, state] of this.#states.entries()) {
        const isEmpty = state.group(group).length === 0 && !this.#preserved.hasRows(group, index);
        if (!isEmpty) await this.#writeGroup(group, state, index, out, slice);
      }
      if (slice.isOver()) await slice.next();
    }
  }

  release(): void {
    this.#captures.end(this.#preserved, releasedEarly(this.#preserved.checkpointId));
  }

  async #writeGroup(
    group: KeyGroup,
    state: StoredState,
    index: number,
    out: KeyedStateOutput,
    slice: Slice,
  ): Promise<void> {
    const rows = this.#preserved.rows(group, index);
    const entries = state.group(group);
    // Backwards, so that the end is in sight although entries come meanwhile: these are younger, wherever they are put.
    let rest = entries.length;
    for (;;) {
      const hold = rows.nextHold();
      if (hold !== undefined) this.#preserved.take(ONE_STEP, hold);
      else if (rest > 0) rest = this.#visit(state, entries, rest);
      else break;
      this.#preserved.assertOpen();
      if (rows.hasFull) await this.#giveAway(rows, state.meta, group, out);
      if (slice.isOver()) await slice.next();
    }
    rows.seal();
    await this.#giveAway(rows, state.meta, group, out);
    this.#preserved.finish(group, index);
  }

  /** Takes entries below `rest` that are not taken yet. Returns where to go on. */
  #visit(state: StoredState, entries: GroupPages<unknown>, rest: number): number {
    const { version } = this.#preserved;
    const enough = this.#preserved.bytes + STEP_BYTES;
    const stop = Math.max(0, rest - STEP_ROWS);
    let place = rest;
    while (place > stop && this.#preserved.bytes < enough) {
      const { first, stamps } = entries.pageAt(--place);
      if (stamps[offsetOf(place)]! < version) state.preserve(first + offsetOf(place), version);
    }
    return place;
  }

  async #giveAway(rows: GroupRows, state: StateMeta, keyGroup: KeyGroup, out: KeyedStateOutput): Promise<void> {
    for (let full = rows.takeFull(); full !== undefined; full = rows.takeFull()) {
      const taken = out.section({ keyGroup, state, count: full.count, rows: full.out.view() });
      if (taken !== undefined) await taken;
      this.#preserved.assertOpen();
      rows.written(full);
    }
  }
}

const ONE_STEP: RowSource<Hold> = { append: (hold) => hold.drain() };
