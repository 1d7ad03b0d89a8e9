import type { DecodedLines } from '../format/decoder.js';
import type { BytePosition } from './position.js';

const LF = 10;

/** Some lines of a file, decoded, of which a part was handed over. */
export class DecodedRegion<T> {
  readonly #bytes: Uint8Array;
  readonly #decoded: DecodedLines<T>;
  readonly #start: BytePosition;
  #next = 0;
  /** Up to where in the bytes lines were counted, and which line begins there. */
  #counted = 0;
  #line: number;

  constructor(bytes: Uint8Array, decoded: DecodedLines<T>, start: BytePosition) {
    this.#bytes = bytes;
    this.#decoded = decoded;
    this.#start = start;
    this.#line = start.line;
  }

  /** Nothing is left in it. */
  get isDone(): boolean {
    return this.#next === this.#decoded.records.length;
  }

  take(max: number): readonly T[] {
    const { records } = this.#decoded;
    const from = this.#next;
    this.#next = Math.min(records.length, from + max);
    return from === 0 && this.isDone ? records : records.slice(from, this.#next);
  }

  /** After the last record that was taken; with the last one the empty and malformed lines behind it are done with too. */
  position(): BytePosition {
    const { ends, consumed } = this.#decoded;
    const end = this.isDone ? consumed : this.#next === 0 ? 0 : ends[this.#next - 1]!;
    this.#line += lineEnds(this.#bytes, this.#counted, end);
    this.#counted = end;
    return { kind: 'byte', offset: this.#start.offset + end, line: this.#line };
  }

  /** Number of the line that begins at a place in the bytes. */
  lineAt(place: number): number {
    return this.#start.line + lineEnds(this.#bytes, 0, place);
  }
}

function lineEnds(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}
