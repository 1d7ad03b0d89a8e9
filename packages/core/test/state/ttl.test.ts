import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';
import type { Serializer } from '../../src/contracts/serializer.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { valueState } from '../../src/state/descriptors.js';
import { stampedSerializer } from '../../src/state/stamped-serializer.js';
import { readerOf } from '../../src/state/stored-by.js';
import { Expiry, checkedTtl, type StateTtl } from '../../src/state/ttl.js';

const expiry = (after: StateTtl['after'], clock = new VirtualClock()): Expiry =>
  new Expiry(checkedTtl({ after }), clock);

test.each<[string, StateTtl]>([
  ['after must be more than 0', { after: 0 }],
  ['after must not be negative', { after: -1 }],
  ['after must be a duration', { after: 'soon' as '1 s' }],
  ["update must be 'on-write' or 'on-read-and-write', but is never", { after: 1, update: 'never' as 'on-write' }],
  ['cleanupPerRecord must be a whole number from 0 to 1000, but is -1', { after: 1, cleanupPerRecord: -1 }],
  ['cleanupPerRecord must be a whole number from 0 to 1000, but is 1001', { after: 1, cleanupPerRecord: 1001 }],
])('a time to live is refused where it is declared: %s', (message, ttl) => {
  expect(() => valueState({ ttl })).toThrow(`CONFIG_INVALID: The time to live of a state: ${message}`);
});

// StateTtlConfig: the value is gone once timestamp + ttl has been reached.
test('a value is over when its time is, not a millisecond earlier, and no younger for a clock that was set back', () => {
  const { isOver } = { isOver: (since: number, now: number) => expiry('1 s').isOver(since, now) };
  expect([isOver(500, 1499), isOver(500, 1500), isOver(500, 0)]).toEqual([false, true, false]);
});

describe('stored values', () => {
  const clock = new VirtualClock(5000);
  const newer: Serializer = {
    ...defaultSerializer,
    version: 2,
    migrate: (from) => ['old', defaultSerializer.decode(from)],
  };
  const stampedOf = (serializer: Serializer): Serializer => stampedSerializer(serializer, expiry(1, clock));
  const bytesOf = (serializer: Serializer, value: unknown): Uint8Array => {
    const out = new ByteWriter();
    serializer.encode(value, out);
    out.u8(77);
    return out.toBytes();
  };
  const readBack = (bytes: Uint8Array, stored: Serializer, declared: Serializer): unknown => {
    const from = new ByteReader(bytes);
    const value = readerOf(declared, stored, 'state').decode(from);
    expect(from.u8(), 'what follows the value').toBe(77);
    return value;
  };

  test('have their stamp in front', () => {
    const stamped = stampedOf(defaultSerializer);
    expect([stamped.id, stamped.version]).toEqual(['ttl:msgpack', 1]);
    expect(readBack(bytesOf(stamped, { since: 123.5, value: { n: 1 } }), stamped, stamped)).toEqual({
      since: 123.5,
      value: { n: 1 },
    });
  });

  test.each<[string, Serializer, Serializer, unknown, unknown]>([
    ['begin their time when they are restored into a state that expires by now', defaultSerializer, stampedOf(defaultSerializer), 'v', { since: 5000, value: 'v' }],
    ['lose their stamp where the state expires no more', stampedOf(defaultSerializer), defaultSerializer, { since: 9, value: 'v' }, 'v'],
    ['migrate under their stamp', stampedOf(defaultSerializer), stampedOf(newer), { since: 9, value: 'v' }, { since: 9, value: ['old', 'v'] }],
    ['migrate and begin their time', defaultSerializer, stampedOf(newer), 'v', { since: 5000, value: ['old', 'v'] }],
    ['migrate and lose their stamp', stampedOf(defaultSerializer), newer, { since: 9, value: 'v' }, ['old', 'v']],
  ])('%s', (_what, stored, declared, value, expected) => {
    expect(readBack(bytesOf(stored, value), stored, declared)).toEqual(expected);
  }); // prettier-ignore

  test('of another serializer are refused, with stamps or without', () => {
    const other: Serializer = { ...defaultSerializer, id: 'other' };
    for (const stored of [other, stampedOf(other)])
      for (const declared of [defaultSerializer, stampedOf(defaultSerializer)])
        expect(() => readerOf(declared, stored, "state 'x'")).toThrow(/SERIALIZER_MISMATCH: state 'x' was stored by/);
  });
});
