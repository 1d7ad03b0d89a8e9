import type { CheckpointId, KeyGroupRange } from '@weir/core/contracts';
import { Preserved } from './preserved.js';
import type { RowSource } from './preserved.js';
import { WriterPool } from './writer-pool.js';

/** No capture, or older than all of them. */
export const NO_CAPTURE: number = -1;

/** The captures of one store that are not released. Versions order them; what they take carries the version up to which it is taken. */
export class Captures {
  readonly #range: KeyGroupRange;
  readonly #states: number;
  readonly #pool = new WriterPool();
  /** Oldest first. */
  #active: Preserved[] = [];
  #version = 0;
  /** What carries a smaller version is preserved before it changes. */
  newest: number = NO_CAPTURE;

  constructor(range: KeyGroupRange, states: number) {
    this.#range = range;
    this.#states = states;
  }

  begin(checkpointId: CheckpointId): Preserved {
    const preserved = new Preserved(checkpointId, ++this.#version, this.#range, this.#states, this.#pool);
    this.#active.push(preserved);
    this.newest = preserved.version;
    return preserved;
  }
  end(preserved: Preserved, reason: Error): void {
    preserved.end(reason);
    this.#active = this.#active.filter((p) => p !== preserved);
    this.newest = this.#active.at(-1)?.version ?? NO_CAPTURE;
  }
  endAll(reason: Error): void {
    for (const preserved of this.#active) this.end(preserved, reason);
  }

  /** Gives `subject`, as it is now, to the captures after version `after` up to `upTo`: those that do not hold it yet. */
  give<S>(source: RowSource<S>, subject: S, after: number, upTo: number): void {
    for (const preserved of this.#active) {
      if (preserved.version > after && preserved.version <= upTo) preserved.take(source, subject);
    }
  }

  /** Memory that captures hold beyond the state itself. */
  get bytes(): number {
    let bytes = 0;
    for (const preserved of this.#active) bytes += preserved.bytes;
    return bytes;
  }
}
