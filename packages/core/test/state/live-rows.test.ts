import { fc, test as property } from '@fast-check/vitest';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import type { KeyedSection } from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { liveRows } from '../../src/state/live-rows.js';
import { readRows, writeListRow, writeMapRow, writeValueRow } from '../../src/state/rows.js';
import { stampedSerializer } from '../../src/state/stamped-serializer.js';
import { Expiry, checkedTtl, type Stamped } from '../../src/state/ttl.js';
import { anyKey } from '../element/keys.js';

const serializer = stampedSerializer(defaultSerializer, new Expiry(checkedTtl({ after: 1 }), new VirtualClock()));
/** What began at an odd time is over. */
const isOver = (since: number): boolean => since % 2 === 1;
const isLive = ({ since }: Stamped): boolean => !isOver(since);

const stamped: fc.Arbitrary<Stamped> = fc.record(
  { since: fc.nat(9), value: fc.oneof(fc.integer(), fc.string()) },
  { noNullPrototype: true },
);

function section(kind: 'value' | 'list' | 'map', count: number, write: (out: ByteWriter) => void): KeyedSection {
  const out = new ByteWriter();
  write(out);
  return { keyGroup: 3, state: { name: 'total', kind, serializer }, count, rows: out.toBytes() };
}

function rowsOf(read: KeyedSection | undefined): (readonly unknown[])[] {
  const rows: (readonly unknown[])[] = [];
  if (read !== undefined)
    readRows(read, serializer, {
      value: (key, value) => rows.push([key, value]),
      list: (key, values) => rows.push([key, values]),
      map: (key, mapKey, value) => rows.push([key, mapKey, value]),
    });
  return rows;
}

property.prop([fc.array(fc.tuple(anyKey, stamped))])('values that are over are left out, and no others', (rows) => {
  const all = section('value', rows.length, (out) => {
    for (const [key, value] of rows) writeValueRow(out, key, value, serializer);
  });
  expect(rowsOf(liveRows(all, isOver))).toEqual(rowsOf(all).filter(([, value]) => isLive(value as Stamped)));
});

property.prop([fc.array(fc.tuple(anyKey, anyKey, stamped))])('so are entries of maps, each by itself', (rows) => {
  const all = section('map', rows.length, (out) => {
    for (const [key, mapKey, value] of rows) writeMapRow(out, key, mapKey, value, serializer);
  });
  expect(rowsOf(liveRows(all, isOver))).toEqual(rowsOf(all).filter(([, , value]) => isLive(value as Stamped)));
});

property.prop([fc.array(fc.tuple(anyKey, fc.array(stamped, { minLength: 1 })))])(
  'so are elements of lists, and lists of which nothing is left',
  (rows) => {
    const all = section('list', rows.length, (out) => {
      for (const [key, values] of rows) writeListRow(out, key, values, 0, values.length, serializer);
    });
    expect(rowsOf(liveRows(all, isOver))).toEqual(
      rowsOf(all)
        .map(([key, values]) => [key, (values as Stamped[]).filter(isLive)] as const)
        .filter(([, values]) => values.length > 0),
    );
  },
);

test('a section of which nothing is over is handed on as it is, one of which nothing is left not at all', () => {
  const all = section('value', 1, (out) => {
    writeValueRow(out, 'a', { since: 1, value: 7 }, serializer);
  });
  expect(liveRows(all, () => false)).toBe(all);
  expect(liveRows(all, () => true)).toBeUndefined();
});
