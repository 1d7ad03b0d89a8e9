import type { Key, KeyGroup, KeyGroupRange } from '@weir/core/contracts';
import type { Slot } from '../state/page.js';

/** What changed of one state in one key group. */
export interface ChangedPart {
  /** Entries that were put or changed, each once; some may be gone by now, or their slots another's. */
  slots: Slot[];
  /** Keys whose entry went. Some may have one again. */
  readonly removed: Key[];
  /** Key and map key by turns, of entries of maps that went. */
  readonly removedEntries: Key[];
}

/** What changed between one capture and the next. */
export class Era {
  /** The version of the capture that it began with. */
  readonly version: number;
  readonly #first: KeyGroup;
  readonly #states: number;
  /** By key group, then by state. */
  readonly #parts = new Map<number, ChangedPart>();
  /** About how many rows it takes to tell. */
  rows = 0;
  /** Slots and keys that are kept. */
  size = 0;

  constructor(version: number, range: KeyGroupRange, states: number) {
    this.version = version;
    this.#first = range.first;
    this.#states = states;
  }

  part(group: KeyGroup, state: number): ChangedPart | undefined {
    return this.#parts.get(this.#place(group, state));
  }
  /** The part, to add something to. */
  growing(group: KeyGroup, state: number): ChangedPart {
    this.size++;
    const place = this.#place(group, state);
    let part = this.#parts.get(place);
    if (part === undefined) this.#parts.set(place, (part = { slots: [], removed: [], removedEntries: [] }));
    return part;
  }

  #place(group: KeyGroup, state: number): number {
    return (group - this.#first) * this.#states + state;
  }
}
