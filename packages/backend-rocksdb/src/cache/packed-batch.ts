import { ByteWriter } from '@weir/core/contracts';
import { littleEndian } from '../little-endian.js';

/** Large enough for the way to another thread and back to be worth it, and encoded well within a slice. */
export const BATCH_BYTES: number = 256 * 1024;

const PUT = 1;
const DELETE = 2;
/** Operation, column family, length of the key, length of the value. */
const HEAD_BYTES = 10;
/** All rows of weir are in the family that every database has. */
const FAMILY = 0;

/** Operations as `RocksDatabase.write` takes them. Each is begun, its key and value are written to `out`, and it is ended. */
export class PackedBatch {
  readonly out: ByteWriter = new ByteWriter(4096);
  #start = 0;
  #valueAt: number | undefined;

  get length(): number {
    return this.out.length;
  }

  /** The key follows, then {@link value}. */
  put(): ByteWriter {
    return this.#begin(PUT);
  }
  /** The key follows. */
  remove(): ByteWriter {
    return this.#begin(DELETE);
  }
  /** The key is written; the value follows. */
  value(): void {
    this.#valueAt = this.out.length;
  }
  /** The operation is complete. Gives the length of its value. */
  end(): number {
    const { length } = this.out;
    const valueAt = this.#valueAt ?? length;
    this.out.patchU32(this.#start + 2, littleEndian(valueAt - this.#start - HEAD_BYTES));
    this.out.patchU32(this.#start + 6, littleEndian(length - valueAt));
    return length - valueAt;
  }
  /** Takes back all that was written since the batch had this length. */
  cutTo(length: number): void {
    this.out.length = length;
  }
  reset(): void {
    this.out.reset();
  }

  #begin(operation: number): ByteWriter {
    const { out } = this;
    this.#start = out.length;
    this.#valueAt = undefined;
    out.u8(operation);
    out.u8(FAMILY);
    out.u32(0);
    out.u32(0);
    return out;
  }
}
