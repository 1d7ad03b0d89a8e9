import type { RestorePlan } from '../contracts/coordinator.js';
import type { KeyGroupRange, SectionsHandle } from '../contracts/snapshot.js';
import type { KeyedGroup } from '../contracts/state-backend.js';
import type { KeyGroup } from '../element/ids.js';
import { readKeyedGroups } from '../snapshot/keyed-section-reader.js';
import { readNeeded, type NeededState } from '../snapshot/read-needed.js';

/** What one handle of keyed state has, key group by key group. Cheapest in ascending order. */
export interface GroupReader {
  readonly range: KeyGroupRange;
  /** Undefined: nothing. Rows are views that hold as long as anybody refers to them. */
  group(keyGroup: KeyGroup): Promise<KeyedGroup | undefined>;
  /** Gives back what it has in memory. It may be asked again. */
  rest(): Promise<void>;
}

/** Groups next to each other are read at once up to so many bytes. */
const READ_BYTES = 1024 * 1024;

/** Groups of a handle whose sections any reader understands. */
export class StoredGroups implements GroupReader {
  readonly range: KeyGroupRange;
  readonly #handle: SectionsHandle;
  readonly #stored: Pick<RestorePlan, 'read' | 'readPart'>;
  readonly #what: string;
  /** Where in `handle.groups` a group is. */
  readonly #places: ReadonlyMap<KeyGroup, number>;
  #read: { readonly needed: NeededState; readonly places: ReadonlyMap<KeyGroup, number> } | undefined;

  constructor(handle: SectionsHandle, stored: Pick<RestorePlan, 'read' | 'readPart'>, what: string) {
    this.range = handle.range;
    this.#handle = handle;
    this.#stored = stored;
    this.#what = what;
    this.#places = placesIn(handle);
  }

  async group(keyGroup: KeyGroup): Promise<KeyedGroup | undefined> {
    const place = this.#places.get(keyGroup);
    if (place === undefined) return undefined;
    if (this.#read?.places.has(keyGroup) !== true) {
      this.#read = undefined;
      const needed = await readNeeded(this.#handle, { first: keyGroup, last: this.#lastWith(place) }, this.#stored);
      this.#read = { needed, places: placesIn(needed.handle) };
    }
    const { needed, places } = this.#read;
    // Only the one, so that what is asked for group by group is not searched from the first each time.
    const groups = [needed.handle.groups[places.get(keyGroup) ?? -1]].filter((group) => group !== undefined);
    const range = { first: keyGroup, last: keyGroup };
    return readKeyedGroups({ ...needed.handle, groups }, needed.bytes, range, this.#what).next().value ?? undefined;
  }

  async rest(): Promise<void> {
    this.#read = undefined;
  }

  /** The last group that still fits into what is read at once with the one at `place`. */
  #lastWith(place: number): KeyGroup {
    const { groups } = this.#handle;
    let last = place;
    for (let bytes = groups[last]!.length; ; last++) {
      bytes += groups[last + 1]?.length ?? Number.POSITIVE_INFINITY;
      if (bytes > READ_BYTES) return groups[last]!.keyGroup;
    }
  }
}

function placesIn({ groups }: SectionsHandle): ReadonlyMap<KeyGroup, number> {
  return new Map(groups.map(({ keyGroup }, place) => [keyGroup, place]));
}
