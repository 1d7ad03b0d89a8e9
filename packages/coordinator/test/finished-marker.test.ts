import { encodeRecord } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { decodeFinished, encodeFinished } from '../src/finished-marker.js';

const MARKER = {
  job: 'orders',
  lineage: 'l',
  attempt: 3,
  checkpointId: 9,
  finishedAt: 1700000000000,
  keptForUser: [4],
};
const record = (fields: object, version = 2): Uint8Array => encodeRecord('weir-finished', version, fields);

test('comes back as it was written, as JSON that a person can read', () => {
  const bytes = encodeFinished(MARKER);
  expect(decodeFinished(bytes, 'orders')).toEqual(MARKER);
  expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ format: 'weir-finished', version: 2, ...MARKER });
});

test('is not taken for what it was if any bit of it has changed, or its end is missing', () => {
  const bytes = encodeFinished(MARKER);
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = damaged[at]! ^ (1 << bit);
      expect(() => decodeFinished(damaged, 'orders')).toThrow(/^CHECKPOINT_UNREADABLE/);
    }
    expect(() => decodeFinished(bytes.subarray(0, at), 'orders')).toThrow(/^CHECKPOINT_UNREADABLE/);
  }
});

test.each([
  ['nothing', new Uint8Array()],
  ['half of it', encodeFinished(MARKER).subarray(0, 40)],
  ['no object', Buffer.from('null')],
  ['another format', encodeRecord('x', 2, MARKER)],
  ['an older version', record(MARKER, 1)],
  ['a missing field', record({ ...MARKER, attempt: undefined })],
  ['an id that is none', record({ ...MARKER, checkpointId: 2 ** 60 })],
  ['another job', record({ ...MARKER, job: 'payments' })],
])('%s is CHECKPOINT_UNREADABLE, never a guess', (_title, bytes) => {
  expect(() => decodeFinished(bytes, 'orders')).toThrow(
    expect.objectContaining({ code: 'CHECKPOINT_UNREADABLE', recoverable: false }),
  );
});
