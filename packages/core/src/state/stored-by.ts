import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { ByteReader } from '../element/bytes.js';
import { WeirError } from '../errors.js';
import { isStamped, readSince, unstampedRef } from './stamped-serializer.js';
import type { Stamped } from './ttl.js';

/**
 * A serializer that decodes what `stored` wrote: the same one, or its migration from the older version. A state that expires now and did not
 * before, or the other way round, gets its values stamped with the present, or without their stamps. Throws SERIALIZER_MISMATCH if there is
 * none. `what` names the stored bytes ("state 'total' of operator 'delays'").
 */
export function readerOf<T>(
  serializer: Serializer<T>,
  stored: SerializerRef,
  what: string,
): Pick<Serializer<T>, 'decode'> {
  const unstamped = unstampedRef(stored);
  if (isStamped(serializer)) {
    const reader = readerOf(serializer.unstamped, unstamped ?? stored, what);
    const decode =
      unstamped === undefined
        ? (from: ByteReader): Stamped => serializer.stamp(reader.decode(from))
        : (from: ByteReader): Stamped => ({ since: readSince(from), value: reader.decode(from) });
    // A stamped serializer is one of stamped values.
    return { decode: decode as (from: ByteReader) => T };
  }
  if (unstamped !== undefined) {
    const reader = readerOf(serializer, unstamped, what);
    return {
      decode(from) {
        readSince(from);
        return reader.decode(from);
      },
    };
  }
  if (serializer.readerOf !== undefined) return { decode: serializer.readerOf(stored, what) };
  if (stored.id === serializer.id) {
    if (stored.version === serializer.version) return serializer;
    if (stored.version < serializer.version && serializer.migrate !== undefined) {
      return { decode: (from) => serializer.migrate!(from, stored.version) };
    }
  }
  throw new WeirError(
    'SERIALIZER_MISMATCH',
    `${what} was stored by serializer ${nameOf(stored)}, which ${nameOf(serializer)} cannot read. ` +
      `Use the serializer that wrote it, or one of the same id with a 'migrate' from that version.`,
    { recoverable: false },
  );
}

function nameOf(ref: SerializerRef): string {
  return `'${ref.id}' version ${ref.version}`;
}
