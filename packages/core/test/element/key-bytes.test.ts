import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';
import { decodeKey, decodeKeyBlock, encodeKey, encodeKeyBlock, keyBytes } from '../../src/element/key-bytes.js';
import { keyGroupOf } from '../../src/element/key-group.js';
import { hashKey, murmur3 } from '../../src/element/key-hash.js';
import { keyIdentity } from '../../src/element/key-identity.js';
import type { Key } from '../../src/element/key.js';
import { anyKey } from './keys.js';

type WrittenKey =
  | { readonly string: string }
  | { readonly number: string }
  | { readonly bigint: string }
  | { readonly boolean: boolean }
  | { readonly tuple: readonly WrittenKey[] };
interface Vector {
  readonly key: WrittenKey;
  readonly bytes: string;
  readonly hash: number;
  readonly groupOf128: number;
  readonly groupOf32767: number;
}

/** Computed by another implementation in another language. Never changes: stored state is found by these. */
const VECTORS = JSON.parse(readFileSync(new URL('../golden/keys.json', import.meta.url), 'utf8')) as readonly Vector[];

function keyOf(written: WrittenKey): Key {
  if ('string' in written) return written.string;
  if ('number' in written) return Number(written.number);
  if ('bigint' in written) return BigInt(written.bigint);
  if ('boolean' in written) return written.boolean;
  return written.tuple.map(keyOf);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** -0 is the key 0. */
function normal(key: Key): Key {
  if (typeof key === 'object') return key.map(normal);
  return key === 0 ? 0 : key;
}

describe('the vectors', () => {
  test.each(VECTORS.map((vector) => [JSON.stringify(vector.key).slice(0, 60), vector] as const))(
    '%s has its bytes, hash and key groups',
    (_, vector) => {
      const key = keyOf(vector.key);
      const bytes = keyBytes(key);
      expect(hex(bytes)).toBe(vector.bytes);
      expect(hashKey(key)).toBe(vector.hash);
      expect(keyGroupOf(key, 128)).toBe(vector.groupOf128);
      expect(keyGroupOf(key, 32767)).toBe(vector.groupOf32767);
      expect(decodeKey(new ByteReader(bytes), bytes.length)).toEqual(key);
    },
  );

  test('hold every kind of key', () => {
    expect(new Set(VECTORS.map((vector) => parseInt(vector.bytes.slice(0, 2), 16)))).toEqual(
      new Set([1, 2, 3, 4, 5, 6, 7, 8]),
    );
  });
});

describe('key bytes', () => {
  test('give the key back', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const bytes = keyBytes(key);
        const from = new ByteReader(bytes);
        expect(decodeKey(from, bytes.length)).toEqual(normal(key));
        expect(from.remaining).toBe(0);
      }),
    );
  });

  test('are equal exactly for equal keys, and so are identities', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const isSame = JSON.stringify(tagged(a)) === JSON.stringify(tagged(b));
        expect(hex(keyBytes(a)) === hex(keyBytes(b))).toBe(isSame);
        expect(new Set([keyIdentity(a), keyIdentity(b)]).size).toBe(isSame ? 1 : 2);
      }),
      { numRuns: 2000 },
    );
  });

  test('hash alike whether they are written out or hashed in place', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(hashKey(key)).toBe(murmur3(keyBytes(key)));
      }),
      { numRuns: 2000 },
    );
  });

  test('of a block come after their length, one block after the other', () => {
    fc.assert(
      fc.property(fc.array(anyKey), (keys) => {
        const out = new ByteWriter(1);
        for (const key of keys) encodeKeyBlock(key, out);
        const plain = new ByteWriter(1);
        for (const key of keys) plain.block(keyBytes(key));
        expect(hex(out.view())).toBe(hex(plain.view()));
        const from = new ByteReader(out.view());
        expect(keys.map(() => decodeKeyBlock(from))).toEqual(keys.map(normal));
        expect(from.remaining).toBe(0);
      }),
    );
  });

  test('that no key has are refused with a RangeError, and never read as a key with other bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        let key: Key;
        try {
          key = decodeKey(new ByteReader(bytes), bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        // Bytes that are not UTF-8 become replacement characters; whoever stores keys has a checksum against that.
        if (hex(keyBytes(key)) !== hex(bytes)) expect(JSON.stringify(tagged(key))).toContain('\ufffd');
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['an empty key', ''],
    ['an unknown tag', '09'],
    ['NaN', '047ff8000000000000'],
    ['an integer written as a double', '043ff0000000000000'],
    ['-0', '048000000000000000'],
    ['a bigint with a leading zero', '0600ff'],
    ['-0n', '07'],
    ['a boolean with a payload', '0100'],
    ['an integer cut short', '030000'],
    ['a tuple element that reaches past its end', '08050561'],
    [
      'tuples nested for ever',
      '08'.repeat(1) + [...Array(40).keys()].map((i) => (79 - 2 * i).toString(16).padStart(2, '0') + '08').join(''),
    ],
  ])('refuse %s', (_, bytes) => {
    const buffer = Buffer.from(bytes, 'hex');
    expect(() => decodeKey(new ByteReader(buffer), buffer.length)).toThrow(RangeError);
  });

  test('of one kind never run into those of the next element of a tuple', () => {
    expect(hex(keyBytes(['ab', 'c']))).not.toBe(hex(keyBytes(['a', 'bc'])));
  });

  test('are written into a writer that already holds something', () => {
    const out = new ByteWriter();
    out.u8(7);
    encodeKey('é', out);
    expect(hex(out.view())).toBe('0705c3a9');
  });
});

/** A form in which keys are equal exactly if they are the same key. */
function tagged(key: Key): unknown {
  if (typeof key === 'object') return key.map(tagged);
  return [typeof key, String(key)];
}
