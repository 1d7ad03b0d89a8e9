import assert from 'node:assert/strict';
import type { IncrementalOutput, KeyedCapture, KeyedSection } from '@weir/core/contracts';

/** Writing of one capture that goes on only when the test lets it. */
export class SteppedWrite {
  readonly sections: KeyedSection[] = [];
  readonly #capture: KeyedCapture;
  readonly #incremental: IncrementalOutput | undefined;
  #done: Promise<void> | undefined;
  #budget = 0;
  #paused: { readonly resume: () => void; readonly giveUp: (reason: Error) => void } | undefined;
  #onStop: () => void = () => undefined;
  #isDone = false;
  #givenUp: Error | undefined;
  #calls = 0;
  #isTaking = false;

  constructor(capture: KeyedCapture, incremental?: IncrementalOutput) {
    this.#capture = capture;
    this.#incremental = incremental;
  }

  /** Lets the writer ask `budget` times more whether its slice is over before it is. True once everything is written. */
  async step(budget: number): Promise<boolean> {
    const stopped = new Promise<void>((resolve) => {
      this.#onStop = resolve;
    });
    this.#budget = budget;
    this.#goOn();
    const written = this.#written();
    if (!this.#isDone) await stopped;
    if (this.#isDone) await written;
    return this.#isDone;
  }
  async finish(): Promise<readonly KeyedSection[]> {
    this.#budget = Number.POSITIVE_INFINITY;
    this.#goOn();
    await this.#written();
    return this.sections;
  }
  /** The checkpoint is given up: the writer's wait for its next slice ends with `reason`. Resolves when it has stopped. */
  async giveUp(reason: Error): Promise<void> {
    assert(this.#paused, 'the writer waits for its next slice');
    this.#givenUp = reason;
    this.#paused.giveUp(reason);
    await assert.rejects(
      this.#written(),
      (error) => error === reason,
      'a writer that is given up ends with the reason',
    );
  }

  #written(): Promise<void> {
    if (this.#done === undefined) {
      this.#done = this.#capture.write(
        { section: (section) => this.#take(section), incremental: this.#incremental },
        { isOver: () => this.#budget-- <= 0, next: () => this.#pause() },
      );
      const stop = (): void => {
        this.#isDone = true;
        this.#onStop();
      };
      this.#done.then(stop, stop);
    }
    return this.#done;
  }
  #goOn(): void {
    const paused = this.#paused;
    this.#paused = undefined;
    paused?.resume();
  }
  #pause(): Promise<void> {
    if (this.#givenUp !== undefined) return Promise.reject(this.#givenUp);
    return new Promise((resume, giveUp) => {
      this.#paused = { resume, giveUp };
      this.#onStop();
    });
  }

  /** Every other section is taken at once; for the rest the writer has to wait. */
  #take(section: KeyedSection): void | Promise<void> {
    assert(!this.#isTaking, 'a writer waits until a section is taken before it gives the next');
    this.sections.push({ ...section, rows: Uint8Array.from(section.rows) });
    if (this.#calls++ % 2 === 0) return;
    this.#isTaking = true;
    return Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => {
        this.#isTaking = false;
      });
  }
}
