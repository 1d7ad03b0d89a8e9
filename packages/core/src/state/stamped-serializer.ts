import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { ByteReader } from '../element/bytes.js';
import type { Expiry, Stamped } from './ttl.js';

// A value that expires is stored as
//   when its time began (f64), length (u32), what the state's serializer wrote
// so that whoever looks for what has expired need not decode it.

/** In front of the id of the serializer that wrote the value. */
const PREFIX = 'ttl:';

export interface StampedSerializer extends Serializer {
  /** Of the value without its stamp. */
  readonly unstamped: Serializer;
  stamp(value: unknown): Stamped;
}

/** What older versions wrote, stored-by.ts reads. */
export function stampedSerializer(unstamped: Serializer, expiry: Expiry): StampedSerializer {
  return {
    id: PREFIX + unstamped.id,
    version: unstamped.version,
    unstamped,
    stamp: (value) => expiry.stamp(value),
    encode(stored, out) {
      // The handles of the state put nothing else into it.
      const { since, value } = stored as Stamped;
      out.f64(since);
      const at = out.length;
      out.u32(0);
      unstamped.encode(value, out);
      out.patchU32(at, out.length - at - 4);
    },
    decode: (from): Stamped => ({ since: readSince(from), value: unstamped.decode(from) }),
  };
}

export function isStamped(serializer: Serializer): serializer is StampedSerializer {
  return 'unstamped' in serializer;
}

/** The serializer of the values alone, if it was with stamps that they were stored. */
export function unstampedRef({ id, version }: SerializerRef): SerializerRef | undefined {
  return id.startsWith(PREFIX) ? { id: id.slice(PREFIX.length), version } : undefined;
}

/** Gives when the time of the next value began; behind it is the value. */
export function readSince(from: ByteReader): number {
  const since = from.f64();
  from.u32();
  return since;
}

/** Reads over a value with its stamp. Gives when its time began. */
export function skipStamped(from: ByteReader): number {
  const since = from.f64();
  from.bytes(from.u32());
  return since;
}
