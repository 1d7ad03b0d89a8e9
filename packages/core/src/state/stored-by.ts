import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import { WeirError } from '../errors.js';
import { isStamped, readSince, unstampedRef } from './stamped-serializer.js';

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
  if (stored.id === serializer.id) {
    if (stored.version === serializer.version) return serializer;
    if (stored.version < serializer.version && serializer.migrate !== undefined) {
      return { decode: (from) => serializer.migrate!(from, stored.version) };
    }
  }
  const storedUnstamped = unstampedRef(stored);
  if (isStamped(serializer) && storedUnstamped === undefined) {
    const reader = readerOf(serializer.unstamped, stored, what);
    // A stamped serializer is one of stamped values.
    return { decode: (from) => serializer.stamp(reader.decode(from)) as T };
  }
  if (!isStamped(serializer) && storedUnstamped !== undefined) {
    const reader = readerOf(serializer, storedUnstamped, what);
    return {
      decode(from) {
        readSince(from);
        return reader.decode(from);
      },
    };
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
