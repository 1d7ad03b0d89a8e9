import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { Committable, CommittableIdentity, CommittablesHandle, DestinationRef } from '../contracts/snapshot.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import type { CheckpointId } from '../element/ids.js';
import type { CapturedCommittables } from '../operator/operator.js';
import { readerOf } from '../state/stored-by.js';
import { writeBlob } from './stored-values.js';
import { readingOf } from './unreadable.js';

export interface EncodedCommittables {
  readonly destination: DestinationRef;
  readonly serializer: SerializerRef;
  readonly newest: CheckpointId;
  readonly count: number;
  /** Identity, then payload, one committable after the other. */
  readonly bytes: Uint8Array;
}

/** From here on the captured payloads may change. */
export function encodeCommittables({
  destination: { id, name },
  serializer,
  values,
}: CapturedCommittables): EncodedCommittables {
  const out = new ByteWriter();
  let newest = 0;
  for (const { identity, payload } of values) {
    writeIdentity(out, identity);
    serializer.encode(payload, out);
    newest = Math.max(newest, identity.checkpointId);
  }
  return {
    destination: { id, name },
    serializer: { id: serializer.id, version: serializer.version },
    newest,
    count: values.length,
    bytes: out.toBytes(),
  };
}

/** Durable when settled. */
export async function writeCommittables(
  encoded: EncodedCommittables,
  location: Pick<CheckpointLocation, 'createBlob'>,
): Promise<CommittablesHandle> {
  const { destination, serializer, newest, count } = encoded;
  return { destination, serializer, newest, count, blob: await writeBlob(encoded.bytes, location) };
}

/**
 * `bytes` is what `handle.blob` stands for; `what` names them in messages. Fails with SERIALIZER_MISMATCH if `serializer` cannot read them, with
 * CHECKPOINT_UNREADABLE if they are not as written.
 */
export function readCommittables(
  handle: CommittablesHandle,
  bytes: Uint8Array,
  serializer: Serializer,
  what: string,
): Committable[] {
  const reader = readerOf(serializer, handle.serializer, what);
  return readingOf(what, () => {
    const from = new ByteReader(bytes);
    const committables: Committable[] = [];
    for (let i = 0; i < handle.count; i++)
      committables.push({ identity: readIdentity(from), payload: reader.decode(from) });
    if (from.remaining > 0) throw new Error(`${from.remaining} bytes left after ${handle.count} committables`);
    return committables;
  });
}

function writeIdentity(out: ByteWriter, identity: CommittableIdentity): void {
  out.text(identity.job);
  out.text(identity.lineage);
  out.text(identity.sink);
  out.varint(identity.attempt);
  out.varint(identity.checkpointId);
  out.varint(identity.subtask);
  out.varint(identity.sequence);
}

function readIdentity(from: ByteReader): CommittableIdentity {
  return {
    job: from.text(),
    lineage: from.text(),
    sink: from.text(),
    attempt: from.varint(),
    checkpointId: from.varint(),
    subtask: from.varint(),
    sequence: from.varint(),
  };
}
