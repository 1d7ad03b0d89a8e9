import type { KeyedSection, KeyedStateStore, Slice } from '../contracts/state-backend.js';

/** All that a store holds, as a job's checkpoint would have it. The next section is asked for when the one before was taken. */
export async function* fullCapture(store: KeyedStateStore): AsyncGenerator<KeyedSection, void, undefined> {
  const capture = store.capture({ checkpointId: 0, mode: 'full' });
  const handover = new Handover<KeyedSection>();
  const written = capture.write({ section: (section) => handover.give(section) }, unhurried(handover)).then(
    () => {
      handover.end();
    },
    (error: unknown) => {
      handover.end({ error });
    },
  );
  try {
    for (let section = await handover.take(); section !== undefined; section = await handover.take()) {
      // The writer has its buffer back with the next one.
      yield { ...section, rows: new Uint8Array(section.rows) };
    }
  } finally {
    handover.giveUp();
    await written;
    capture.release();
  }
}

/** Nobody else waits for the thread; who reads takes what he has before more is written. */
function unhurried(handover: Handover<unknown>): Slice {
  return { isOver: () => handover.isGivenUp, next: () => Promise.reject(GIVEN_UP) };
}

/** Thrown into a writer whose reader has had enough. */
const GIVEN_UP = new Error('nobody reads on');

interface Given<T> {
  readonly value: T;
  readonly taken: () => void;
  readonly refuse: (error: Error) => void;
}

/** Hands values from one who pushes to one who pulls, one at a time. */
class Handover<T> {
  #given: Given<T> | undefined;
  /** With the one who pulls, until he asks for the next. */
  #lent: Given<T> | undefined;
  #waiting: (() => void) | undefined;
  #end: { readonly failure: { readonly error: unknown } | undefined } | undefined;
  isGivenUp = false;

  give(value: T): Promise<void> {
    return new Promise((taken, refuse) => {
      if (this.isGivenUp) {
        refuse(GIVEN_UP);
        return;
      }
      this.#given = { value, taken, refuse };
      this.#wake();
    });
  }

  /** Undefined: that was all. What was taken before is the giver's again. */
  async take(): Promise<T | undefined> {
    this.#lent?.taken();
    this.#lent = undefined;
    while (this.#given === undefined && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#lent = this.#given;
    this.#given = undefined;
    if (this.#lent === undefined && this.#end?.failure !== undefined) throw this.#end.failure.error;
    return this.#lent?.value;
  }

  end(failure?: { readonly error: unknown }): void {
    this.#end = { failure };
    this.#wake();
  }

  giveUp(): void {
    this.isGivenUp = true;
    this.#given?.refuse(GIVEN_UP);
    this.#lent?.refuse(GIVEN_UP);
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
