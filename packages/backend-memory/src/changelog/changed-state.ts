import { ByteWriter, writeEntryRemoval, writeRemoval } from '@weir/core/contracts';
import type { Key, KeyGroup, KeyedStateHandle } from '@weir/core/contracts';
import type { Extent, Slots } from '../capture/extent.js';
import type { Rows } from '../capture/group-rows.js';
import { SECTION_BYTES } from '../capture/row-buffers.js';
import type { StoredState } from '../state/stored-state.js';
import type { ChangedPart, Era } from './era.js';

/** What has changed in some eras, the last that ended included. */
export class ChangedState implements Extent {
  readonly sections = 'changes';
  readonly kept: readonly KeyedStateHandle[];
  readonly #states: readonly StoredState[];
  readonly #eras: readonly Era[];
  readonly #out = new ByteWriter(1024);

  constructor(states: readonly StoredState[], eras: readonly Era[], kept: readonly KeyedStateHandle[]) {
    this.#states = states;
    this.#eras = eras;
    this.kept = kept;
  }

  slots(group: KeyGroup, state: number): Slots {
    const slots = this.#parts(group, state).flatMap((part) => part.slots);
    return { length: slots.length, slotAt: (place) => slots[place]! };
  }

  /** All come before what is put: of a key that came again, or of which something is left, that is what there is now. */
  *removals(group: KeyGroup, state: number): Iterable<Rows> {
    for (const { removed, removedEntries } of this.#parts(group, state)) {
      yield* this.#encoded(removed, 1, (i) => writeRemoval(this.#out, removed[i]!));
      yield* this.#encoded(removedEntries, 2, (i) =>
        writeEntryRemoval(this.#out, removedEntries[i]!, removedEntries[i + 1]!),
      );
    }
  }

  /** Entries that have changed again in a later era are of that one: every capture to come that asks for this era asks for the later one, too. */
  finished(group: KeyGroup, state: number): void {
    const stored = this.#states[state]!;
    for (const era of this.#eras) {
      const part = era.part(group, state);
      if (part === undefined) continue;
      const before = part.slots.length;
      const next = 2 * (era.version + 1);
      part.slots = part.slots.filter((slot) => stored.markOf(slot) < next);
      era.size -= before - part.slots.length;
    }
  }

  #parts(group: KeyGroup, state: number): ChangedPart[] {
    return this.#eras.flatMap((era) => era.part(group, state) ?? []);
  }
  *#encoded(keys: readonly Key[], step: number, write: (i: number) => void): Iterable<Rows> {
    const out = this.#out;
    let count = 0;
    out.reset();
    for (let i = 0; i < keys.length; i += step) {
      write(i);
      count++;
      if (out.length < SECTION_BYTES) continue;
      yield { out, count };
      out.reset();
      count = 0;
    }
    if (count > 0) yield { out, count };
  }
}
