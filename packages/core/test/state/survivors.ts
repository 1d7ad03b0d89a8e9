export function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { value };
  return value;
}

const own = { x: 1 };
const loop: Record<string, unknown> = { name: 'loop' };
loop['self'] = loop;
const ring: unknown[] = [1];
ring.push({ ring });
const family = new Map<unknown, unknown>([['own', own]]);
family.set(own, new Set([family, own]));
const bytes = new Uint8Array([1, 2, 3, 4]);

/** What both serializers give back as it was. Those of golden/values-msgpack-v1.json must not change. */
export const SURVIVORS: Record<string, unknown> = {
  undefined: undefined,
  null: null,
  false: false,
  true: true,
  'the empty string': '',
  'a string beyond ASCII': 'naïve 東京 😀\0',
  'a long string': 'é'.repeat(100_000),
  '0': 0,
  '-0': -0,
  NaN: NaN,
  Infinity: Infinity,
  '-Infinity': -Infinity,
  'the smallest number': 5e-324,
  'the largest safe integer': Number.MAX_SAFE_INTEGER,
  'just above 32 bits': [2 ** 31, 2 ** 32, -(2 ** 31) - 1],
  '0n': 0n,
  'a bigint of 64 bits': [2n ** 63n, -(2n ** 63n), 2n ** 64n - 1n],
  'a bigint beyond 64 bits': [2n ** 64n, -(2n ** 64n), 7n ** 500n, -(7n ** 500n)],
  'undefined and null in fields': { a: undefined, b: null },
  'undefined in an array': [undefined, null, undefined],
  'the order of properties': { b: 1, a: 2, '10': 3, '9': 4 },
  'names that objects have anyway': { constructor: 1, toString: 2, hasOwnProperty: 3, toJSON: 4, then: 5, '': 6 },
  '-0 in every place': { a: -0, b: [0, -0, { c: -0 }], m: new Map([['z', -0]]), e: new Error('x', { cause: -0 }) },
  'a Map': new Map<unknown, unknown>([
    ['a', 1],
    [2, undefined],
    [NaN, null],
    [{ k: 1 }, new Map()],
  ]),
  'a Set': new Set([1, 'a', { b: 2 }, new Set()]),
  'a Date': new Date(1_700_000_000_123),
  'a Date before 1970': new Date(-1),
  'the last Date': new Date(8.64e15),
  'a Date that is none': new Date(NaN),
  'a RegExp': /a[/]b\s/dgimsuy,
  'an Error': new Error('failed', { cause: new TypeError('why', { cause: { code: 1 } }) }),
  'the errors of the language': [
    new EvalError('a'),
    new RangeError('b'),
    new ReferenceError('c'),
    new SyntaxError('d'),
    new URIError(''),
  ],
  'an ArrayBuffer': new Uint8Array([1, 2, 3]).buffer,
  'a DataView': new DataView(new ArrayBuffer(3)),
  'a Buffer': Buffer.from('weir'),
  'typed arrays': [
    new Int8Array([-1]),
    new Uint8Array([255]),
    new Uint8ClampedArray([300]),
    new Int16Array([-2]),
    new Uint16Array([2]),
    new Int32Array([-3]),
    new Uint32Array([3]),
    new Float32Array([1.5, -0, NaN]),
    new Float64Array([0.1, -0, NaN]),
    new BigInt64Array([-1n]),
    new BigUint64Array([2n ** 64n - 1n]),
  ],
  'a view of a part of a buffer': new Uint16Array(new ArrayBuffer(8), 2, 2),
  'views side by side in one buffer': [new Uint8Array(bytes.buffer, 0, 2), new Uint8Array(bytes.buffer, 2, 2)],
  'the same view twice': [bytes, bytes],
  'empty things': [{}, [], new Map(), new Set(), new Uint8Array(0), new ArrayBuffer(0)],
  'a reference shared': [own, own, { own }],
  'an object that contains itself': loop,
  'an array that contains itself': ring,
  'Map and Set that contain each other': family,
  'a thousand objects of one shape': Array.from({ length: 1000 }, (_, i) => ({ id: i, tag: { a: i } })),
  'a thousand objects of different shapes': Array.from({ length: 1000 }, (_, i) => ({
    [`key${i}`]: i,
    [`tag${i % 7}`]: 1,
  })),
  'an object of 70,000 properties': Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`k${i}`, i])),
  'what is nested 256 deep': nested(256),
};
