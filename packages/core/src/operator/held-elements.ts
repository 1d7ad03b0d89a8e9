import type { Serializer } from '../contracts/serializer.js';

/** The elements of a list or a map, when a handler has got at all of them: which objects are among them. */
export class HeldElements {
  readonly serializer: Serializer;
  private readonly elements: () => Iterable<unknown>;
  /** By the handler that was called. */
  isRead = false;
  private index: Set<unknown> | undefined;
  private wasAsked = false;

  /** `elements` gives what there is now. */
  constructor(serializer: Serializer, elements: () => Iterable<unknown>) {
    this.serializer = serializer;
    this.elements = elements;
  }

  /** Looks through them once, and makes an index for whoever asks again. */
  has(value: object): boolean {
    if (this.index !== undefined) return this.index.has(value);
    if (this.wasAsked) {
      this.index = new Set(this.elements());
      return this.index.has(value);
    }
    this.wasAsked = true;
    for (const element of this.elements()) if (element === value) return true;
    return false;
  }

  /** They are others now. */
  changed(): void {
    this.index = undefined;
    this.wasAsked = false;
  }
}
