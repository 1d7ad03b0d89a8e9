import type { Slice } from '../contracts/state-backend.js';
import type { Flow } from '../operator/flow.js';

interface Drain {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The flow of one stage: closed while its output has no demand, while an operator waits or is suspended, and when its time slice is over. */
export class StageFlow implements Flow {
  readonly #hasDemand: () => boolean;
  readonly #onSettled: (failure: { readonly error: unknown } | undefined) => void;
  #slice: Pick<Slice, 'isOver'> | undefined;
  #suspended: (() => void)[] = [];
  #waits = new Set<Promise<void>>();
  #drains: Drain[] = [];

  /** `onSettled` is called after something waited for has settled. */
  constructor(hasDemand: () => boolean, onSettled: (failure: { readonly error: unknown } | undefined) => void) {
    this.#hasDemand = hasDemand;
    this.#onSettled = onSettled;
  }

  isOpen(): boolean {
    if (this.#waits.size > 0 || this.#suspended.length > 0 || !this.#hasDemand()) return false;
    return this.#slice === undefined || !this.#slice.isOver();
  }

  suspend(resume: () => void): void {
    this.#suspended.push(resume);
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
    return this.#suspended.length > 0;
  }

  begin(slice: Pick<Slice, 'isOver'>): void {
    this.#slice = slice;
  }

  /** Goes on with the operator that suspended first, which is the last one in the stage; those before it stay suspended. */
  resume(): void {
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
