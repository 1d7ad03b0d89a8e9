import type { StreamElement } from '../element/element.js';

/**
 * Operators that pass elements on by calling each other. In a stage of more of them the stack would grow with every operator, up to its end, so a
 * long stage is cut into segments: an element leaves one of them before it is handed to the next (a trampoline).
 */
const SEGMENT = 64;

/** The segment of the operator at that place of its stage, counted from its head; both from 0. */
export function segmentOf(place: number): number {
  return Math.floor(place / SEGMENT);
}

/** The operators of a stage by their segments; one, for most stages. */
export function inSegments<T>(operators: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: segmentOf(operators.length - 1) + 1 }, (_, segment) =>
    operators.slice(segment * SEGMENT, (segment + 1) * SEGMENT),
  );
}

/**
 * What is on its way from one segment of a stage to the next. Elements go on in order, and one that is nearer to the tail before all others, as if
 * each operator had called the next one: what is sent outside of any segment behind the first is through when `send` returns. An operator in one
 * goes on while what it has sent waits here, so its flow is closed until then.
 */
export class Relay {
  readonly #waiting: StreamElement<unknown>[][] = [];
  readonly #receivers: ((element: StreamElement<unknown>) => void)[] = [];
  #count = 0;
  /** No segment behind it has anything waiting. */
  #last = 0;
  #isRunning = false;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** `receive` is handed what is sent to the segment. */
  connect(segment: number, receive: (element: StreamElement<unknown>) => void): void {
    this.#receivers[segment] = receive;
    this.#waiting[segment] = [];
  }

  send(segment: number, element: StreamElement<unknown>): void {
    this.#waiting[segment]?.push(element);
    this.#count++;
    if (segment > this.#last) this.#last = segment;
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    this.#isRunning = true;
    try {
      while (this.#count > 0) {
        const element = this.#waiting[this.#last]?.shift();
        if (element === undefined) {
          this.#last--;
          continue;
        }
        this.#count--;
        this.#receivers[this.#last]?.(element);
      }
    } finally {
      this.#isRunning = false;
    }
  }
}
