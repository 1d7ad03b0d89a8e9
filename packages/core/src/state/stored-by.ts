import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import { WeirError } from '../errors.js';

/**
 * A serializer that decodes what `stored` wrote: the same one, or its migration from the older version. Throws SERIALIZER_MISMATCH if there is
 * neither. `what` names the stored bytes ("state 'total' of operator 'delays'").
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
