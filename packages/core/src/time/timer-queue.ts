import { compareKeys } from '../element/compare-keys.js';
import { keyIdentity, type KeyIdentity } from '../element/key-identity.js';
import type { Key } from '../element/key.js';

/** A moment at which a key wants to be called. */
export interface Timer {
  readonly time: number;
  readonly key: Key;
}
interface Entry extends Timer {
  readonly identity: KeyIdentity;
  /** Where it is in the heap. */
  place: number;
}

/**
 * The timers of one kind of time, the earliest first; those of one time in the order of their keys, so that a restore changes nothing. A heap that
 * also finds a timer by its key and time: adding, removing and taking cost O(log n) (Flink: HeapPriorityQueueSet).
 */
export class TimerQueue {
  readonly #heap: Entry[] = [];
  /** Most keys have one timer: a Map for each would cost more than all the rest. */
  readonly #byKey = new Map<KeyIdentity, Entry | Map<number, Entry>>();

  get size(): number {
    return this.#heap.length;
  }
  get first(): Timer | undefined {
    return this.#heap[0];
  }

  /** False: this key has a timer at this time already. */
  add(key: Key, time: number): boolean {
    const identity = keyIdentity(key);
    const known = this.#byKey.get(identity);
    if (known === undefined) {
      this.#byKey.set(identity, this.#push(key, identity, time));
      return true;
    }
    if (known instanceof Map) {
      if (known.has(time)) return false;
      known.set(time, this.#push(key, identity, time));
      return true;
    }
    if (known.time === time) return false;
    const added = this.#push(key, identity, time);
    this.#byKey.set(
      identity,
      new Map([
        [known.time, known],
        [time, added],
      ]),
    );
    return true;
  }

  /** False: there is no such timer. */
  remove(key: Key, time: number): boolean {
    const known = this.#byKey.get(keyIdentity(key));
    const entry = known instanceof Map ? known.get(time) : known;
    if (entry?.time !== time) return false;
    this.#take(entry);
    return true;
  }

  /** Takes the earliest timer. */
  poll(): Timer | undefined {
    const first = this.#heap[0];
    if (first !== undefined) this.#take(first);
    return first;
  }

  #push(key: Key, identity: KeyIdentity, time: number): Entry {
    const entry: Entry = { time, key: ownKey(key), identity, place: this.#heap.length };
    this.#heap.push(entry);
    this.#rise(entry);
    return entry;
  }

  #take(entry: Entry): void {
    const known = this.#byKey.get(entry.identity);
    if (known instanceof Map) {
      known.delete(entry.time);
      if (known.size === 0) this.#byKey.delete(entry.identity);
    } else this.#byKey.delete(entry.identity);
    const last = this.#heap.pop() as Entry;
    if (last === entry) return;
    this.#put(last, entry.place);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(entry: Entry): void {
    while (entry.place > 0) {
      const parent = this.#heap[(entry.place - 1) >> 1] as Entry;
      if (!isBefore(entry, parent)) return;
      const { place } = entry;
      this.#put(entry, parent.place);
      this.#put(parent, place);
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[2 * entry.place + 1];
      const right = this.#heap[2 * entry.place + 2];
      const child = right !== undefined && isBefore(right, left as Entry) ? right : left;
      if (child === undefined || !isBefore(child, entry)) return;
      const { place } = entry;
      this.#put(entry, child.place);
      this.#put(child, place);
    }
  }

  #put(entry: Entry, place: number): void {
    this.#heap[place] = entry;
    entry.place = place;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.time === b.time ? compareKeys(a.key, b.key) < 0 : a.time < b.time;
}

/** A tuple belongs to whoever made it, and may change. */
function ownKey(key: Key): Key {
  return typeof key === 'object' ? key.map(ownKey) : key;
}
