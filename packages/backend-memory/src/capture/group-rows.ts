import type { ByteWriter } from '@weir/core/contracts';
import type { Hold } from './hold.js';
import { SECTION_BYTES, SMALL_SECTION_BYTES } from './row-buffers.js';
import type { RowBuffers } from './row-buffers.js';

/** Bytes that a capture keeps in memory. */
export interface Tally {
  bytes: number;
}
export interface Rows {
  readonly out: ByteWriter;
  readonly count: number;
  /** `out` is no buffer: it is kept by the page that it is an image of. */
  readonly isImage?: boolean;
}

/** A small buffer holds them. */
const FEW_ROWS = 64;

/** Rows of one state in one key group that a capture has encoded and not yet given away. */
export class GroupRows {
  readonly #buffers: RowBuffers;
  readonly #tally: Tally;
  #out: ByteWriter | undefined;
  #count = 0;
  #counted = 0;
  #full: Rows[] = [];
  #holds: Hold[] = [];
  #areSmall = true;

  constructor(buffers: RowBuffers, tally: Tally) {
    this.#buffers = buffers;
    this.#tally = tally;
  }

  /** Where the next row goes; {@link added} follows it. */
  get out(): ByteWriter {
    return (this.#out ??= this.#buffers.take(this.#areSmall));
  }
  added(): void {
    const { length } = this.out;
    this.#count++;
    this.#tally.bytes += length - this.#counted;
    this.#counted = length;
    if (length >= (this.#areSmall ? SMALL_SECTION_BYTES : SECTION_BYTES)) this.seal();
  }
  /** Where about so many rows go that make a section by themselves; {@link addSection} follows. */
  newSection(rows: number): ByteWriter {
    return this.#buffers.take(rows <= FEW_ROWS);
  }
  addSection(out: ByteWriter, count: number): void {
    if (count === 0) {
      this.#buffers.give(out);
      return;
    }
    this.#tally.bytes += out.length;
    this.#full.push({ out, count });
  }
  addImage(out: ByteWriter, count: number): void {
    this.#full.push({ out, count, isImage: true });
  }
  /** From now on all rows that are left come one after the other. */
  expectMany(): void {
    this.seal();
    this.#areSmall = false;
  }
  /** Makes a section of the rows so far. */
  seal(): void {
    if (this.#out === undefined || this.#count === 0) return;
    this.#full.push({ out: this.#out, count: this.#count });
    this.#out = undefined;
    this.#count = 0;
    this.#counted = 0;
  }
  /** The next full section. It goes back with {@link written}. */
  takeFull(): Rows | undefined {
    return this.#full.shift();
  }
  written({ out, isImage }: Rows): void {
    if (isImage === true) return;
    this.#tally.bytes -= out.length;
    this.#buffers.give(out);
  }

  get hasFull(): boolean {
    return this.#full.length > 0;
  }

  hold(hold: Hold): void {
    this.#holds.push(hold);
  }
  /** What is still held, if anything is. */
  nextHold(): Hold | undefined {
    while (this.#holds[0]?.isDone === true) this.#holds.shift();
    return this.#holds[0];
  }
  /** Adds to the tally memory that only a hold keeps alive, or takes it off again. */
  keepAlive(bytes: number): void {
    this.#tally.bytes += bytes;
  }

  drop(): void {
    for (const hold of this.#holds) hold.drop();
    this.#holds = [];
    this.#full = [];
    this.#out = undefined;
  }
}
