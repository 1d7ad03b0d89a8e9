import {
  type ByteReader,
  ByteWriter,
  defaultSerializer,
  v8Serializer,
  WeirError,
  type Serializer,
} from '@weir/core/contracts';
import { runSuite, serializerSuite, type SerializerSuiteOptions } from '@weir/testkit';
import { describe, expect, test } from 'vitest';

const refuse = (): never => {
  throw new WeirError('VALUE_NOT_SERIALIZABLE', 'no');
};

/** JSON with a length before it. */
const json: Serializer<Doc> = {
  id: 'json',
  version: 2,
  encode: (value, out) => {
    if (typeof value !== 'object') refuse();
    out.text(JSON.stringify(value));
  },
  decode: (from) => JSON.parse(from.text()) as Doc,
  migrate: (from) => ({ name: from.text() }),
};
interface Doc {
  readonly name: string;
  readonly tags?: readonly string[];
}
/** Values of a class stay of it. */
const copyOf = (value: Doc): Doc =>
  Object.getPrototypeOf(value) === Object.prototype ? structuredClone(value) : value;
const version1 = new ByteWriter();
version1.text('old');

const options: SerializerSuiteOptions<Doc> = {
  serializer: json,
  values: [{ name: '' }, { name: 'a' }, { name: 'a', tags: ['x', 'y'] }],
  refused: [5, () => 5],
  older: [{ version: 1, bytes: version1.toBytes(), value: { name: 'old' } }],
};

describe('a serializer of documents', () => {
  serializerSuite(test, options);
});

describe.each([defaultSerializer, v8Serializer])('the serializer $id', (serializer) => {
  serializerSuite(test, {
    serializer,
    values: [
      undefined,
      null,
      true,
      0,
      -0,
      NaN,
      2 ** 53,
      5n,
      'text',
      'ü',
      '',
      [1, [2]],
      { a: undefined },
      new Map([[{}, 1]]),
      new Set([1]),
      new Date(5),
      Uint8Array.of(1, 2),
    ],
    refused: [() => 5, Symbol('s'), new Promise(() => undefined), { deep: [new WeakMap()] }],
  });
});

describe('the serializer suite finds a serializer', () => {
  const changed = (change: Partial<Serializer<Doc>>): SerializerSuiteOptions<Doc> => ({
    ...options,
    serializer: { ...json, ...change },
  });
  const broken: Record<string, [() => SerializerSuiteOptions<Doc>, string]> = {
    'without an id': [() => changed({ id: '' }), 'says by id and version who wrote the bytes'],
    'that drops what is empty': [
      () => changed({ decode: (from) => ({ ...(JSON.parse(from.text()) as Doc), tags: [] }) }),
      'gives every value back equal',
    ],
    'that reads to the end of the bytes': [
      () =>
        changed({
          encode: (value, out) => out.bytes(Buffer.from(JSON.stringify(value))),
          decode: (from) => JSON.parse(from.utf8(from.remaining)) as Doc,
        }),
      'writes behind what is written already, and reads no more than it wrote',
    ],
    'that starts its output anew': [
      () =>
        changed({
          encode: (value, out) => {
            out.reset();
            json.encode(value, out);
          },
        }),
      'writes behind what is written already, and reads no more than it wrote',
    ],
    'that writes what is repeated as a number': [
      () => {
        const dictionary = (): Serializer<Doc> => {
          const known: string[] = [];
          return {
            ...json,
            encode(value, out) {
              if (typeof value !== 'object') refuse();
              const text = JSON.stringify(value);
              const at = known.indexOf(text);
              out.u8(at + 1);
              if (at < 0) out.text(text);
              if (at < 0) known.push(text);
            },
            decode(from) {
              const at = from.u8();
              return JSON.parse(at === 0 ? from.text() : known[at - 1]!) as Doc;
            },
          };
        };
        return { ...options, serializer: dictionary(), fresh: dictionary };
      },
      'makes bytes that stand for themselves: readable elsewhere, in any order',
    ],
    'that keeps what it has read': [
      () => {
        const cache = new Map<string, Doc>();
        return changed({
          decode(from) {
            const text = from.text();
            const read = cache.get(text) ?? (JSON.parse(text) as Doc);
            cache.set(text, read);
            return read;
          },
        });
      },
      'gives a value of its own each time',
    ],
    'that writes notes into values': [
      () =>
        changed({
          encode: (value, out) => {
            json.encode(value, out);
            if (typeof value === 'object') Object.assign(value, { name: `${value.name}!` });
          },
        }),
      'leaves a value as it was',
    ],
    'that makes do with half of the bytes': [
      () =>
        changed({
          decode: (from) => {
            if (from.remaining === 0) return { name: '' };
            return json.decode(from);
          },
        }),
      'fails where bytes are missing, and goes on with the next value',
    ],
    'that takes everything': [
      () =>
        changed({
          encode: (value, out) => out.text(JSON.stringify(typeof value === 'object' ? value : { name: 'lost' })),
        }),
      'refuses what would not come back equal, and goes on with the next value',
    ],
    'with an id of its own in each process': [
      () => ({ ...options, fresh: () => ({ ...json, id: 'json-2' }) }),
      'says by id and version who wrote the bytes',
    ],
    'with a version that is no whole number': [
      () => changed({ version: 1.5 }),
      'says by id and version who wrote the bytes',
    ],
    'that shares what is nested between its readings': [
      () => {
        const lists = new Map<string, readonly string[]>();
        return changed({
          decode(from) {
            const { tags, ...read } = JSON.parse(from.text()) as Doc;
            if (tags === undefined) return read;
            const shared = lists.get(tags.join()) ?? tags;
            lists.set(tags.join(), shared);
            return { ...read, tags: shared };
          },
        });
      },
      'gives a value of its own each time',
    ],
    'that gives out what was nested in what it wrote': [
      () => {
        const lists = new Map<string, readonly string[]>();
        return changed({
          encode(value, out) {
            json.encode(value, out);
            if (value.tags !== undefined) lists.set(value.name, value.tags);
          },
          decode(from) {
            const { tags, ...read } = JSON.parse(from.text()) as Doc;
            return tags === undefined ? read : { ...read, tags: lists.get(read.name) ?? tags };
          },
        });
      },
      'gives a value of its own each time',
    ],
    'that turns the bytes over where they are': [
      () =>
        changed({
          encode: (value, out) => {
            if (typeof value !== 'object') refuse();
            out.block(Buffer.from(JSON.stringify(value)).reverse());
          },
          decode: (from) => JSON.parse(Buffer.from(from.block().reverse()).toString()) as Doc,
        }),
      'gives values that do not change with the bytes that they were read from',
    ],
    'that is confused once bytes were missing': [
      () => {
        let isInside = false;
        return changed({
          decode(from) {
            const wasInside = isInside;
            isInside = true;
            const read = json.decode(from);
            isInside = false;
            return wasInside ? { name: 'left over' } : read;
          },
        });
      },
      'fails where bytes are missing, and goes on with the next value',
    ],
    'that is confused once it has refused': [
      () => {
        let isSpoilt = false;
        return changed({
          encode(value, out) {
            isSpoilt ||= typeof value !== 'object';
            json.encode(isSpoilt && typeof value === 'object' ? { name: 'left over' } : value, out);
          },
        });
      },
      'refuses what would not come back equal, and goes on with the next value',
    ],
    'that refuses by an error of its own': [
      () =>
        changed({
          encode: (value, out) => {
            if (typeof value !== 'object') throw new TypeError('no document');
            json.encode(value, out);
          },
        }),
      'refuses what would not come back equal, and goes on with the next value',
    ],
    'that counts characters where it writes bytes': [
      () => ({
        ...changed({
          encode: (value, out) => {
            if (typeof value !== 'object') refuse();
            const text = JSON.stringify(value);
            out.u32(text.length);
            out.bytes(Buffer.from(text));
          },
          decode: (from) => JSON.parse(from.utf8(from.u32())) as Doc,
        }),
        values: [{ name: 'ü' }],
      }),
      'gives every value back equal',
    ],
    'that writes when it is too late': [
      () => {
        const later = async (value: Doc, out: ByteWriter): Promise<void> => {
          await Promise.resolve();
          json.encode(value, out);
        };
        const encode: (value: Doc, out: ByteWriter) => unknown = later;
        return changed({ encode });
      },
      'gives every value back equal',
    ],
    'that reads in a promise': [
      () => changed({ decode: ((from: ByteReader) => Promise.resolve(json.decode(from))) as never }),
      'gives every value back equal',
    ],
    'that gives the fields of a class without the class': [
      () => ({
        ...options,
        values: [
          new (class Named {
            readonly name: string = 'a';
          })(),
        ],
      }),
      'gives every value back equal',
    ],
    'that reads on behind what an older version wrote': [
      () => changed({ migrate: (from) => ({ name: from.text(), ...(from.remaining > 0 && from.u8() > 0 ? {} : {}) }) }),
      'reads what its older versions wrote, and no more than that',
    ],
    'that has forgotten its older version': [
      () => changed({ migrate: (from) => json.decode(from) }),
      'reads what its older versions wrote, and no more than that',
    ],
    'that cannot read its older version': [
      () => changed({ migrate: undefined } as never),
      'reads what its older versions wrote, and no more than that',
    ],
  };

  // Values of their own for each suite: one of the serializers writes into them.
  test.each(Object.entries(broken))('%s', async (_, [make, title]) => {
    const made = make();
    const { failed } = await runSuite((t) => serializerSuite(t, { ...made, values: made.values.map(copyOf) }));
    expect(failed.map((failure) => failure.title)).toContain(title);
  });

  test('that gives out the bytes which it reads', async () => {
    const aliasing: Serializer<Uint8Array> = {
      id: 'raw',
      version: 1,
      encode: (value, out) => out.block(value),
      decode: (from) => from.block(),
    };
    const values = [Buffer.from('abc')];
    const { failed } = await runSuite((t) => serializerSuite(t, { serializer: aliasing, values }));
    expect(failed.map((failure) => failure.title)).toEqual([
      'gives values that do not change with the bytes that they were read from',
    ]);
  });
});
