import type { KeyGroup, KeyedStateHandle } from '@weir/core/contracts';
import type { Page, Slot } from '../state/page.js';
import type { StoredState } from '../state/stored-state.js';
import type { Rows } from './group-rows.js';

/** Slots to visit; the last ones first. */
export interface Slots {
  readonly length: number;
  slotAt(place: number): Slot;
  /** Of places that lie as they do in pages: the page with the entry, which is at `offsetOf(place)`. */
  pageAt?(place: number): Page<unknown>;
}

/** What of the state a capture writes. States are numbered in the order of their declaration. */
export interface Extent {
  readonly sections: 'private' | 'base' | 'changes';
  /** Of what else the checkpoint consists, before the sections. */
  readonly kept: readonly KeyedStateHandle[];
  /** The entries to write; those among them that came after the capture are passed over. */
  slots(group: KeyGroup, state: number): Slots;
  /** Rows to write first, a few at a time. Each is valid until the next is asked for. */
  removals(group: KeyGroup, state: number): Iterable<Rows>;
  /** Everything of this state and group is written, and no other capture is under way. */
  finished(group: KeyGroup, state: number): void;
}

/** Everything there is. */
export class WholeState implements Extent {
  readonly sections: 'private' | 'base';
  readonly kept: readonly KeyedStateHandle[] = [];
  readonly #states: readonly StoredState[];

  constructor(states: readonly StoredState[], sections: 'private' | 'base' = 'private') {
    this.#states = states;
    this.sections = sections;
  }

  slots(group: KeyGroup, state: number): Slots {
    return this.#states[state]!.group(group);
  }
  removals(): Iterable<Rows> {
    return [];
  }
  finished(): void {
    // Nothing is kept about single groups.
  }
}
