import { ByteWriter } from '@weir/core/contracts';
import type { Serializer } from '@weir/core/contracts';
import type { GroupRows } from '../capture/group-rows.js';
import type { PageSource, Preserved } from '../capture/preserved.js';
import { SECTION_BYTES } from '../capture/row-buffers.js';
import { PageImage } from './page-image.js';
import { FREE } from './page.js';
import type { Page } from './page.js';
import type { Table } from './table.js';

/** An image is one section. */
const MOST_BYTES = 2 * SECTION_BYTES;
/** A value in more bytes is no number of any usual serializer. */
const MOST_VALUE_BYTES = 255;
/** Lengths of values change too often for an image to be worth it. */
const MOST_MISFITS = 3;
/** Room for a key of some length, and a number. */
const USUAL_ROW = 24;

/** Pages of nothing but numbers, which a capture takes whole. */
export class NumberPages implements PageSource<unknown> {
  readonly #table: Table<unknown>;
  readonly #state: number;
  readonly #serializer: Serializer;

  constructor(table: Table<unknown>, state: number, serializer: Serializer) {
    this.#table = table;
    this.#state = state;
    this.#serializer = serializer;
  }

  takesAll(page: Page<unknown>): boolean {
    for (const value of page.values) if (typeof value !== 'number') return false;
    return true;
  }
  hasImage({ image }: Page<unknown>): boolean {
    return image?.isHeld === false && this.#table.keepsKeys;
  }

  append(page: Page<unknown>, preserved: Preserved): void {
    const rows = preserved.rows(page.group, this.#state);
    const image = page.parted < preserved.version ? this.#imageOf(page) : undefined;
    if (image === undefined) this.#appendRows(page, preserved.version, rows);
    else rows.addImage(image.heldBy(preserved), page.values.length);
  }

  taken(page: Page<unknown>): void {
    if (page.image !== undefined || !this.#table.keepsKeys) return;
    if (page.keysAre === 'known') this.#makeImage(page);
    else if (page.keysAre === 'new') page.keysAre = 'known';
  }

  /** Up to date, if there is one. */
  #imageOf(page: Page<unknown>): PageImage | undefined {
    const { image } = page;
    if (image === undefined || image.isHeld) return undefined;
    // Should the serializer throw, or a value have another length.
    page.image = undefined;
    if (!this.#table.keepsKeys) return undefined;
    if (image.update(page.values, this.#serializer)) return (page.image = image);
    if (++page.misfits === MOST_MISFITS) page.keysAre = 'unfit';
    return undefined;
  }

  #makeImage(page: Page<unknown>): void {
    page.keysAre = 'unfit';
    try {
      page.image = this.#newImage(page);
    } catch {
      // The captures have failed by the same value, which is nothing to the record at which that came to light.
    }
    if (page.image !== undefined) page.keysAre = 'known';
  }

  /** Undefined if the page has a free place, or does not fit into a section. */
  #newImage(page: Page<unknown>): PageImage | undefined {
    const { stamps, values } = page;
    const { length } = values;
    if (stamps.includes(FREE)) return undefined;
    const bytes = new ByteWriter(length * USUAL_ROW);
    const valueAt = new Uint32Array(length);
    const sizes = new Uint8Array(length);
    for (let at = 0; at < length; at++) {
      this.#table.writeKey(page, at, bytes);
      valueAt[at] = bytes.length;
      this.#serializer.encode(values[at], bytes);
      const size = bytes.length - valueAt[at]!;
      if (bytes.length > MOST_BYTES || size > MOST_VALUE_BYTES) return undefined;
      sizes[at] = size;
    }
    return new PageImage(bytes, valueAt, sizes);
  }

  /** Those that the capture does not hold yet. */
  #appendRows(page: Page<unknown>, version: number, rows: GroupRows): void {
    const { stamps, values } = page;
    const { length } = values;
    for (let at = 0; at < length;) {
      const out = rows.newSection(length - at);
      let count = 0;
      for (; at < length && out.length < SECTION_BYTES; at++) {
        if (stamps[at]! >= version) continue;
        this.#table.writeKey(page, at, out);
        this.#serializer.encode(values[at], out);
        count++;
      }
      rows.addSection(out, count);
    }
  }
}
