import type { CheckpointId, KeyGroupRange } from '@weir/core/contracts';
import { ChangeLog } from '../changelog/change-log.js';
import { NO_CAPTURE, PAGE_SIZE } from '../state/page.js';
import type { Page } from '../state/page.js';
import { Preserved } from './preserved.js';
import type { PageSource, RowSource } from './preserved.js';
import { RowBuffers } from './row-buffers.js';

/** So many entries more are taken, on average, with one that is about to change. */
const TAKEN_ALONG = 64;
/** While captures hold more than so many bytes, nothing is taken along. */
const MOST_HELD = 1024 * 1024;

/** The captures of one store that are not released. Versions order them; what they take carries the version up to which it is taken. */
export class Captures {
  readonly #range: KeyGroupRange;
  readonly #states: number;
  readonly #buffers = new RowBuffers();
  /** Oldest first. */
  #active: Preserved[] = [];
  #version = 0;
  readonly log: ChangeLog;
  /** What carries a smaller version is preserved before it changes. */
  newest: number = NO_CAPTURE;
  /** Whoever is about to change an entry has to say so: there is a capture, or one to come will ask. */
  isWatching = false;
  /** None of them takes changes only. */
  areWhole = true;
  /** Entries that may be taken along. */
  #credit = 0;

  constructor(range: KeyGroupRange, states: number) {
    this.#range = range;
    this.#states = states;
    this.log = new ChangeLog(range, states);
  }

  /** `since`: the mark of the first change that the capture takes, see {@link Preserved.since}. */
  begin(checkpointId: CheckpointId, since: number): Preserved {
    const version = this.#nextVersion();
    this.#credit = 0;
    const preserved = new Preserved({
      checkpointId,
      version,
      since,
      range: this.#range,
      states: this.#states,
      buffers: this.#buffers,
    });
    this.#active.push(preserved);
    this.#activeChanged();
    return preserved;
  }
  end(preserved: Preserved, failure?: Error): void {
    preserved.end(failure);
    this.#active = this.#active.filter((p) => p !== preserved);
    this.#activeChanged();
  }
  endAll(failure: Error): void {
    for (const preserved of this.#active) this.end(preserved, failure);
  }

  /** Notes changes from now on; returns the version since when. */
  startLog(): number {
    const version = this.#nextVersion();
    this.log.start(version);
    this.isWatching = true;
    return version;
  }
  stopLog(): void {
    this.log.stop();
    this.#activeChanged();
  }

  /** Gives `subject`, as it is now, to the captures after version `after` up to `upTo`: those that do not hold it yet. `mark`: when it changed last. */
  give<S>(source: RowSource<S>, subject: S, after: number, upTo: number, mark: number): void {
    for (const preserved of this.#active) {
      if (preserved.version > after && preserved.version <= upTo && preserved.since <= mark) {
        preserved.take(source, subject);
      }
    }
  }

  /**
   * An entry is about to change. May so many be taken with it? No single record pays for all that a capture takes, nor is all of it held in memory
   * because writers are slower than records.
   */
  mayTake(entries: number): boolean {
    this.#credit = Math.min(this.#credit + TAKEN_ALONG, PAGE_SIZE);
    if (this.#credit < entries || this.bytes > MOST_HELD) return false;
    this.#credit -= entries;
    return true;
  }
  /** Gives `page`, as it is now, to the captures that do not hold it yet. They take everything there is. */
  givePage<V>(source: PageSource<V>, page: Page<V>): void {
    for (const preserved of this.#active) if (preserved.version > page.taken) preserved.take(source, page);
    page.taken = this.newest;
    source.taken(page);
  }

  /** No other capture is under way than this one. */
  isAlone(preserved: Preserved): boolean {
    return this.#active.length === 1 && this.#active[0] === preserved;
  }
  /** Memory that captures hold beyond the state itself. */
  get bytes(): number {
    let bytes = 0;
    for (const preserved of this.#active) bytes += preserved.bytes;
    return bytes;
  }

  #nextVersion(): number {
    this.#version++;
    this.log.begin(this.#version);
    return this.#version;
  }
  #activeChanged(): void {
    this.areWhole = this.#active.every(({ isOfChanges }) => !isOfChanges);
    this.newest = this.#active.at(-1)?.version ?? NO_CAPTURE;
    this.isWatching = this.log.isOn || this.#active.length > 0;
  }
}
