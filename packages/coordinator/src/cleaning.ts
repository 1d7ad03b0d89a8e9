import { isWeirError, type CheckpointId } from '@weir/core/contracts';

/** Files of one checkpoint that nobody needs any more. */
export interface Removal {
  readonly checkpointId: CheckpointId;
  /** For messages; absent: its files. */
  readonly what?: string | undefined;
  remove(): Promise<void>;
}

/** Postponed removals kept in memory; those beyond are found again as left-overs when the job starts next. */
const MOST_POSTPONED = 1000;

/**
 * Removes files one checkpoint after the other, never failing anything: what cannot be removed now is tried again at the next chance.
 * A process that lost its lock removes nothing more, because the files under those names may be its successor's.
 */
export class Cleaner {
  readonly #verifyLock: () => Promise<void>;
  readonly #report: (message: string, error: unknown) => void;
  readonly #onProgress: () => void;
  readonly #postponed = new Map<CheckpointId, Removal>();
  #cleaning = 0;
  #last: Promise<void> = Promise.resolve();
  #isFenced = false;

  constructor(parts: {
    verifyLock: () => Promise<void>;
    report: (message: string, error: unknown) => void;
    /** Called each time `cleaning` has become less. */
    onProgress: () => void;
  }) {
    this.#verifyLock = parts.verifyLock;
    this.#report = parts.report;
    this.#onProgress = parts.onProgress;
  }

  /** Removals under way, or waiting for the one before them or for commits. */
  get cleaning(): number {
    return this.#cleaning;
  }

  clean(removal: Removal): void {
    this.#cleaning++;
    this.#enqueue(removal);
  }

  /** Removes once `committed` has settled; if it rejects, the removal waits for the next chance. */
  cleanAfter(committed: Promise<void>, removal: Removal): void {
    this.#cleaning++;
    committed.then(
      () => {
        this.#enqueue(removal);
      },
      () => {
        this.postpone(removal);
        this.#progressed();
      },
    );
  }

  /** Not before a newer checkpoint is durable and its output committed. */
  postpone(removal: Removal): void {
    this.#postponed.set(removal.checkpointId, removal);
    const [oldest] = this.#postponed.keys();
    if (this.#postponed.size > MOST_POSTPONED && oldest !== undefined) this.#postponed.delete(oldest);
  }

  /** The next chance: checkpoint `newer` is durable and its output committed. */
  retryBelow(newer: CheckpointId): void {
    for (const [id, removal] of [...this.#postponed]) {
      if (id >= newer) continue;
      this.#postponed.delete(id);
      this.clean(removal);
    }
  }

  /** Gives up what was postponed: somebody else removes it. */
  takePostponed(): readonly Removal[] {
    const postponed = [...this.#postponed.values()];
    this.#postponed.clear();
    return postponed;
  }

  /** Settles when no removal is under way. Those that wait for commits are not under way. */
  async idle(): Promise<void> {
    for (let last = undefined as Promise<void> | undefined; last !== this.#last;) {
      last = this.#last;
      await last;
    }
  }

  #enqueue(removal: Removal): void {
    this.#last = this.#last.then(() => this.#remove(removal));
  }

  async #remove(removal: Removal): Promise<void> {
    try {
      if (!this.#isFenced) {
        await this.#verifyLock();
        await removal.remove();
      }
    } catch (error) {
      if (isWeirError(error, 'STORAGE_FENCED')) this.#isFenced = true;
      else {
        this.postpone(removal);
        const what = removal.what ?? `Files of checkpoint ${String(removal.checkpointId)}`;
        this.#report(`${what} could not be removed; trying again later.`, error);
      }
    }
    this.#progressed();
  }

  #progressed(): void {
    this.#cleaning--;
    this.#onProgress();
  }
}
