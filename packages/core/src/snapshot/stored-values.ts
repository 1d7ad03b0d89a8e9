import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { BlobHandle } from '../contracts/snapshot.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { readerOf } from '../state/stored-by.js';
import { readingOf } from './unreadable.js';

/** Values as they were when they were encoded: what user code does to them afterwards changes nothing. */
export interface EncodedValues {
  readonly serializer: SerializerRef;
  readonly count: number;
  /** The values one after the other. */
  readonly bytes: Uint8Array;
}

export function encodeValues(values: readonly unknown[], serializer: Serializer): EncodedValues {
  const out = new ByteWriter();
  for (const value of values) serializer.encode(value, out);
  return { serializer: { id: serializer.id, version: serializer.version }, count: values.length, bytes: out.toBytes() };
}

/** Fails with SERIALIZER_MISMATCH if `serializer` cannot read them, with CHECKPOINT_UNREADABLE naming `what` if the bytes are not as written. */
export function decodeValues(stored: EncodedValues, serializer: Serializer, what: string): unknown[] {
  const reader = readerOf(serializer, stored.serializer, what);
  return readingOf(what, () => {
    const from = new ByteReader(stored.bytes);
    const values: unknown[] = [];
    for (let i = 0; i < stored.count; i++) values.push(reader.decode(from));
    if (from.remaining > 0) throw new Error(`${from.remaining} bytes left after ${stored.count} values`);
    return values;
  });
}

/** Puts bytes into a blob of their own; durable when settled. A failed one is removed. */
export async function writeBlob(
  bytes: Uint8Array,
  location: Pick<CheckpointLocation, 'createBlob'>,
): Promise<BlobHandle> {
  const blob = location.createBlob();
  try {
    await blob.write(bytes);
    return await blob.finish();
  } catch (error) {
    await blob.abort();
    throw error;
  }
}
