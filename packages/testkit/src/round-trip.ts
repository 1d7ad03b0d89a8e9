import { ByteReader, ByteWriter, defaultSerializer, type Serializer } from '@weir/core/contracts';

/** A value as it comes out of a checkpoint. Fails with VALUE_NOT_SERIALIZABLE if it would not survive one. */
export function roundTrip<V>(value: V, serializer: Serializer = defaultSerializer): V {
  const out = new ByteWriter();
  serializer.encode(value, out);
  // What a serializer gives back is equal to what it was given.
  return serializer.decode(new ByteReader(out.toBytes())) as V;
}
