import type { Serializer } from '../contracts/serializer.js';
import type { KeyedSection } from '../contracts/state-backend.js';
import { ByteReader } from '../element/bytes.js';
import type { ByteWriter } from '../element/bytes.js';
import { decodeKeyBlock, encodeKeyBlock } from '../element/key-bytes.js';
import type { Key } from '../element/key.js';
import type { RowVisitor } from './rows.js';
import { writeListRow, writeMapRow, writeValueRow } from './rows.js';
import { readerOf } from './stored-by.js';

// What has changed in keyed state since an earlier capture (Flink: the state changelog). A row says what happened, and to what:
//   1 put           value: key, value; list: key, count, that many values, which are all there is; map: key, map key, value
//   2 append        list: key, count, that many values, which come after those that are there
//   3 remove        key, with all there is of it
//   4 remove entry  map: key, map key; a map without entries is none
// Keys, values and counts are written as in state/rows.ts. Rows hold in their order.

const PUT = 1;
const APPEND = 2;
const REMOVE = 3;
const REMOVE_ENTRY = 4;

export function writeValueChange(out: ByteWriter, key: Key, value: unknown, serializer: Serializer): void {
  out.u8(PUT);
  writeValueRow(out, key, value, serializer);
}

/** The list is now the elements `from` up to, not including, `to`. */
export function writeListChange(
  out: ByteWriter,
  key: Key,
  values: readonly unknown[],
  from: number,
  to: number,
  serializer: Serializer,
): void {
  out.u8(PUT);
  writeListRow(out, key, values, from, to, serializer);
}

/** The elements `from` up to, not including, `to` have been added to the list. */
export function writeListGrowth(
  out: ByteWriter,
  key: Key,
  values: readonly unknown[],
  from: number,
  to: number,
  serializer: Serializer,
): void {
  out.u8(APPEND);
  writeListRow(out, key, values, from, to, serializer);
}

export function writeMapChange(out: ByteWriter, key: Key, mapKey: Key, value: unknown, serializer: Serializer): void {
  out.u8(PUT);
  writeMapRow(out, key, mapKey, value, serializer);
}

/** A value, list or map is gone. */
export function writeRemoval(out: ByteWriter, key: Key): void {
  out.u8(REMOVE);
  encodeKeyBlock(key, out);
}

export function writeEntryRemoval(out: ByteWriter, key: Key, mapKey: Key): void {
  out.u8(REMOVE_ENTRY);
  encodeKeyBlock(key, out);
  encodeKeyBlock(mapKey, out);
}

/** What is done with each change of a section. What is put comes as a row; a list that is put takes the place of the one that was there. */
export interface ChangeVisitor extends RowVisitor {
  /** `values` is the visitor's to keep. */
  append(key: Key, values: unknown[]): void;
  remove(key: Key): void;
  removeEntry(key: Key, mapKey: Key): void;
}

/**
 * Reads the changes of a section in the order they were written. Throws SERIALIZER_MISMATCH if `serializer` cannot read them, and a RangeError if
 * they are not `count` whole changes of that kind of state.
 */
export function readChanges(section: KeyedSection, serializer: Serializer, visit: ChangeVisitor): void {
  const from = new ByteReader(section.rows);
  const { count, state } = section;
  const stored = readerOf(serializer, state.serializer, `state '${state.name}'`);
  for (let i = 0; i < count; i++) {
    const change = from.u8();
    const key = decodeKeyBlock(from);
    if (change === REMOVE) visit.remove(key);
    else if (change === REMOVE_ENTRY && state.kind === 'map') visit.removeEntry(key, decodeKeyBlock(from));
    else if (change === APPEND && state.kind === 'list') visit.append(key, readValues(from, stored));
    else if (change === PUT) readPut(from, key, section, stored, visit);
    else
      throw new RangeError(
        `change ${String(i)} of ${state.kind} state '${state.name}' is of unknown kind ${String(change)}`,
      );
  }
  if (from.remaining !== 0) {
    throw new RangeError(`${String(from.remaining)} bytes left after ${String(count)} changes of '${state.name}'`);
  }
}

function readPut(
  from: ByteReader,
  key: Key,
  { state }: KeyedSection,
  stored: Pick<Serializer, 'decode'>,
  visit: ChangeVisitor,
): void {
  switch (state.kind) {
    case 'value':
    case 'reducing':
    case 'aggregating':
      visit.value(key, stored.decode(from));
      break;
    case 'list':
      visit.list(key, readValues(from, stored));
      break;
    case 'map':
      visit.map(key, decodeKeyBlock(from), stored.decode(from));
      break;
  }
}

function readValues(from: ByteReader, stored: Pick<Serializer, 'decode'>): unknown[] {
  const values: unknown[] = [];
  for (let rest = from.varint(); rest > 0; rest--) values.push(stored.decode(from));
  return values;
}
