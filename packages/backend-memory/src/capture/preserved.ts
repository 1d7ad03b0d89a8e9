import { WeirError } from '@weir/core/contracts';
import type { CheckpointId, KeyGroup, KeyGroupRange } from '@weir/core/contracts';
import type { Page } from '../state/page.js';
import { GroupRows } from './group-rows.js';
import type { Tally } from './group-rows.js';
import type { RowBuffers } from './row-buffers.js';

/** Gives a capture what it takes of `subject`: its rows, or a hold. */
export interface RowSource<S> {
  append(subject: S, preserved: Preserved): void;
}

/** The same for pages of a table. */
export interface PageSource<V> extends RowSource<Page<V>> {
  /** What is on it is encoded so quickly that a capture takes all of it at once. */
  takesAll(page: Page<V>): boolean;
  /** Nearly nothing has to be encoded. */
  hasImage(page: Page<V>): boolean;
  /** All captures under way hold it now. */
  taken(page: Page<V>): void;
}

export interface PreservedOptions {
  readonly checkpointId: CheckpointId;
  readonly version: number;
  readonly since: number;
  readonly range: KeyGroupRange;
  readonly states: number;
  readonly buffers: RowBuffers;
}

/** The `since` of captures that take everything. */
export const SINCE_EVER = 0;

/** The rows of one capture: of entries that were about to change, and of those its writer has come to. */
export class Preserved implements Tally {
  readonly checkpointId: CheckpointId;
  readonly version: number;
  /** What changed last with a smaller mark (see `ChangeLog.mark`) is nothing to this capture: it lies in storage as it is. */
  readonly since: number;
  bytes = 0;
  readonly #first: KeyGroup;
  readonly #states: number;
  readonly #buffers: RowBuffers;
  /** By key group, then by state. */
  #rows: (GroupRows | undefined)[];
  #isOver = false;
  #failure: Error | undefined;

  constructor({ checkpointId, version, since, range, states, buffers }: PreservedOptions) {
    this.checkpointId = checkpointId;
    this.version = version;
    this.since = since;
    this.#first = range.first;
    this.#states = states;
    this.#buffers = buffers;
    this.#rows = new Array<GroupRows | undefined>((range.last - range.first + 1) * states).fill(undefined);
  }

  /** Its rows say what has changed (state/changes.ts of core), not what there is. */
  get isOfChanges(): boolean {
    return this.since > SINCE_EVER;
  }

  rows(group: KeyGroup, state: number): GroupRows {
    return (this.#rows[(group - this.#first) * this.#states + state] ??= new GroupRows(this.#buffers, this));
  }
  hasRows(group: KeyGroup, state: number): boolean {
    return this.#rows[(group - this.#first) * this.#states + state] !== undefined;
  }
  /** Everything of this state and group is written. */
  finish(group: KeyGroup, state: number): void {
    this.#rows[(group - this.#first) * this.#states + state] = undefined;
  }

  /**
   * Takes `subject`. A value that cannot be encoded fails this capture, and not the record at which that came to light: the value was put
   * there by an earlier one.
   */
  take<S>(source: RowSource<S>, subject: S): void {
    if (this.#isOver) return;
    try {
      source.append(subject, this);
    } catch (error) {
      this.end(error as Error);
    }
  }

  /** Holds nothing any more; `failure` is what a writer gets to see that has not finished. */
  end(failure?: Error): void {
    if (!this.#isOver) this.#failure = failure;
    this.#isOver = true;
    for (const rows of this.#rows) rows?.drop();
    this.#rows = [];
    this.bytes = 0;
  }
  /** Nobody writes it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }
  assertOpen(): void {
    if (this.#isOver) throw this.#failure ?? releasedEarly(this.checkpointId);
  }
}

function releasedEarly(checkpointId: CheckpointId): WeirError {
  return new WeirError(
    'CHECKPOINT_FAILED',
    `The capture of checkpoint ${checkpointId} was released before it was written.`,
  );
}
