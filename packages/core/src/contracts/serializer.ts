import type { ByteReader, ByteWriter } from '../element/bytes.js';

/**
 * Turns values into bytes that stand for themselves: decoding needs no other value, no order and no state.
 * `id` and `version` are stored beside every state; a difference without a way to migrate is an error (SERIALIZER_MISMATCH).
 */
export interface Serializer<T = unknown> {
  readonly id: string;
  readonly version: number;
  /** Throws VALUE_NOT_SERIALIZABLE for a value that would not come back equal. */
  encode(value: T, out: ByteWriter): void;
  /** Reads exactly what `encode` wrote. */
  decode(from: ByteReader): T;
  /** Reads what an older version of this serializer wrote; absent: only `version` is readable. */
  migrate?(from: ByteReader, version: number): T;
  /**
   * Reads what `stored` wrote, where it takes more than a comparison of versions to know how; `what` names the stored bytes in the error if it
   * cannot. Absent: `decode` reads its own version and `migrate` older ones. Whoever wraps a serializer wraps this too.
   */
  readerOf?(stored: SerializerRef, what: string): (from: ByteReader) => T;
}

/** Identity of the serializer that wrote some bytes; the `id` also has the version of the values, see state/value-version.ts. */
export interface SerializerRef {
  readonly id: string;
  readonly version: number;
}
