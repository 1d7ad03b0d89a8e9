import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeRecord } from '../../src/snapshot/json-record.js';
import { decodeMetadata } from '../../src/snapshot/metadata.js';
import { decodeReference, encodeReference, isSame, referenceTo } from '../../src/snapshot/savepoint-reference.js';
import { expectAllDamageIsNoticed } from './damage.js';

const stored = readFileSync(new URL('../golden/metadata-v1.bin', import.meta.url));
const metadata = decodeMetadata(stored, 'golden');
const REFERENCE = referenceTo(metadata, '/mine/s');

describe('the reference to a savepoint', () => {
  test('says what it was told, whatever the names', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.string(), fc.string(), (attempt, checkpointId, job, pointer) => {
        const reference = { lineage: 'a', attempt, checkpointId, job, pointer };
        expect(decodeReference(encodeReference(reference), 'chk-4')).toEqual(reference);
      }),
    );
  });

  test('is about the savepoint whose metadata it was made from', () => {
    expect(REFERENCE).toMatchObject({ job: metadata.job, pointer: '/mine/s' });
    expect(isSame(REFERENCE, metadata)).toBe(true);
  });

  test('is told from metadata', () => {
    expect(decodeReference(stored, 'chk-1')).toBeUndefined();
    expect(decodeReference(new Uint8Array(0), 'chk-1')).toBeUndefined();
  });

  test.each([
    ['cut short', encodeReference(REFERENCE).subarray(0, -5)],
    ['of an older version', encodeRecord('weir-savepoint-reference', 1, REFERENCE)],
    ['something else', encodeRecord('weir-finished', 2, REFERENCE)],
    ['without sense', encodeRecord('weir-savepoint-reference', 2, { ...REFERENCE, attempt: '1' })],
    ['of an id that is none', encodeRecord('weir-savepoint-reference', 2, { ...REFERENCE, checkpointId: 0.5 })],
    ['changed', Buffer.from(Buffer.from(encodeReference(REFERENCE)).toString().replace('/mine/s', '/mine/t'))],
  ])('that is %s is an error that names its place', (_what, bytes) => {
    expect(() => decodeReference(bytes, '/state/chk-1')).toThrow(/^CHECKPOINT_UNREADABLE.*\/state\/chk-1/);
  });

  test('is refused by name if any bit of it has changed, or its end is missing', () => {
    // As a reader does: what is no reference is metadata.
    const read = (bytes: Uint8Array): unknown => decodeReference(bytes, 'chk-4') ?? decodeMetadata(bytes, 'chk-4');
    expectAllDamageIsNoticed(encodeReference(REFERENCE), read, /chk-4/);
  });
});
