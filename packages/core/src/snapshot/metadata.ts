import { crc32 } from 'node:zlib';
import type { CheckpointMetadata } from '../contracts/metadata.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { WeirError } from '../errors.js';
import { readList, writeList } from './handle-bytes.js';
import { FEATURES, featuresOf } from './metadata-features.js';
import { readBody, writeBody } from './metadata-body.js';
import { faultOfMetadata } from './metadata-fault.js';
import { readingOf, unreadable } from './unreadable.js';

// `_metadata`: magic, length of the whole (u32), format version (u16), required features, body, crc32 of all before (u32). Magic, length and
// checksum stay where they are in every version, so that damage is told from something newer.

const MAGIC = Buffer.from('weirmeta', 'latin1');
const LENGTH_AT = MAGIC.length;
const CHECKSUM_BYTES = 4;
const FORMAT_VERSION = 1;
/** What a file may need beyond version 1. Each is a name that a reader must know to read the rest rightly. */
const KNOWN_FEATURES: ReadonlySet<string> = new Set(FEATURES);

/**
 * The bytes of `_metadata`. Equal metadata gives equal bytes. PROTOCOL_VIOLATION for what nobody could restore: better no checkpoint than one that
 * turns out to be none.
 */
export function encodeMetadata(metadata: CheckpointMetadata): Uint8Array {
  const fault = faultOfMetadata(metadata);
  if (fault !== undefined) {
    const { checkpointId, job } = metadata;
    const message = `What was acknowledged for checkpoint ${String(checkpointId)} of job ${job} could not be restored: it ${fault}.`;
    throw new WeirError('PROTOCOL_VIOLATION', message);
  }
  const out = new ByteWriter(4096);
  out.bytes(MAGIC);
  out.u32(0);
  out.u16(FORMAT_VERSION);
  const features = featuresOf(metadata);
  writeList(out, features, (feature) => out.text(feature));
  writeBody(out, metadata, features);
  out.patchU32(LENGTH_AT, out.length + CHECKSUM_BYTES);
  out.u32(crc32(out.view()));
  return out.toBytes();
}

/**
 * Reads what {@link encodeMetadata} wrote. `place` is where the bytes come from, for the message. Throws CHECKPOINT_UNREADABLE for bytes
 * that are damaged, cut short or too long, of an unknown format version, that need a feature this version does not have, or that make no sense.
 */
export function decodeMetadata(bytes: Uint8Array, place: string): CheckpointMetadata {
  const what = `_metadata at ${place}`;
  return readingOf(what, () => {
    const from = new ByteReader(bytes);
    checkFrame(from, bytes, what);
    const body = new ByteReader(bytes, from.position, bytes.length - CHECKSUM_BYTES);
    const features = readFeatures(body, what);
    const metadata = readBody(body, features);
    if (body.remaining !== 0)
      throw unreadable(what, `has ${body.remaining} bytes that mean nothing before its checksum`);
    const fault = faultOfMetadata(metadata);
    if (fault !== undefined) throw unreadable(what, fault);
    return metadata;
  });
}

function checkFrame(from: ByteReader, bytes: Uint8Array, what: string): void {
  if (bytes.length < MAGIC.length || !MAGIC.equals(from.bytes(MAGIC.length))) {
    throw unreadable(what, `does not begin like one (${bytes.length} bytes)`);
  }
  if (bytes.length < LENGTH_AT + 4) throw unreadable(what, `is cut short at ${bytes.length} bytes`);
  const length = from.u32();
  if (bytes.length !== length) {
    const fault = bytes.length < length ? 'is cut short' : 'has something after its end';
    throw unreadable(what, `${fault}: ${bytes.length} bytes where it says ${length}`);
  }
  const stored = new ByteReader(bytes, length - CHECKSUM_BYTES).u32();
  const actual = crc32(bytes.subarray(0, length - CHECKSUM_BYTES));
  if (stored !== actual)
    throw unreadable(what, `is damaged: its checksum is ${hex(actual)} where it says ${hex(stored)}`);
}

function readFeatures(from: ByteReader, what: string): readonly string[] {
  const version = from.u16();
  if (version !== FORMAT_VERSION) {
    throw unreadable(what, `has format version ${version}, this weir reads version ${FORMAT_VERSION}`);
  }
  const features = readList(from, () => from.text());
  const unknown = features.filter((feature) => !KNOWN_FEATURES.has(feature));
  if (unknown.length > 0) throw unreadable(what, `needs '${unknown.join("', '")}', which this weir does not know`);
  return features;
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}
