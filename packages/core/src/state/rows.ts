import type { Serializer } from '../contracts/serializer.js';
import type { KeyedSection } from '../contracts/state-backend.js';
import { ByteReader } from '../element/bytes.js';
import type { ByteWriter } from '../element/bytes.js';
import { decodeKeyBlock, encodeKeyBlock } from '../element/key-bytes.js';
import type { Key } from '../element/key.js';
import { readerOf } from './stored-by.js';

// The rows of keyed state, the same for every state backend. Each tells its own length, so a section is rows one after the other:
//   value  key, value; reducing and aggregating state too
//   list   key, count, that many values; the rows of one key add up in their order
//   map    key, map key, value
// Keys are their bytes after a length, values what the state's serializer writes, counts varints.

export function writeValueRow(out: ByteWriter, key: Key, value: unknown, serializer: Serializer): void {
  encodeKeyBlock(key, out);
  serializer.encode(value, out);
}

/** The elements `from` up to, not including, `to`. */
export function writeListRow(
  out: ByteWriter,
  key: Key,
  values: readonly unknown[],
  from: number,
  to: number,
  serializer: Serializer,
): void {
  encodeKeyBlock(key, out);
  out.varint(to - from);
  for (let i = from; i < to; i++) serializer.encode(values[i], out);
}

export function writeMapRow(out: ByteWriter, key: Key, mapKey: Key, value: unknown, serializer: Serializer): void {
  encodeKeyBlock(key, out);
  encodeKeyBlock(mapKey, out);
  serializer.encode(value, out);
}

/** What is done with each row of a section; only the method for the section's kind of state is called. */
export interface RowVisitor {
  value(key: Key, value: unknown): void;
  /** `values` is the visitor's to keep. */
  list(key: Key, values: unknown[]): void;
  map(key: Key, mapKey: Key, value: unknown): void;
}

/**
 * Reads the rows of a section in the order they were written. Throws SERIALIZER_MISMATCH if `serializer` cannot read them, and a RangeError if
 * they are not `count` whole rows.
 */
export function readRows(section: KeyedSection, serializer: Serializer, visit: RowVisitor): void {
  const from = new ByteReader(section.rows);
  const { count, state } = section;
  const stored = readerOf(serializer, state.serializer, `state '${state.name}'`);
  switch (state.kind) {
    case 'value':
    case 'reducing':
    case 'aggregating':
      for (let i = 0; i < count; i++) visit.value(decodeKeyBlock(from), stored.decode(from));
      break;
    case 'list':
      for (let i = 0; i < count; i++) {
        const key = decodeKeyBlock(from);
        const values: unknown[] = [];
        for (let rest = from.varint(); rest > 0; rest--) values.push(stored.decode(from));
        visit.list(key, values);
      }
      break;
    case 'map':
      for (let i = 0; i < count; i++) visit.map(decodeKeyBlock(from), decodeKeyBlock(from), stored.decode(from));
      break;
  }
  if (from.remaining !== 0) throw new RangeError(`${from.remaining} bytes left after ${count} rows of '${state.name}'`);
}
