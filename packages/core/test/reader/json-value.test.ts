import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromJsonValue, toJsonValue, type JsonValue } from '../../src/reader/json-value.js';
import { differenceOf } from '../state/same-value.js';
import { SURVIVORS } from '../state/survivors.js';
import { anyGraph, anyPrimitive } from '../state/values.js';

/** Through the text, as in a file. */
function roundTrip(value: unknown): unknown {
  return fromJsonValue(JSON.parse(JSON.stringify(toJsonValue(value))) as JsonValue);
}

describe('a value as JSON', () => {
  // What views share of one buffer is nothing that JSON could tell, nor do serializers.
  test.each(Object.keys(SURVIVORS))('gives back %s', (name) => {
    expect(differenceOf(SURVIVORS[name], roundTrip(SURVIVORS[name]))).toBe(undefined);
  });

  test('gives back any value that the serializers take', () => {
    fc.assert(
      fc.property(fc.oneof(anyPrimitive, anyGraph), (value) => {
        expect(differenceOf(value, roundTrip(value))).toBe(undefined);
      }),
    );
  });

  test('gives back any JSON, names that begin with a dollar sign included', () => {
    const names = fc.oneof(fc.constantFrom('$ref', '$id', '$', '$date', '__proto__', '1'), fc.string());
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        anyPrimitive,
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(names, tie('json'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(json, (value) => {
        expect(differenceOf(value, roundTrip(value))).toBe(undefined);
      }),
    );
  });

  test('is the value itself where JSON has it', () => {
    const plain = { a: [1, 'x', null, true, { b: {} }], c: 0.5 };
    expect(toJsonValue(plain)).toEqual(plain);
  });

  test.each<[string, unknown, JsonValue]>([
    ['undefined', undefined, { $undefined: true }],
    [
      'numbers that JSON has not',
      [NaN, -0, Infinity],
      [{ $number: 'NaN' }, { $number: '-0' }, { $number: 'Infinity' }],
    ],
    ['a bigint', 7n, { $bigint: '7' }],
    ['a Date', new Date(0), { $date: '1970-01-01T00:00:00.000Z' }],
    ['a RegExp', /a/g, { $regexp: ['a', 'g'] }],
    ['a Map', new Map([[1, 'a']]), { $map: [[1, 'a']] }],
    ['a Set', new Set([1]), { $set: [1] }],
    ['bytes', Uint8Array.of(1, 2), { $bytes: ['Uint8Array', 'AQI='] }],
    ['an Error', new TypeError('no', { cause: 1 }), { $error: ['TypeError', 'no', 1] }],
    ['an array with holes', [, 1, ,], { $array: [3, [1, 1]] }],
    [
      'a name with a dollar sign',
      { $ref: 1, a: 2 },
      {
        $object: [
          ['$ref', 1],
          ['a', 2],
        ],
      },
    ],
  ])('writes %s as documented', (_, value, json) => {
    expect(toJsonValue(value)).toEqual(json);
  });

  test('says of an object that occurs again which it is', () => {
    const own = { x: 1 };
    expect(toJsonValue([own, own])).toEqual([{ $id: [1, { x: 1 }] }, { $ref: 1 }]);
  });

  test('is refused for what has none, in either direction', () => {
    class Money {
      readonly cents = 1;
    }
    expect(() => toJsonValue({ a: () => 1 })).toThrow('a function has no notation in JSON');
    expect(() => toJsonValue([new Money()])).toThrow('an instance of Money has no notation in JSON');
    for (const json of [{ $nothing: 1 }, { $ref: 7 }, { $map: [], a: 1 }, { $id: 1 }, { $bytes: ['Money', ''] }])
      expect(() => fromJsonValue(json as JsonValue)).toThrow(TypeError);
  });
});
