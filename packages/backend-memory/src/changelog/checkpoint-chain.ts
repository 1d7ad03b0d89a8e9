import type { CheckpointId, KeyedStateHandle, SectionsHandle } from '@weir/core/contracts';
import type { Link } from './link.js';
import { SEALED, commonLinks, rememberedSince } from './link.js';

/** A capture whose checkpoint may yet complete. */
export interface OpenLink {
  readonly checkpointId: CheckpointId;
  readonly version: number;
  /** What it takes over. Empty: it is a base. */
  readonly kept: readonly Link[];
  readonly level: number;
  /** Once it is written. */
  links?: readonly Link[];
}

/**
 * Of what the state consists in storage: a base and what has changed since, as the last completed checkpoint has it. What is written is always
 * relative to that (Flink: the last checkpoint that the backend was notified of), whatever became of checkpoints in between.
 */
export class CheckpointChain {
  #confirmed: readonly Link[] = [];
  #open: OpenLink[] = [];

  /**
   * What a new checkpoint may begin with. Only what every one still open has as well: should that complete first, the files that it does not refer to
   * are deleted.
   */
  get links(): readonly Link[] {
    return commonLinks(
      this.#confirmed,
      this.#open.map(({ kept }) => kept),
    );
  }
  /** What changed before the capture of this version does not matter any more; undefined: nothing matters. */
  get rememberedSince(): number | undefined {
    const needed = this.#open.map(({ kept, version }) => rememberedSince(kept) ?? version);
    const confirmed = rememberedSince(this.#confirmed);
    if (confirmed !== undefined) needed.push(confirmed);
    return needed.length === 0 ? undefined : Math.min(...needed);
  }

  begin(open: OpenLink): void {
    this.#open.push(open);
  }
  written(open: OpenLink, handles: readonly KeyedStateHandle[]): void {
    const { kept, level, version } = open;
    const [own] = handles.slice(kept.length);
    if (own !== undefined) {
      // What this backend writes are sections.
      open.links = [...kept, { handle: own as SectionsHandle, version, level: kept.length === 0 ? SEALED : level }];
      return;
    }
    // Nothing has changed, so the last one leads up to here.
    const last = kept.at(-1);
    open.links = last === undefined ? [] : [...kept.slice(0, -1), { ...last, version }];
  }
  /** It will not be written. */
  dropUnwritten(open: OpenLink): void {
    if (open.links === undefined) this.#open = this.#open.filter((other) => other !== open);
  }

  completed(checkpointId: CheckpointId): void {
    const done = this.#open.find((open) => open.checkpointId === checkpointId);
    // A savepoint, or one that has been forgotten: it says nothing about the others.
    if (done?.links === undefined) return;
    this.#open = this.#open.filter((open) => open.checkpointId > checkpointId);
    this.#confirmed = done.links;
  }
  aborted(checkpointId: CheckpointId): void {
    this.#open = this.#open.filter((open) => open.checkpointId !== checkpointId);
  }

  /** What was restored, by a store that has seen `version` captures. */
  restored(handles: readonly SectionsHandle[], version: number): void {
    this.#confirmed = handles.map((handle) => ({ handle, version, level: SEALED }));
  }
  /** The next checkpoint begins anew. What is open can complete, but nothing will be made of it. */
  forget(): void {
    this.#confirmed = [];
    this.#open = [];
  }
}
