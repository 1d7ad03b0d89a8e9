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
  readonly #parts: (ChangedPart | undefined)[];
  /** About how many rows it takes to tell. */
  rows = 0;
  /** Slots and keys that are kept. */
  size = 0;

  constructor(version: number, range: KeyGroupRange, states: number) {
    this.version = version;
    this.#first = range.first;
    this.#states = states;
    this.#parts = new Array<ChangedPart | undefined>((range.last - range.first + 1) * states).fill(undefined);
  }

  part(group: KeyGroup, state: number): ChangedPart | undefined {
    return this.#parts[(group - this.#first) * this.#states + state];
  }
  /** The part, to add something to. */
  growing(group: KeyGroup, state: number): ChangedPart {
    this.size++;
    return (this.#parts[(group - this.#first) * this.#states + state] ??= {
      slots: [],
      removed: [],
      removedEntries: [],
    });
  }
}
