import { expect, test } from 'vitest';
import { decodeFinished, encodeFinished } from '../src/finished-marker.js';

const MARKER = { job: 'orders', lineage: 'l', attempt: 3, checkpointId: 9, finishedAt: 1700000000000 };
const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const whole = { format: 'weir-finished', version: 1, ...MARKER };

test('comes back as it was written, as JSON that a person can read', () => {
  const bytes = encodeFinished(MARKER);
  expect(decodeFinished(bytes, 'orders')).toEqual(MARKER);
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(whole);
});

test.each([
  ['nothing', new Uint8Array()],
  ['half of it', encodeFinished(MARKER).subarray(0, 40)],
  ['no object', json(null)],
  ['another format', json({ ...whole, format: 'x' })],
  ['a newer version', json({ ...whole, version: 2 })],
  ['a missing field', json({ ...whole, attempt: undefined })],
  ['another job', json({ ...whole, job: 'payments' })],
])('%s is CHECKPOINT_UNREADABLE, never a guess', (_title, bytes) => {
  expect(() => decodeFinished(bytes, 'orders')).toThrow(
    expect.objectContaining({ code: 'CHECKPOINT_UNREADABLE', recoverable: false }),
  );
});
