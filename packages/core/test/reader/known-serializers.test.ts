import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { ByteWriter } from '../../src/element/bytes.js';
import { entriesOfSections } from '../../src/reader/entries-of-sections.js';
import { KnownSerializers } from '../../src/reader/known-serializers.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { writeValueRow } from '../../src/state/rows.js';
import { stampedSerializer } from '../../src/state/stamped-serializer.js';
import { Expiry, checkedTtl } from '../../src/state/ttl.js';

test('state that expires is read without its stamps', () => {
  const serializer = stampedSerializer(defaultSerializer, new Expiry(checkedTtl({ after: 1 }), new VirtualClock()));
  const rows = new ByteWriter();
  writeValueRow(rows, 'a', { since: 5, value: 7 }, serializer);
  const section = {
    keyGroup: 0,
    state: { name: 'x', kind: 'value', serializer: { id: serializer.id, version: serializer.version } },
    count: 1,
    rows: rows.toBytes(),
  } as const;
  const known = new KnownSerializers().require(section.state.serializer, "state 'x'");
  expect([...entriesOfSections([section], known)]).toEqual([{ kind: 'value', key: 'a', value: 7 }]);
});

test('of a serializer that is not known, the message names the one that is to be given', () => {
  expect(() => new KnownSerializers().require({ id: 'ttl:other', version: 3 }, "state 'x'")).toThrow(
    /SERIALIZER_MISMATCH: state 'x' was stored by serializer 'other' version 3/,
  );
});
