import { isWeirError, type CheckpointId, type Clock } from '@weir/core/contracts';
import { backOff } from './back-off.js';
import type { UnansweredCalls } from './unanswered.js';
import { within } from './within.js';

/** Files of one checkpoint that nobody needs any more. */
export interface Removal {
  readonly checkpointId: CheckpointId;
  /** For messages; absent: its files. */
  readonly what?: string | undefined;
  remove(): Promise<void>;
}

/** A removal that takes longer is left to itself, and the next one begins. */
export const REMOVAL_TIMEOUT_MS = 60_000;
/** Removals kept in memory; those beyond are found again as left-overs when the job starts next. */
export const MOST_WAITING = 1000;
/**
 * Superfluous checkpoints that are kept beside the retained ones while output of a newer one is being committed. The newest holds whatever is not
 * committed, so those are a second copy of it and no more; without a bound a sink that never commits would fill the storage.
 */
export const MOST_KEPT_FOR_COMMITS = 2;

/** Between two tries of one removal, and between any two removals while all of them fail. */
const LONGEST_BACK_OFF_MS = 600_000;
const LONGEST_PAUSE_MS = 60_000;

interface Waiting {
  readonly removal: Removal;
  failures: number;
  /** Monotonic ms. */
  dueAt: number;
}

/**
 * Removes files, one checkpoint after the other, beside everything else: nothing ever waits for it (Flink holds back checkpoints while many are
 * being removed). What cannot be removed is tried again, later each time, and what the storage never answers to is passed by.
 * A process that lost its lock removes nothing more, because the files under those names may be its successor's.
 */
export class Cleaner {
  readonly #clock: Clock;
  readonly #verifyLock: () => Promise<void>;
  readonly #report: (message: string, error?: unknown) => void;
  readonly #unanswered: UnansweredCalls;
  /** Wait for a newer checkpoint whose output is committed. */
  readonly #postponed = new Map<CheckpointId, Waiting>();
  readonly #awaitingCommits = new Set<Waiting>();
  /** Wait for their time, or for their turn. */
  #due: readonly Waiting[] = [];
  readonly #hanging = new Set<Waiting>();
  #underWay: Promise<void> | undefined;
  #failuresInARow = 0;
  #pausedUntil = 0;
  #stopTimer: () => void = () => undefined;
  #isFull = false;
  readonly #over = new AbortController();

  constructor(parts: {
    clock: Clock;
    verifyLock: () => Promise<void>;
    report: (message: string, error?: unknown) => void;
    unanswered: UnansweredCalls;
  }) {
    this.#clock = parts.clock;
    this.#verifyLock = parts.verifyLock;
    this.#report = parts.report;
    this.#unanswered = parts.unanswered;
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Removals that are not done, whatever they wait for. */
  get waiting(): number {
    const { size } = this.#postponed;
    return size + this.#awaitingCommits.size + this.#due.length + this.#hanging.size + (this.#underWay ? 1 : 0);
  }

  /** What is named is removed once, however often that is asked for meanwhile. */
  clean(removal: Removal): void {
    this.#enqueue({ removal, failures: 0, dueAt: this.#clock.monotonic() });
  }

  /** Removes once `committed` has settled, or too many wait for that; if it rejects, the removal waits for the next chance. */
  cleanAfter(committed: Promise<void>, removal: Removal): void {
    const waiting = { removal, failures: 0, dueAt: 0 };
    this.#awaitingCommits.add(waiting);
    committed.then(
      () => {
        if (this.#awaitingCommits.delete(waiting)) this.clean(removal);
      },
      () => {
        if (this.#awaitingCommits.delete(waiting)) this.postpone(removal);
      },
    );
    for (const oldest of this.#awaitingCommits) {
      if (this.#awaitingCommits.size <= MOST_KEPT_FOR_COMMITS) break;
      this.#awaitingCommits.delete(oldest);
      this.clean(oldest.removal);
    }
  }

  /** Not before a newer checkpoint is durable and its output committed. */
  postpone(removal: Removal): void {
    if (this.#isOver) return;
    this.#postponed.set(removal.checkpointId, { removal, failures: 0, dueAt: 0 });
    this.#bound();
  }

  /** The next chance: checkpoint `newer` is durable and its output committed. */
  retryBelow(newer: CheckpointId): void {
    for (const [id, { removal }] of this.#postponed) {
      if (id >= newer) continue;
      this.#postponed.delete(id);
      this.clean(removal);
    }
  }

  /** Removes nothing more, and gives back what is left but for what hangs. */
  stop(): readonly Removal[] {
    this.#over.abort();
    this.#stopTimer();
    const left = [...this.#due, ...this.#awaitingCommits, ...this.#postponed.values()];
    this.#due = [];
    this.#awaitingCommits.clear();
    this.#postponed.clear();
    return left.map(({ removal }) => removal);
  }

  /** Settles when nothing is being removed and nothing could be right now. */
  async idle(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
  }

  #enqueue(waiting: Waiting): void {
    const { what } = waiting.removal;
    if (this.#isOver || (what !== undefined && this.#due.some(({ removal }) => removal.what === what))) return;
    this.#due = [...this.#due, waiting];
    this.#bound();
    this.#next();
  }

  #bound(): void {
    if (this.#due.length + this.#postponed.size + this.#hanging.size <= MOST_WAITING) return;
    const [oldest] = this.#postponed.keys();
    if (oldest === undefined) this.#due = this.#due.slice(1);
    else this.#postponed.delete(oldest);
    if (this.#isFull) return;
    this.#isFull = true;
    this.#report(`More than ${String(MOST_WAITING)} removals wait. What is left out is removed by the next start.`);
  }

  #next(): void {
    this.#stopTimer();
    const [first, ...others] = this.#due;
    if (this.#underWay !== undefined || this.#isOver || first === undefined) return;
    const earliest = others.reduce((a, b) => (b.dueAt < a.dueAt ? b : a), first);
    const waitMs = Math.max(earliest.dueAt, this.#pausedUntil) - this.#clock.monotonic();
    if (waitMs > 0) {
      this.#stopTimer = this.#clock.timer(waitMs, () => {
        this.#next();
      });
      return;
    }
    this.#due = this.#due.filter((waiting) => waiting !== earliest);
    this.#underWay = this.#remove(earliest).then(() => {
      this.#underWay = undefined;
      this.#next();
    });
  }

  async #remove(waiting: Waiting): Promise<void> {
    const { removal } = waiting;
    const call = this.#verifyLock().then(() => (this.#isOver ? undefined : removal.remove()));
    const outcome = await within(this.#clock, call, REMOVAL_TIMEOUT_MS, this.#over.signal);
    switch (outcome.kind) {
      case 'settled':
        this.#failuresInARow = 0;
        this.#isFull = false;
        return;
      case 'failed':
        this.#failed(waiting, outcome.error);
        return;
      case 'late':
        if (this.#isOver) return;
        this.#hanging.add(waiting);
        this.#pause();
        this.#unanswered.add(call);
        this.#report(`${nameOf(removal)}: the storage has not answered for ${String(REMOVAL_TIMEOUT_MS)} ms.`);
        call.then(
          () => this.#hanging.delete(waiting),
          (error: unknown) => {
            this.#hanging.delete(waiting);
            this.#failed(waiting, error);
          },
        );
    }
  }

  #failed(waiting: Waiting, error: unknown): void {
    if (this.#isOver) return;
    if (isWeirError(error, 'STORAGE_FENCED')) {
      this.stop();
      return;
    }
    waiting.failures++;
    waiting.dueAt = this.#clock.monotonic() + backOff(waiting.failures, LONGEST_BACK_OFF_MS);
    this.#pause();
    this.#report(`${nameOf(waiting.removal)} could not be removed; trying again later.`, error);
    this.#enqueue(waiting);
  }

  #pause(): void {
    this.#failuresInARow++;
    this.#pausedUntil = this.#clock.monotonic() + backOff(this.#failuresInARow, LONGEST_PAUSE_MS);
  }
}

function nameOf({ what, checkpointId }: Removal): string {
  return what ?? `Files of checkpoint ${String(checkpointId)}`;
}
