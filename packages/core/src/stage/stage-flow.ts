import type { Slice } from '../contracts/state-backend.js';
import type { Flow } from '../operator/flow.js';

interface Drain {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The flow of one stage: closed while its output has no demand, while an operator waits or is suspended, and when its time slice is over. */
export class StageFlow implements Flow {
  readonly #hasDemand: () => boolean;
  readonly #isOverdrawn: () => boolean;
  readonly #onSettled: (failure: { readonly error: unknown } | undefined) => void;
  #slice: Pick<Slice, 'isOver'> | undefined;
  /** By segments of the stage. */
  readonly #suspended: (() => void)[][] = [[]];
  #suspensions = 0;
  /** Of operators that hold what they were handed until a barrier has gone on, and their segments. */
  readonly #held = new Map<() => void, number>();
  #heldRecords = 0;
  #waits = new Set<Promise<void>>();
  #drains: Drain[] = [];

  /**
   * `onSettled` is called after something waited for has settled. `isOverdrawn`: a barrier is to go
   * on before anything else.
   */
  constructor(
    hasDemand: () => boolean,
    onSettled: (failure: { readonly error: unknown } | undefined) => void,
    isOverdrawn: () => boolean = () => false,
  ) {
    this.#hasDemand = hasDemand;
    this.#onSettled = onSettled;
    this.#isOverdrawn = isOverdrawn;
  }

  isOpen(): boolean {
    if (this.#waits.size > 0 || this.isSuspended || !this.#hasDemand()) return false;
    return this.#slice === undefined || !this.#slice.isOver();
  }

  suspend(resume: () => void, segment = 0): void {
    while (this.#suspended.length <= segment) this.#suspended.push([]);
    this.#suspended[segment]?.push(resume);
    this.#suspensions++;
  }

  /** The flow of an operator in that segment of the stage. */
  inSegment(segment: number): Flow {
    return segment === 0 ? this : new SegmentFlow(this, segment);
  }

  get isOverdrawn(): boolean {
    return this.#isOverdrawn();
  }
  /** Records that were ever held. */
  get heldRecords(): number {
    return this.#heldRecords;
  }

  hold(records: number, release: () => void, segment = 0): void {
    this.#held.set(release, segment);
    this.#heldRecords += records;
  }

  waitFor(settled: Promise<void>): void {
    const wait: Promise<void> = settled.then(
      () => {
        this.#waits.delete(wait);
        this.#lookIfDrained();
        this.#onSettled(undefined);
      },
      (error: unknown) => {
        this.#waits.delete(wait);
        this.#onSettled({ error });
      },
    );
    this.#waits.add(wait);
  }

  get isWaiting(): boolean {
    return this.#waits.size > 0;
  }
  get isSuspended(): boolean {
    return this.#suspensions > 0 || (this.#held.size > 0 && !this.#isOverdrawn());
  }

  begin(slice: Pick<Slice, 'isOver'>): void {
    this.#slice = slice;
  }

  /**
   * Goes on with the operator that suspended first, which is the last one of its segment; those before it stay suspended. Segments further down go
   * first.
   */
  resume(): void {
    if (!this.#isOverdrawn()) this.#release();
    const segment = this.#suspended.findLastIndex(({ length }) => length > 0);
    const [first, ...rest] = this.#suspended[segment] ?? [];
    if (first !== undefined) {
      const others = this.#suspensions - 1;
      this.#suspended[segment] = [];
      // Those that stay suspended do not close the flow of the one that goes on.
      this.#suspensions = 0;
      first();
      this.#suspended[segment].push(...rest);
      this.#suspensions += others;
    }
    this.#lookIfDrained();
  }

  /** What is held goes on before anything else. */
  #release(): void {
    if (this.#held.size === 0) return;
    for (const [release, segment] of [...this.#held].toReversed()) {
      this.suspend(release, segment);
      const all = this.#suspended[segment] as (() => void)[];
      all.unshift(all.pop() as () => void);
    }
    this.#held.clear();
  }

  /** Settles when nothing is waited for any more. */
  async idle(): Promise<void> {
    while (this.#waits.size > 0) await Promise.all(this.#waits);
  }

  /** Settles once nothing is waited for and nothing is suspended; undefined if that is so already. Rejects when it is abandoned. */
  drained(): Promise<void> | undefined {
    if (!this.isWaiting && !this.isSuspended) return undefined;
    return new Promise((resolve, reject) => {
      this.#drains.push({ resolve, reject });
    });
  }

  /** What is suspended will not go on any more. */
  abandon(reason: unknown): void {
    for (const { reject } of this.#drains.splice(0)) reject(reason);
  }

  #lookIfDrained(): void {
    if (this.isWaiting || this.isSuspended) return;
    for (const { resolve } of this.#drains.splice(0)) resolve();
  }
}

class SegmentFlow implements Flow {
  readonly #stage: StageFlow;
  readonly #segment: number;

  constructor(stage: StageFlow, segment: number) {
    this.#stage = stage;
    this.#segment = segment;
  }

  get isOverdrawn(): boolean {
    return this.#stage.isOverdrawn;
  }
  isOpen(): boolean {
    return this.#stage.isOpen();
  }
  suspend(resume: () => void): void {
    this.#stage.suspend(resume, this.#segment);
  }
  hold(records: number, release: () => void): void {
    this.#stage.hold(records, release, this.#segment);
  }
  waitFor(settled: Promise<void>): void {
    this.#stage.waitFor(settled);
  }
}
