import type { StateKind } from '../contracts/snapshot.js';
import type { ListState, MapState, StateHandle, ValueState } from '../contracts/state-backend.js';
import type { Key } from '../element/key.js';
import type { Expiry, Stamped } from './ttl.js';

// The handles of states that expire, over those of the backend, which keep stamped values (Flink: TtlValueState and its like). A value that has
// expired is never given, and is removed by whoever would have got it. What is stored is replaced, never changed.

/** `stored` is the handle of a state of this kind whose values are all stamped. */
export function expiringHandle(
  kind: StateKind,
  stored: StateHandle,
  expiry: Expiry,
  initial: (() => unknown) | undefined,
): StateHandle {
  switch (kind) {
    case 'value':
      return new ExpiringValue(stored as ValueState<Stamped>, expiry, initial);
    case 'list':
      return new ExpiringList(stored as ListState<Stamped>, expiry);
    case 'map':
      return new ExpiringMap(stored as MapState<Key, Stamped>, expiry);
  }
}

class ExpiringValue implements ValueState<unknown, unknown> {
  readonly #stored: ValueState<Stamped>;
  readonly #expiry: Expiry;
  readonly #initial: (() => unknown) | undefined;

  constructor(stored: ValueState<Stamped>, expiry: Expiry, initial: (() => unknown) | undefined) {
    this.#stored = stored;
    this.#expiry = expiry;
    this.#initial = initial;
  }

  value(): unknown {
    const found = this.#stored.value();
    if (found === undefined) return this.#initial?.();
    const now = this.#expiry.now();
    if (this.#expiry.isOver(found.since, now)) {
      this.#stored.clear();
      return this.#initial?.();
    }
    if (this.#expiry.ttl.isRefreshedByReading && found.since !== now) {
      this.#stored.update({ since: now, value: found.value });
    }
    return found.value;
  }
  update(value: unknown): void {
    this.#stored.update(this.#expiry.stamp(value));
  }
  clear(): void {
    this.#stored.clear();
  }
}

/** Elements are added at the end, so the first is the oldest, unless the clock was set back in between. */
class ExpiringList implements ListState<unknown> {
  readonly #stored: ListState<Stamped>;
  readonly #expiry: Expiry;

  constructor(stored: ListState<Stamped>, expiry: Expiry) {
    this.#stored = stored;
    this.#expiry = expiry;
  }

  values(): Iterable<unknown> {
    const now = this.#expiry.now();
    if (this.#isToBeWrittenAnew(now)) return this.#writtenAnew(now);
    return new LiveValues(this.#stored.values(), this.#expiry, now);
  }
  add(value: unknown): void {
    this.#stored.add(this.#expiry.stamp(value));
  }
  clear(): void {
    this.#stored.clear();
  }

  #isToBeWrittenAnew(now: number): boolean {
    const { isRefreshedByReading } = this.#expiry.ttl;
    for (const { since } of this.#stored.values()) {
      if (this.#expiry.isOver(since, now)) return true;
      if (!isRefreshedByReading) return false;
      if (since !== now) return true;
    }
    return false;
  }
  #writtenAnew(now: number): unknown[] {
    const live = [...this.#stored.values()].filter(({ since }) => !this.#expiry.isOver(since, now));
    this.#stored.clear();
    const { isRefreshedByReading } = this.#expiry.ttl;
    for (const element of live) this.#stored.add(isRefreshedByReading ? { since: now, value: element.value } : element);
    return live.map(({ value }) => value);
  }
}

class LiveValues implements Iterable<unknown> {
  readonly #stored: Iterable<Stamped>;
  readonly #expiry: Expiry;
  readonly #now: number;

  constructor(stored: Iterable<Stamped>, expiry: Expiry, now: number) {
    this.#stored = stored;
    this.#expiry = expiry;
    this.#now = now;
  }

  *[Symbol.iterator](): Iterator<unknown> {
    for (const { since, value } of this.#stored) if (!this.#expiry.isOver(since, this.#now)) yield value;
  }
}

class ExpiringMap implements MapState<Key, unknown> {
  readonly #stored: MapState<Key, Stamped>;
  readonly #expiry: Expiry;

  constructor(stored: MapState<Key, Stamped>, expiry: Expiry) {
    this.#stored = stored;
    this.#expiry = expiry;
  }

  get(key: Key): unknown {
    return this.#touch(key, this.#expiry.now())?.value;
  }
  set(key: Key, value: unknown): void {
    this.#stored.set(key, this.#expiry.stamp(value));
  }
  delete(key: Key): void {
    this.#stored.delete(key);
  }
  *entries(): Iterable<readonly [Key, unknown]> {
    const now = this.#expiry.now();
    const { isRefreshedByReading } = this.#expiry.ttl;
    // Afterwards, so that nothing changes under the iterator of the backend.
    const toTouch: Key[] = [];
    try {
      for (const [key, { since, value }] of this.#stored.entries()) {
        const isOver = this.#expiry.isOver(since, now);
        if (isOver || (isRefreshedByReading && since !== now)) toTouch.push(key);
        if (!isOver) yield [key, value];
      }
    } finally {
      for (const key of toTouch) this.#touch(key, now);
    }
  }
  clear(): void {
    this.#stored.clear();
  }

  /** What there is for the key, once it is known to be live. */
  #touch(key: Key, now: number): Stamped | undefined {
    const found = this.#stored.get(key);
    if (found === undefined) return undefined;
    if (this.#expiry.isOver(found.since, now)) {
      this.#stored.delete(key);
      return undefined;
    }
    if (this.#expiry.ttl.isRefreshedByReading && found.since !== now) {
      this.#stored.set(key, { since: now, value: found.value });
    }
    return found;
  }
}
