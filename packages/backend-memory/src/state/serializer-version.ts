import { WeirError } from '@weir/core/contracts';
import type { Serializer, SerializerRef } from '@weir/core/contracts';

/** A serializer that decodes what `stored` wrote: the state's own, or its migration from an older version. */
export function readerOf(serializer: Serializer, stored: SerializerRef, place: string): Serializer {
  const { id, version } = serializer;
  if (stored.id === id && stored.version === version) return serializer;
  if (stored.id !== id || stored.version > version || serializer.migrate === undefined) {
    throw new WeirError(
      'SERIALIZER_MISMATCH',
      `${place} was written by serializer ${stored.id} version ${stored.version}, which ${id} version ${version} cannot read. ` +
        `Give the state the serializer that wrote it, or a newer version of that with a migrate method.`,
      { recoverable: false },
    );
  }
  return {
    id,
    version,
    encode: (value, out) => serializer.encode(value, out),
    decode: (from) => serializer.migrate!(from, stored.version),
  };
}
