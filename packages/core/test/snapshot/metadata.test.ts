import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CheckpointMetadata, OperatorMetadata, SubtaskState } from '../../src/contracts/metadata.js';
import type {
  BlobHandle,
  ChannelStateHandle,
  KeyGroupRange,
  KeyedStateHandle,
  OperatorStateHandle,
} from '../../src/contracts/snapshot.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { MAX_MAX_PARALLELISM, keyGroupRange } from '../../src/element/key-group.js';
import { KEY_TYPES } from '../../src/element/key-type.js';
import { decodeMetadata, encodeMetadata } from '../../src/snapshot/metadata.js';
import { expectAllDamageIsNoticed } from './damage.js';

const plain = { noNullPrototype: true } as const;
const count = fc.maxSafeNat();
const text = fc.string({ unit: 'binary', maxLength: 60 });
const bytes = fc.uint8Array({ maxLength: 60 });
const serializer = fc.record({ id: text, version: fc.nat() }, plain);
const blob: fc.Arbitrary<BlobHandle> = fc.oneof(
  fc.record({ kind: fc.constant('inline' as const), bytes }, plain),
  fc.record(
    {
      kind: fc.constant('blob' as const),
      path: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
      length: count,
      algorithm: fc.constant('crc32' as const),
      checksum: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    },
    plain,
  ),
);
const few = fc.nat({ max: 1000 });
const named = <T>(one: fc.Arbitrary<T & { readonly name: string }>): fc.Arbitrary<(T & { readonly name: string })[]> =>
  fc.uniqueArray(one, { maxLength: 3, selector: ({ name }) => name });
const states = named(fc.record({ name: text, kind: fc.constantFrom('value', 'list', 'map'), serializer }, plain));

/** Sections of some of these key groups, one behind the other. */
const keyedOf = (range: KeyGroupRange): fc.Arbitrary<KeyedStateHandle> =>
  fc
    .tuple(
      states,
      fc.uniqueArray(fc.integer({ min: range.first, max: range.last }), { maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 3, maxLength: 3 }),
      fc.nat(),
    )
    .map(([of, keyGroups, parts, checksum]) => {
      let end = 0;
      const groups = keyGroups
        .toSorted((a, b) => a - b)
        .map((keyGroup, i) => {
          const [gap, length] = parts[i] as [number, number];
          const offset = end + gap;
          end = offset + length;
          return { keyGroup, offset, length };
        });
      const file = { kind: 'blob' as const, path: 'x', length: end, algorithm: 'crc32' as const, checksum };
      return { range, format: 'canonical' as const, states: of, groups, blob: file };
    });
const operatorState: fc.Arbitrary<OperatorStateHandle> = fc.record(
  { name: text, mode: fc.constantFrom('list', 'union', 'broadcast'), serializer, count: few, blob },
  plain,
);
const channelState: fc.Arbitrary<ChannelStateHandle> = fc
  .record(
    {
      kind: fc.constantFrom('input', 'output', 'loop'),
      edge: fc.record({ producer: text, output: few, consumer: text, input: few }, plain),
      fromSubtask: few,
      toSubtask: few,
      serializer,
      timed: fc.boolean(),
      count: few,
      blob,
    },
    plain,
  )
  .chain((handle) => fc.boolean().map((keyed) => (keyed ? { ...handle, keyed } : handle)));
const subtaskOf = (index: number, parallelism: number, maxParallelism: number): fc.Arbitrary<SubtaskState> =>
  fc.record(
    {
      index: fc.constant(index),
      keyed: fc.array(keyedOf(keyGroupRange(index, parallelism, maxParallelism)), { maxLength: 2 }),
      operator: named(operatorState),
      keyTypes: fc.option(fc.subarray([...KEY_TYPES]), { nil: undefined }),
      committables: fc.option(
        fc.record(
          { destination: fc.record({ id: text, name: text }, plain), serializer, newest: count, count: few, blob },
          plain,
        ),
        { nil: undefined },
      ),
      channels: fc.array(channelState, { maxLength: 2 }),
    },
    plain,
  );
const indexesOf = (parallelism: number, maxLength: number): fc.Arbitrary<number[]> =>
  fc
    .uniqueArray(fc.nat({ max: parallelism - 1 }), { maxLength: Math.min(maxLength, parallelism) })
    .map((indexes) => indexes.toSorted((a, b) => a - b));
const statusOf = (parallelism: number): fc.Arbitrary<Pick<OperatorMetadata, 'status' | 'finishedSubtasks'>> =>
  indexesOf(parallelism, 3).map((finishedSubtasks) => {
    if (finishedSubtasks.length === 0) return { status: 'running' };
    return finishedSubtasks.length === parallelism
      ? { status: 'finished' }
      : { status: 'partly-finished', finishedSubtasks };
  });
const operatorOf = (maxParallelism: number): fc.Arbitrary<OperatorMetadata> =>
  fc.integer({ min: 1, max: maxParallelism }).chain((parallelism) =>
    fc
      .tuple(
        statusOf(parallelism),
        indexesOf(parallelism, 3).chain((indexes) =>
          fc.tuple(...indexes.map((index) => subtaskOf(index, parallelism, maxParallelism))),
        ),
        fc.record(
          { uid: text, enumerator: fc.option(fc.record({ serializer, bytes }, plain), { nil: undefined }) },
          plain,
        ),
      )
      .map(([how, subtasks, { uid, enumerator }]) => ({
        uid,
        parallelism,
        maxParallelism,
        ...how,
        enumerator,
        subtasks,
      })),
  );
const operators = fc
  .integer({ min: 1, max: MAX_MAX_PARALLELISM })
  .chain((maxParallelism) =>
    fc.uniqueArray(operatorOf(maxParallelism), { minLength: 1, maxLength: 3, selector: ({ uid }) => uid }),
  );
const kept = fc.array(count, { maxLength: 2 }).map((ids) => (ids.length === 0 ? {} : { keptForUser: ids }));
const metadata: fc.Arbitrary<CheckpointMetadata> = fc
  .tuple(
    kept,
    fc.record(
      {
        job: text,
        lineage: text,
        attempt: count,
        checkpointId: count,
        kind: fc.constantFrom('checkpoint', 'savepoint'),
        triggeredAt: fc.double({ noNaN: true, noDefaultInfinity: true }),
        restoredFrom: fc.option(fc.record({ checkpointId: count, pointer: text }, plain), { nil: undefined }),
        weirVersion: text,
        nodeVersion: text,
        selfContained: fc.boolean(),
        graphHash: text,
        operators,
      },
      plain,
    ),
  )
  .map(([left, rest]) => ({ ...rest, ...left }));

/** Holds every kind of part. Belongs to golden/metadata-v1.bin and must not change. */
const SAMPLE: CheckpointMetadata = {
  job: 'délays',
  lineage: '3f2a',
  attempt: 3,
  checkpointId: 1_000_000_000_007,
  kind: 'savepoint',
  triggeredAt: 1_700_000_000_123.5,
  restoredFrom: { checkpointId: 41, pointer: '/state/delays/chk-41' },
  weirVersion: '0.1.0',
  nodeVersion: '20.20.0',
  selfContained: true,
  graphHash: 'c0ffee',
  operators: [
    {
      uid: 'flights',
      parallelism: 2,
      maxParallelism: 128,
      status: 'running',
      enumerator: { serializer: { id: 'msgpack', version: 1 }, bytes: Uint8Array.of(0, 255) },
      subtasks: [
        {
          index: 1,
          keyed: [],
          operator: [
            {
              name: 'splits',
              mode: 'list',
              serializer: { id: 'msgpack', version: 1 },
              count: 300,
              blob: { kind: 'inline', bytes: Uint8Array.of(7) },
            },
            {
              name: 'offsets',
              mode: 'union',
              serializer: { id: 'v8', version: 1 },
              count: 0,
              blob: { kind: 'inline', bytes: new Uint8Array(0) },
            },
            {
              name: 'rules',
              mode: 'broadcast',
              serializer: { id: 'v8', version: 1 },
              count: 1,
              blob: { kind: 'blob', path: 'b', length: 1, algorithm: 'crc32', checksum: 0 },
            },
          ],
          committables: undefined,
          channels: [],
        },
      ],
    },
    {
      uid: 'delay-by-origin',
      parallelism: 2,
      maxParallelism: 128,
      status: 'running',
      enumerator: undefined,
      subtasks: [
        {
          index: 0,
          keyed: [
            {
              range: { first: 0, last: 63 },
              format: 'canonical',
              states: [
                { name: 'total', kind: 'value', serializer: { id: 'msgpack', version: 1 } },
                { name: 'recent', kind: 'list', serializer: { id: 'msgpack', version: 1 } },
                { name: 'by-day', kind: 'map', serializer: { id: 'days', version: 12 } },
              ],
              groups: [
                { keyGroup: 5, offset: 0, length: 130 },
                { keyGroup: 63, offset: 130, length: 5_000_000_000 },
              ],
              blob: {
                kind: 'blob',
                path: 'delay-by-origin/0',
                length: 5_000_000_130,
                algorithm: 'crc32',
                checksum: 0xdeadbeef,
              },
            },
          ],
          operator: [],
          committables: {
            destination: { id: 'b3f1', name: '/data/out' },
            serializer: { id: 'msgpack', version: 1 },
            newest: 42,
            count: 2,
            blob: { kind: 'inline', bytes: Uint8Array.of(1, 2, 3) },
          },
          channels: [
            {
              kind: 'input',
              edge: { producer: 'flights', output: 1, consumer: 'delay-by-origin', input: 0 },
              fromSubtask: 1,
              toSubtask: 0,
              serializer: { id: 'msgpack', version: 1 },
              timed: true,
              count: 12,
              blob: { kind: 'blob', path: 'c', length: 99, algorithm: 'crc32', checksum: 7 },
            },
            {
              kind: 'loop',
              edge: { producer: 'delay-by-origin', output: 0, consumer: 'delay-by-origin', input: 2 },
              fromSubtask: 0,
              toSubtask: 0,
              serializer: { id: 'v8', version: 1 },
              timed: false,
              count: 300,
              blob: { kind: 'inline', bytes: Uint8Array.of(4, 5) },
            },
          ],
        },
      ],
    },
    {
      uid: 'print',
      parallelism: 1,
      maxParallelism: 1,
      status: 'finished',
      enumerator: undefined,
      subtasks: [],
    },
  ],
};

/** The same with what keys have been. Belongs to golden/metadata-v1-key-types.bin and must not change. */
const SAMPLE_WITH_KEY_TYPES: CheckpointMetadata = {
  ...SAMPLE,
  operators: SAMPLE.operators.map((each) => ({
    ...each,
    subtasks: each.subtasks.map((one, i) => ({
      ...one,
      keyTypes: i === 0 && one.keyed.length > 0 ? ['string', 'array'] : undefined,
    })),
  })),
};

/** The same with records in flight that have keys. Belongs to golden/metadata-v1-record-keys.bin and must not change. */
const SAMPLE_WITH_RECORD_KEYS: CheckpointMetadata = {
  ...SAMPLE,
  operators: SAMPLE.operators.map((each) => ({
    ...each,
    subtasks: each.subtasks.map((one) => ({
      ...one,
      channels: one.channels.map((channel) => (channel.kind === 'input' ? { ...channel, keyed: true } : channel)),
    })),
  })),
};

describe('_metadata', () => {
  test('comes back as it was written, and equal metadata gives equal bytes', () => {
    fc.assert(
      fc.property(metadata, (written) => {
        const encoded = encodeMetadata(written);
        const read = decodeMetadata(encoded, 'chk-1');
        expect(read).toEqual(written);
        expect(Object.is(read.triggeredAt, written.triggeredAt)).toBe(true);
        expect(encodeMetadata(structuredClone(read))).toEqual(encoded);
      }),
    );
  });

  test.each([
    ['', 'metadata-v1.bin', SAMPLE],
    ['that says what keys have been ', 'metadata-v1-key-types.bin', SAMPLE_WITH_KEY_TYPES],
    ['with keys of records in flight ', 'metadata-v1-record-keys.bin', SAMPLE_WITH_RECORD_KEYS],
  ])('of format version 1 %sis read, and written, as the stored copy has it', (_what, file, sample) => {
    const golden = Uint8Array.from(readFileSync(new URL(`../golden/${file}`, import.meta.url)));
    expect(decodeMetadata(golden, 'golden')).toEqual(sample);
    expect(encodeMetadata(sample)).toEqual(golden);
  });

  test('of before destinations were stored is refused by name where it holds prepared output', () => {
    const older = readFileSync(new URL('../golden/metadata-v1-without-destinations.bin', import.meta.url));
    expect(() => decodeMetadata(Uint8Array.from(older), 'older')).toThrow(
      /CHECKPOINT_UNREADABLE.*older.*prepared output without its destination/,
    );
  });

  test('keeps nothing of the bytes it was read from', () => {
    const encoded = encodeMetadata(SAMPLE);
    const read = decodeMetadata(encoded, 'chk-1');
    encoded.fill(0);
    expect(read).toEqual(SAMPLE);
  });
});

describe('damaged _metadata', () => {
  const WHERE = /^CHECKPOINT_UNREADABLE: _metadata at \/state\/delays\/chk-7/;
  const encoded = encodeMetadata(SAMPLE);
  const read = (bytes: Uint8Array): CheckpointMetadata => decodeMetadata(bytes, '/state/delays/chk-7');

  test('is noticed, whatever bit is flipped and wherever it ends', () => {
    expectAllDamageIsNoticed(encoded, read, WHERE);
  });

  test('of any checkpoint is noticed when a few of its bytes change', () => {
    fc.assert(
      fc.property(
        metadata,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
        (written, changes) => {
          const original = encodeMetadata(written);
          const damaged = Uint8Array.from(original);
          for (const [at, change] of changes) damaged[at % damaged.length]! ^= change;
          fc.pre(!Buffer.from(damaged).equals(original));
          expect(() => read(damaged)).toThrow(WHERE);
        },
      ),
    );
  });

  test.each([
    ['nothing', new Uint8Array(0), 'does not begin like one (0 bytes)'],
    ['another file', Buffer.from('{"job":"delays"}'), 'does not begin like one'],
    ['no more than its beginning', encoded.slice(0, 10), 'is cut short at 10 bytes'],
    ['half', encoded.slice(0, 100), 'is cut short: 100 bytes where it says'],
    ['more', Buffer.concat([encoded, Buffer.of(0)]), 'has something after its end'],
    ['a byte changed', encoded.map((byte, i) => (i === 40 ? byte ^ 1 : byte)), 'is damaged: its checksum is'],
  ])('says what is wrong where there is %s', (_, bytes, says) => {
    expect(() => read(bytes)).toThrow(says);
  });

  test('is any random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => read(bytes)).toThrow(WHERE);
      }),
    );
  });

  /** A file whose checksum is right. */
  function framed(write: (out: ByteWriter) => void): Uint8Array {
    const out = new ByteWriter();
    out.bytes(Buffer.from('weirmeta'));
    out.u32(0);
    write(out);
    out.patchU32(8, out.length + 4);
    out.u32(crc32(out.view()));
    return out.toBytes();
  }
  // Behind magic, length, version and the one feature.
  const body = encoded.slice(15 + 1 + 'destinations'.length, -4);

  test('is told from what a newer weir wrote', () => {
    const newer = framed((out) => {
      out.u16(2);
      out.text('laid out in another way');
    });
    expect(() => read(newer)).toThrow('has format version 2, this weir reads version 1');
  });

  test('is told from what needs a feature that this weir does not have', () => {
    const featured = framed((out) => {
      out.u16(1);
      out.varint(2);
      out.text('channel-state');
      out.text('loop-log');
      out.bytes(body);
    });
    expect(() => read(featured)).toThrow("needs 'channel-state', 'loop-log', which this weir does not know");
  });

  test('is noticed also behind a right checksum', () => {
    const malformed = (content: Uint8Array): Uint8Array =>
      framed((out) => {
        out.u16(1);
        out.varint(1);
        out.text('destinations');
        out.bytes(content);
      });
    expect(read(malformed(body))).toEqual(SAMPLE);
    for (let length = 0; length < body.length; length++)
      expect(() => read(malformed(body.slice(0, length)))).toThrow(WHERE);
    expect(() => read(malformed(Buffer.concat([body, Buffer.of(0)])))).toThrow('has 1 bytes that mean nothing');
    const wrongWords = [...body.keys()].filter((at) => {
      const changed = body.map((byte, i) => (i === at ? 0xff : byte));
      try {
        read(malformed(changed));
        return false;
      } catch (error) {
        expect(String(error)).toMatch(/CHECKPOINT_UNREADABLE: _metadata at/);
        return true;
      }
    });
    expect(wrongWords.length).toBeGreaterThan(50);
  });
});
