import type { SerializerRef } from '../contracts/serializer.js';
import type {
  BlobHandle,
  ChannelStateHandle,
  CommittablesHandle,
  FileBlob,
  KeyGroupRange,
  KeyedStateHandle,
  NativeStateHandle,
  OperatorStateHandle,
  OperatorStateMode,
  RecordedKind,
  SectionsHandle,
  StateMeta,
} from '../contracts/snapshot.js';
import type { ByteReader, ByteWriter } from '../element/bytes.js';

// Bytes of state handles inside `_metadata`, format version 1. A number that stands for a word never changes its meaning.

const STATE_KINDS: readonly RecordedKind[] = ['value', 'list', 'map', 'reducing', 'aggregating'];
const MODES: readonly OperatorStateMode[] = ['list', 'union', 'broadcast'];
const CHANNEL_KINDS: readonly ChannelStateHandle['kind'][] = ['input', 'output', 'loop'];
const BOOLEANS: readonly boolean[] = [false, true];
const INLINE = 0;
const FILE = 1;
const SHARED = 2;
const FORMATS: readonly KeyedStateHandle['format'][] = ['canonical', 'changes', 'native'];
const CRC32 = 0;

export function writeKeyedHandle(out: ByteWriter, handle: KeyedStateHandle): void {
  writeWord(out, FORMATS, handle.format);
  out.varint(handle.range.first);
  out.varint(handle.range.last);
  writeList(out, handle.states, (state) => {
    out.text(state.name);
    writeWord(out, STATE_KINDS, state.kind);
    writeSerializerRef(out, state.serializer);
  });
  if (handle.format === 'native') writeNative(out, handle);
  else writeSections(out, handle);
}

export function readKeyedHandle(from: ByteReader): KeyedStateHandle {
  const format = readWord(from, FORMATS);
  const range = { first: from.varint(), last: from.varint() };
  const states = readList(from, () => ({
    name: from.text(),
    kind: readWord(from, STATE_KINDS),
    serializer: readSerializerRef(from),
  }));
  if (format === 'native') return readNative(from, range, states);
  return {
    range,
    format,
    states,
    groups: readList(from, () => ({ keyGroup: from.varint(), offset: from.varint(), length: from.varint() })),
    blob: readBlobHandle(from),
  };
}

function writeSections(out: ByteWriter, { groups, blob }: SectionsHandle): void {
  writeList(out, groups, (group) => {
    out.varint(group.keyGroup);
    out.varint(group.offset);
    out.varint(group.length);
  });
  writeBlobHandle(out, blob);
}

function writeNative(out: ByteWriter, handle: NativeStateHandle): void {
  out.text(handle.engine);
  out.text(handle.engineVersion);
  writeList(out, Object.entries(handle.options), ([name, value]) => {
    out.text(name);
    out.text(value);
  });
  writeOptional(out, handle.watermark, (watermark) => out.f64(watermark));
  writeList(out, handle.files, ({ name, blob }) => {
    out.text(name);
    writeBlobHandle(out, blob);
  });
}

function readNative(from: ByteReader, range: KeyGroupRange, states: readonly StateMeta[]): NativeStateHandle {
  return {
    range,
    format: 'native',
    engine: from.text(),
    engineVersion: from.text(),
    options: Object.fromEntries(readList(from, () => [from.text(), from.text()])),
    states,
    watermark: readOptional(from, () => from.f64()),
    files: readList(from, () => ({ name: from.text(), blob: readBlobHandle(from) })),
  };
}

export function writeOperatorHandle(out: ByteWriter, handle: OperatorStateHandle): void {
  out.text(handle.name);
  writeWord(out, MODES, handle.mode);
  writeSerializerRef(out, handle.serializer);
  out.varint(handle.count);
  writeBlobHandle(out, handle.blob);
}

export function readOperatorHandle(from: ByteReader): OperatorStateHandle {
  return {
    name: from.text(),
    mode: readWord(from, MODES),
    serializer: readSerializerRef(from),
    count: from.varint(),
    blob: readBlobHandle(from),
  };
}

export function writeCommittablesHandle(out: ByteWriter, handle: CommittablesHandle): void {
  out.text(handle.destination.id);
  out.text(handle.destination.name);
  writeSerializerRef(out, handle.serializer);
  out.varint(handle.newest);
  out.varint(handle.count);
  writeBlobHandle(out, handle.blob);
}

export function readCommittablesHandle(from: ByteReader): CommittablesHandle {
  return {
    destination: { id: from.text(), name: from.text() },
    serializer: readSerializerRef(from),
    newest: from.varint(),
    count: from.varint(),
    blob: readBlobHandle(from),
  };
}

/** `withKeyed`: the file says of each whether keys are in it. */
export function writeChannelHandle(out: ByteWriter, handle: ChannelStateHandle, withKeyed: boolean): void {
  writeWord(out, CHANNEL_KINDS, handle.kind);
  out.text(handle.edge.producer);
  out.varint(handle.edge.output);
  out.text(handle.edge.consumer);
  out.varint(handle.edge.input);
  out.varint(handle.fromSubtask);
  out.varint(handle.toSubtask);
  writeSerializerRef(out, handle.serializer);
  writeBoolean(out, handle.timed);
  if (withKeyed) writeBoolean(out, handle.keyed ?? false);
  out.varint(handle.count);
  writeBlobHandle(out, handle.blob);
}

export function readChannelHandle(from: ByteReader, withKeyed: boolean): ChannelStateHandle {
  return {
    kind: readWord(from, CHANNEL_KINDS),
    edge: { producer: from.text(), output: from.varint(), consumer: from.text(), input: from.varint() },
    fromSubtask: from.varint(),
    toSubtask: from.varint(),
    serializer: readSerializerRef(from),
    timed: readBoolean(from),
    ...(withKeyed && readBoolean(from) && { keyed: true }),
    count: from.varint(),
    blob: readBlobHandle(from),
  };
}

function writeBlobHandle(out: ByteWriter, blob: BlobHandle): void {
  switch (blob.kind) {
    case 'inline':
      out.u8(INLINE);
      out.block(blob.bytes);
      return;
    case 'blob':
      out.u8(FILE);
      writeFile(out, blob);
      return;
    case 'shared':
      out.u8(SHARED);
      out.text(blob.key);
      writeFile(out, blob);
  }
}

function readBlobHandle(from: ByteReader): BlobHandle {
  switch (from.u8()) {
    case INLINE:
      // A copy, so that a small state does not keep the whole `_metadata` in memory.
      return { kind: 'inline', bytes: new Uint8Array(from.block()) };
    case FILE:
      return { kind: 'blob', ...readFile(from) };
    case SHARED:
      return { kind: 'shared', key: from.text(), ...readFile(from) };
    default:
      throw malformed(from, 'kind of blob');
  }
}

type FileFields = Omit<FileBlob, 'kind'>;

function writeFile(out: ByteWriter, { path, length, checksum }: FileFields): void {
  out.text(path);
  out.varint(length);
  out.u8(CRC32);
  out.u32(checksum);
}

function readFile(from: ByteReader): FileFields {
  const path = from.text();
  const length = from.varint();
  if (from.u8() !== CRC32) throw malformed(from, 'checksum algorithm');
  return { path, length, algorithm: 'crc32', checksum: from.u32() };
}

export function writeSerializerRef(out: ByteWriter, ref: SerializerRef): void {
  out.text(ref.id);
  out.varint(ref.version);
}

export function readSerializerRef(from: ByteReader): SerializerRef {
  return { id: from.text(), version: from.varint() };
}

export function writeList<T>(out: ByteWriter, items: readonly T[], write: (item: T) => void): void {
  out.varint(items.length);
  items.forEach(write);
}

export function readList<T>(from: ByteReader, read: () => T): T[] {
  const items: T[] = [];
  for (let rest = from.varint(); rest > 0; rest--) items.push(read());
  return items;
}

/** A word of a closed list, as its place in it. */
export function writeBoolean(out: ByteWriter, value: boolean): void {
  writeWord(out, BOOLEANS, value);
}

export function readBoolean(from: ByteReader): boolean {
  return readWord(from, BOOLEANS);
}

export function writeWord<W>(out: ByteWriter, words: readonly W[], word: W): void {
  out.u8(words.indexOf(word));
}

export function readWord<W>(from: ByteReader, words: readonly W[]): W {
  const word = words[from.u8()];
  if (word === undefined) throw malformed(from, 'word');
  return word;
}

export function writeOptional<T>(out: ByteWriter, value: T | undefined, write: (value: T) => void): void {
  out.u8(value === undefined ? 0 : 1);
  if (value !== undefined) write(value);
}

export function readOptional<T>(from: ByteReader, read: () => T): T | undefined {
  return readBoolean(from) ? read() : undefined;
}

function malformed(from: ByteReader, what: string): RangeError {
  return new RangeError(`unknown ${what} before byte ${String(from.position)}`);
}
