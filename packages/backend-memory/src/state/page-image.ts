import type { ByteWriter, Serializer } from '@weir/core/contracts';

/** Who has yet to write an image. */
interface Holder {
  readonly isOver: boolean;
}

/**
 * The rows of a page as captures write them, kept from one to the next. Where neither keys nor the lengths of values have changed, the values
 * alone are written over those that are there: a fraction of the time, and of the memory that passes through the processor's caches.
 */
export class PageImage {
  private readonly bytes: ByteWriter;
  /** Where each value begins, and in how many bytes it is. */
  private readonly valueAt: Uint32Array;
  private readonly sizes: Uint8Array;
  private holder: Holder | undefined;

  constructor(bytes: ByteWriter, valueAt: Uint32Array, sizes: Uint8Array) {
    this.bytes = bytes;
    this.valueAt = valueAt;
    this.sizes = sizes;
  }

  /** Writes the values as they are now. False if one of them takes another number of bytes than before: the image is good for nothing then. */
  update(values: readonly unknown[], serializer: Serializer): boolean {
    const { bytes, valueAt, sizes } = this;
    for (let at = 0; at < values.length; at++) {
      const from = valueAt[at]!;
      bytes.length = from;
      serializer.encode(values[at], bytes);
      if (bytes.length - from !== sizes[at]) return false;
    }
    return true;
  }

  /** The rows. They stay as they are until `holder` is over. */
  heldBy(holder: Holder): ByteWriter {
    this.holder = holder;
    return this.bytes;
  }
  get isHeld(): boolean {
    return this.holder?.isOver === false;
  }
}
