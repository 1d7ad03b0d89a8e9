import type { Slice } from '../contracts/state-backend.js';
import type { Flow } from '../operator/flow.js';

interface Drain {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The flow of one stage: closed while its output has no demand, while an operator waits or is suspended, and when its time slice is over. */
export class StageFlow implements Flow {
  readonly #hasDemand: () => boolean;
  readonly #isMakingWay: () => boolean;
  readonly #onSettled: (failure: { readonly error: unknown } | undefined) => void;
  #slice: Pick<Slice, 'isOver'> | undefined;
  #suspended: (() => void)[] = [];
  /** Of operators that hold what they were handed until a barrier has gone on. */
  readonly #held = new Set<() => void>();
  #heldRecords = 0;
  #waits = new Set<Promise<void>>();
  #drains: Drain[] = [];

  /** `onSettled` is called after something waited for has settled; `isMakingWay`: a barrier is to go on before anything else. */
  constructor(
    hasDemand: () => boolean,
    onSettled: (failure: { readonly error: unknown } | undefined) => void,
    isMakingWay: () => boolean = () => false,
  ) {
    this.#hasDemand = hasDemand;
    this.#onSettled = onSettled;
    this.#isMakingWay = isMakingWay;
  }

  isOpen(): boolean {
    if (this.#waits.size > 0 || this.isSuspended || !this.#hasDemand()) return false;
    return this.#slice === undefined || !this.#slice.isOver();
  }

  suspend(resume: () => void): void {
    this.#suspended.push(resume);
  }

  get isMakingWay(): boolean {
    return this.#isMakingWay();
  }
  /** Records that were ever held. */
  get heldRecords(): number {
    return this.#heldRecords;
  }

  hold(records: number, release: () => void): void {
    this.#held.add(release);
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
    return this.#suspended.length > 0 || (this.#held.size > 0 && !this.#isMakingWay());
  }

  begin(slice: Pick<Slice, 'isOver'>): void {
    this.#slice = slice;
  }

  /** Goes on with the operator that suspended first, which is the last one in the stage; those before it stay suspended. */
  resume(): void {
    if (!this.#isMakingWay()) {
      this.#suspended.unshift(...this.#held);
      this.#held.clear();
    }
    const [first, ...rest] = this.#suspended;
    this.#suspended = [];
    first?.();
    this.#suspended.push(...rest);
    this.#lookIfDrained();
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
