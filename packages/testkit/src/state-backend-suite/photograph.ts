import type { KeyGroupRange, KeyedCapture } from '@weir/core/contracts';
import { contentsOfSections, emptyContents, withoutBystanders, type Contents } from './contents.js';
import { SteppedWrite } from './stepped-write.js';

/** One capture of each store, taken at the same moment. */
export class Photograph {
  readonly #parts: readonly {
    readonly capture: KeyedCapture;
    readonly range: KeyGroupRange;
    readonly write: SteppedWrite;
  }[];

  constructor(captures: readonly { readonly capture: KeyedCapture; readonly range: KeyGroupRange }[]) {
    this.#parts = captures.map(({ capture, range }) => ({ capture, range, write: new SteppedWrite(capture) }));
  }

  /** Every writer goes on a little. True once all have written everything. */
  async step(budget: number): Promise<boolean> {
    const done = await Promise.all(this.#parts.map(({ write }) => write.step(budget)));
    return done.every((isDone) => isDone);
  }
  /** Writes what is left, and tells what was written. */
  async contents(): Promise<Contents> {
    const contents = emptyContents();
    for (const { range, write } of this.#parts) contentsOfSections(await write.finish(), range, contents);
    return withoutBystanders(contents);
  }
  /** Writes what is left, and releases. */
  async develop(): Promise<Contents> {
    const contents = await this.contents();
    this.release();
    return contents;
  }
  async giveUp(reason: Error): Promise<void> {
    for (const { write } of this.#parts) {
      if (!(await write.step(0))) await write.giveUp(reason);
    }
    this.release();
  }
  release(): void {
    for (const { capture } of this.#parts) capture.release();
  }
}
