import type { Serializer } from '../contracts/serializer.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { isWeirError } from '../errors.js';

/**
 * Another object with the same content, nested objects being the same ones; a frozen array is given as it is. Of a class that only its
 * serializer knows it is what that makes of it; what no serializer takes can be in no checkpoint, and stays one object.
 */
export function copyOfHeld(value: object, serializer: Serializer | undefined): unknown {
  // What is frozen is not extensible: the cheaper question first.
  if (Array.isArray(value)) return !Object.isExtensible(value) && Object.isFrozen(value) ? value : value.slice();
  switch (Object.getPrototypeOf(value)) {
    case Object.prototype:
      return { ...value };
    case null:
      return Object.assign(Object.create(null) as object, value);
    case Map.prototype:
      return new Map(value as Map<unknown, unknown>);
    case Set.prototype:
      return new Set(value as Set<unknown>);
    case Date.prototype:
      return new Date(value as Date);
    default:
      if (value instanceof Uint8Array) return Uint8Array.prototype.slice.call(value);
      return serializer === undefined ? value : throughBytes(value, serializer);
  }
}

function throughBytes(value: object, serializer: Serializer): unknown {
  const out = new ByteWriter();
  try {
    serializer.encode(value, out);
  } catch (error) {
    if (isWeirError(error, 'VALUE_NOT_SERIALIZABLE')) return value;
    throw error;
  }
  return serializer.decode(new ByteReader(out.toBytes()));
}
