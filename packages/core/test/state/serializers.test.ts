import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Serializer } from '../../src/contracts/serializer.js';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';
import { isWeirError } from '../../src/errors.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { v8Serializer } from '../../src/state/v8-serializer.js';
import { differenceOf } from './same-value.js';
import { SURVIVORS, nested } from './survivors.js';
import { anyGraph, anyPrimitive } from './values.js';

function encoded(serializer: Serializer, value: unknown): Uint8Array {
  const out = new ByteWriter(1);
  serializer.encode(value, out);
  return out.toBytes();
}

function roundTrip(serializer: Serializer, value: unknown): unknown {
  const from = new ByteReader(encoded(serializer, value));
  const copy = serializer.decode(from);
  expect(from.remaining).toBe(0);
  return copy;
}

function refusalOf(serializer: Serializer, value: unknown): string {
  try {
    encoded(serializer, value);
  } catch (error) {
    if (!isWeirError(error, 'VALUE_NOT_SERIALIZABLE')) throw error;
    expect(error.recoverable).toBe(false);
    return error.message;
  }
  return 'accepted';
}

class Account {
  balance = 1;
}
class Amounts extends Array<number> {}
class Index extends Map<string, number> {}
class Rejected extends Error {}

const errorLoop = new Error('loop');
errorLoop.cause = { errorLoop };
const own = { x: 1 };
const bytes = new Uint8Array([1, 2, 3, 4]);

/** Would not come back as they were. Each with what the refusal says of it. */
const REFUSED: [name: string, value: unknown, says: string][] = [
  ['a function', { items: [1, 2, 3, { cb: () => 1 }] }, 'value.items[3].cb is a function'],
  ['a class', { type: Account }, 'value.type is a function'],
  ['a symbol', [Symbol('s')], 'value[0] is a symbol'],
  [
    'an instance of a class',
    { a: new Account() },
    'value.a is Account, an instance of a class that no serializer was given for',
  ],
  ['an instance of a subclass of Array', new Amounts(1, 2), 'value is Amounts'],
  ['an instance of a subclass of Map', [new Index()], 'value[0] is Index'],
  ['an instance of a subclass of Error', { e: new Rejected('x') }, 'value.e is Rejected'],
  ['an AggregateError', new AggregateError([1], 'x'), 'value is AggregateError'],
  ['a promise', { p: Promise.resolve() }, 'value.p is Promise'],
  ['a URL', new URL('http://a'), 'value is URL'],
  ['a boxed number', { n: new Number(1) }, 'value.n is Number'],
  ['a boxed string', { s: new String('x') }, 'value.s is'],
  ['a WeakMap', new WeakMap(), 'value is WeakMap'],
  ['shared memory', new SharedArrayBuffer(1), 'value is SharedArrayBuffer'],
  ['a view of shared memory', { v: new Uint8Array(new SharedArrayBuffer(1)) }, 'value.v is a view of shared memory'],
  [
    'an object without prototype',
    { groups: Object.assign(Object.create(null), { a: 1 }) },
    'value.groups is an object without prototype',
  ],
  ['an object with another object as prototype', Object.create(own), 'value is Object'],
  [
    'a getter',
    {
      nested: {
        get total() {
          throw new Error('never run');
        },
      },
    },
    'value.nested.total is a getter or setter',
  ],
  [
    'a property that is not enumerable',
    Object.defineProperty({}, 'hidden', { value: 1 }),
    'value.hidden is not enumerable',
  ],
  [
    'a property named by a symbol',
    { a: { [Symbol('tag')]: 1 } },
    'value.a has a property named by a symbol, Symbol(tag)',
  ],
  ['an array with a name', 'ab'.match(/b/), 'value is an array with properties of its own'],
  ['a Map with a property', Object.assign(new Map(), { extra: 1 }), 'value is Map with properties of its own (extra)'],
  [
    'a Date with a property',
    [Object.assign(new Date(0), { extra: 1 })],
    'value[0] is Date with properties of its own (extra)',
  ],
  [
    'an Error with a property',
    Object.assign(new Error('x'), { code: 1 }),
    'value is Error with properties of its own (code)',
  ],
  [
    'a RegExp in the middle of a search',
    (() => {
      const r = /a/g;
      r.test('aa');
      return { r };
    })(),
    'value.r is a RegExp with a lastIndex',
  ],
  ['an Error that leads back to itself', errorLoop, 'value.cause.errorLoop is an Error that leads back to itself'],
  [
    'two views of the same bytes',
    { a: bytes, b: new DataView(bytes.buffer) },
    'value.b shares its bytes with another part',
  ],
  ['a view together with its buffer', [bytes.buffer, bytes], 'value[1] shares its bytes'],
  [
    'a buffer that can grow',
    new (ArrayBuffer as new (n: number, o: object) => ArrayBuffer)(1, { maxByteLength: 2 }),
    'value is backed by a resizable buffer',
  ],
  ['what is nested too deep', nested(257), 'is nested more than 256 deep'],
  ['something under a name that is no identifier', { 'a b': { ü: () => 1 } }, 'value["a b"].ü is a function'],
  ['something in a Map under a string', new Map([['k', () => 1]]), 'value.get("k") is a function'],
  ['something in a Map under a number', new Map([[7, () => 1]]), 'value.get(7) is a function'],
  ['something in a Map under an object', new Map([[{}, () => 1]]), 'value.value(0) is a function'],
  ['something in a Map as a key', new Map([[() => 1, 1]]), 'value.key(0) is a function'],
  ['something in a Set', new Set([1, () => 1]), 'value.element(1) is a function'],
  ['something in a cause', new Error('x', { cause: { f: () => 1 } }), 'value.cause.f is a function'],
  [
    'an Error whose message is no string',
    Object.defineProperty(new Error(), 'message', { value: 1 }),
    'value.message is not a string',
  ],
];

/** What only V8 gives back as it was. */
const V8_ONLY: [name: string, value: unknown, says: string][] = [
  ['a lone surrogate', 'a\ud800', 'value is a string with a lone surrogate'],
  ['a lone surrogate inside', { a: ['\udc00'] }, 'value.a[0] is a string with a lone surrogate'],
  ['a lone surrogate in a name', { a: { '\ud800': 1 } }, 'value.a has a property whose name has a lone surrogate'],
  ['a hole', { a: [1, , 3] }, 'value.a[1] is a hole in an array'],
  ['a property named __proto__', JSON.parse('{"a":{"__proto__":1}}'), 'value.a has a property named __proto__'],
  ['a property named __keys__', { __keys__: 1 }, 'value has a property named __keys__'],
];

describe.each([
  ['msgpack', defaultSerializer],
  ['v8', v8Serializer],
])("the serializer '%s'", (id, serializer) => {
  test('has its id and version 1', () => {
    expect(serializer).toMatchObject({ id, version: 1 });
  });

  test.each(Object.keys(SURVIVORS))('gives back %s', (name) => {
    expect(differenceOf(SURVIVORS[name], roundTrip(serializer, SURVIVORS[name]))).toBe(undefined);
  });

  test.each(REFUSED.map(([name, value, says]) => ({ name, value, says })))('refuses $name', ({ value, says }) => {
    expect(refusalOf(serializer, value)).toContain(says);
  });

  test('gives back every primitive', () => {
    fc.assert(
      fc.property(anyPrimitive, (value) => {
        expect(differenceOf(value, roundTrip(serializer, value))).toBe(undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test('gives back every Date and every bigint', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.date(),
          fc.bigInt({ min: -(2n ** 600n), max: 2n ** 600n }),
          fc.integer({ min: 0, max: 600 }).map((n) => -(2n ** BigInt(n))),
        ),
        (value) => {
          expect(differenceOf([value], roundTrip(serializer, [value]))).toBe(undefined);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test('gives back objects of all kinds that share each other and lead back to each other', () => {
    fc.assert(
      fc.property(anyGraph, (value) => {
        expect(differenceOf(value, roundTrip(serializer, value))).toBe(undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test('writes each value so that it stands for itself, wherever it is read', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyGraph, anyPrimitive), { minLength: 2, maxLength: 8 }), (values) => {
        const parts = values.map((value) => encoded(serializer, value));
        // The last one first, from the middle of other bytes.
        const from = new ByteReader(Buffer.concat([...parts.reverse(), Buffer.from('rest')]));
        for (const value of values.reverse()) expect(differenceOf(value, serializer.decode(from))).toBe(undefined);
        expect(from.remaining).toBe(4);
      }),
      { numRuns: 300 },
    );
  });

  test('gives back bytes that are nobody else’s', () => {
    const value = { buffer: Buffer.alloc(8, 1), array: new Uint8Array(8).fill(1), floats: new Float64Array([1]) };
    const stored = encoded(serializer, value);
    const copy = serializer.decode(new ByteReader(stored));
    stored.fill(0xff);
    expect(differenceOf(value, copy)).toBe(undefined);
  });

  test('goes on after a refusal as if nothing had happened', () => {
    expect(refusalOf(serializer, [own, () => 1])).toContain('value[1] is a function');
    expect(roundTrip(serializer, [own])).toEqual([own]);
  });
});

test.each(V8_ONLY.map(([name, value, says]) => ({ name, value, says })))(
  'the default serializer refuses $name, which v8 gives back',
  ({ value, says }) => {
    expect(refusalOf(defaultSerializer, value)).toContain(says);
    expect(differenceOf(value, roundTrip(v8Serializer, value))).toBe(undefined);
  },
);

test('the default serializer keeps small after a large value', () => {
  const before = encoded(defaultSerializer, { a: 1 });
  expect(roundTrip(defaultSerializer, ['x'.repeat(5_000_000)])).toEqual(['x'.repeat(5_000_000)]);
  expect(encoded(defaultSerializer, { a: 1 })).toEqual(before);
});

test('the default serializer writes bare values in few bytes', () => {
  const lengths = [undefined, null, true, 7, 0.5, 'SFO'].map((value) => encoded(defaultSerializer, value).length);
  expect(lengths).toEqual([1, 1, 1, 5, 9, 5]);
});

test('the default serializer does not read what it never writes', () => {
  expect(() => defaultSerializer.decode(new ByteReader(Uint8Array.of(99)))).toThrow(/CHECKPOINT_UNREADABLE.*99/);
});
