import type { KeyGroupRange } from '@weir/core/contracts';
import { Era } from './era.js';

/**
 * What has changed in a store, era by era: a capture ends one and begins the next. Eras are kept for as long as a checkpoint may have to tell what
 * changed in them. Off, and then free of cost, until somebody wants to know.
 */
export class ChangeLog {
  readonly #range: KeyGroupRange;
  readonly #states: number;
  #eras: Era[] = [];
  current: Era;
  isOn = false;
  /**
   * What entries are marked with that change now: twice the version of the era, which grows with each. Entries that are new get one more: should
   * they go within the same era, nobody will have known them.
   */
  mark = 0;

  constructor(range: KeyGroupRange, states: number) {
    this.#range = range;
    this.#states = states;
    this.current = new Era(0, range, 0);
  }

  /** A capture of this version is taken. */
  begin(version: number): void {
    if (!this.isOn) return;
    if (this.current.size > 0) this.#eras.push(this.current);
    this.start(version);
  }
  start(version: number): void {
    this.isOn = true;
    this.mark = 2 * version;
    this.current = new Era(version, this.#range, this.#states);
  }
  stop(): void {
    this.isOn = false;
    this.#eras = [];
    this.current = new Era(0, this.#range, 0);
  }

  /** The first mark that anybody may ask for. */
  get oldestMark(): number {
    return 2 * (this.#eras[0] ?? this.current).version;
  }
  /** The eras that have ended, from the one on that began with the capture of `version`; oldest first. */
  endedSince(version: number): readonly Era[] {
    return this.#eras.filter((era) => era.version >= version);
  }
  forgetBefore(version: number): void {
    this.#eras = this.#eras.filter((era) => era.version >= version);
  }

  /** How many slots and keys are kept. */
  get size(): number {
    return this.#eras.reduce((sum, { size }) => sum + size, this.current.size);
  }
  /** About how many rows it takes to tell what has changed since the capture of `version`. */
  rowsSince(version: number): number {
    return this.endedSince(version).reduce((sum, { rows }) => sum + rows, this.current.rows);
  }
}
