import { crc32 } from 'node:zlib';
import type { SerializerRef } from '../contracts/serializer.js';
import type { StateMeta } from '../contracts/snapshot.js';
import type { KeyedSection } from '../contracts/state-backend.js';
import type { ByteReader, ByteWriter } from '../element/bytes.js';
import type { KeyGroup } from '../element/ids.js';

// The canonical format of keyed state: ascending key groups, each a mark with the watermark followed by the group's sections.
//   mark     1, key group (u16), 0 | 1 and the watermark (f64), crc32 (u32) of all these
//   section  2, key group (u16), state id, codec id, codec version, count, length, crc32 (u32) of all these and the rows, rows
// Ids, versions, counts and lengths are varints. Everything tells its own length, so that the bytes can be read without an index.

const MARK = 1;
const SECTION = 2;

export type KeyedPart =
  | { readonly kind: 'mark'; readonly keyGroup: KeyGroup; readonly watermark: number | undefined }
  | { readonly kind: 'section'; readonly section: KeyedSection };

export function writeMark(out: ByteWriter, keyGroup: KeyGroup, watermark: number | undefined): void {
  const start = out.length;
  out.u8(MARK);
  out.u16(keyGroup);
  out.u8(watermark === undefined ? 0 : 1);
  if (watermark !== undefined) out.f64(watermark);
  out.u32(crc32(out.view().subarray(start)));
}

/** Everything of a section but its rows, which follow. */
export function writeSectionHead(out: ByteWriter, section: KeyedSection, stateId: number): void {
  const start = out.length;
  const { id, version } = section.state.serializer;
  out.u8(SECTION);
  out.u16(section.keyGroup);
  out.varint(stateId);
  out.text(id);
  out.varint(version);
  out.varint(section.count);
  out.varint(section.rows.length);
  out.u32(crc32(section.rows, crc32(out.view().subarray(start))));
}

/** The mark or section at the reader's position in `bytes`; rows are a view. Throws an Error that says what is wrong with it. */
export function readPart(from: ByteReader, bytes: Uint8Array, states: readonly StateMeta[]): KeyedPart {
  const start = from.position;
  const kind = from.u8();
  const keyGroup = from.u16();
  switch (kind) {
    case MARK: {
      const watermark = from.u8() === 0 ? undefined : from.f64();
      const actual = crc32(bytes.subarray(start, from.position));
      verify(actual, from.u32(), start);
      return { kind: 'mark', keyGroup, watermark };
    }
    case SECTION: {
      const stateId = from.varint();
      const serializer = { id: from.text(), version: from.varint() };
      const count = from.varint();
      const length = from.varint();
      const head = crc32(bytes.subarray(start, from.position));
      const stored = from.u32();
      const rows = from.bytes(length);
      verify(crc32(rows, head), stored, start);
      return {
        kind: 'section',
        section: { keyGroup, state: stateOf(states, stateId, serializer, start), count, rows },
      };
    }
    default:
      throw new Error(`no section begins at byte ${start}`);
  }
}

function verify(actual: number, stored: number, start: number): void {
  if (actual !== stored) throw new Error(`checksum of the section at byte ${start} differs`);
}

function stateOf(states: readonly StateMeta[], id: number, serializer: SerializerRef, start: number): StateMeta {
  const state = states[id];
  if (state === undefined || state.serializer.id !== serializer.id || state.serializer.version !== serializer.version) {
    throw new Error(`section at byte ${start} is of a state that its handle does not know`);
  }
  return state;
}
