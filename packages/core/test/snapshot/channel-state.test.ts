import { fc, test as property } from '@fast-check/vitest';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BATCH_SIZE, type RecordBatch } from '../../src/element/element.js';
import type { Key } from '../../src/element/key.js';
import type { ChannelStateHandle } from '../../src/contracts/snapshot.js';
import { ChannelStateEncoder, readChannelState, type EncodedChannelState } from '../../src/snapshot/channel-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';

const NAME = { edge: { producer: 'map-1', output: 2, consumer: 'total', input: 1 }, fromSubtask: 3, toSubtask: 0 };

function encode(batches: readonly RecordBatch<unknown>[]): EncodedChannelState | undefined {
  const encoder = new ChannelStateEncoder(NAME, defaultSerializer);
  for (const batch of batches) encoder.add(batch);
  return encoder.finish();
}
const KEY: fc.Arbitrary<Key> = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.bigInt(), fc.array(fc.string()));
const read = (encoded: EncodedChannelState): readonly RecordBatch<unknown>[] =>
  readChannelState(encoded, encoded.bytes, defaultSerializer, 'records in flight');

describe('the records of a channel', () => {
  property.prop([
    fc.array(
      fc.array(fc.record({ n: fc.integer(), time: fc.integer() }), { maxLength: 30 }).chain((records) =>
        fc.boolean().map((isTimed): RecordBatch<unknown> => ({
          kind: 'batch',
          records: records.map(({ n }) => ({ n })),
          ...(isTimed && { timestamps: records.map(({ time }) => time) }),
        })),
      ),
    ),
  ])('come back in order, each with its time, those without as -Infinity among those with one', (batches) => {
    const encoded = encode(batches);
    const records = batches.flatMap((batch) => batch.records);
    if (encoded === undefined) {
      expect(records).toEqual([]);
      return;
    }
    const back = read(encoded);
    expect(back.flatMap((batch) => batch.records)).toEqual(records);
    const times = batches.flatMap((b) => b.timestamps ?? b.records.map(() => Number.NEGATIVE_INFINITY));
    const isTimed = batches.some((batch) => batch.timestamps !== undefined);
    expect(encoded.timed).toBe(isTimed);
    expect(back.flatMap((batch) => batch.timestamps ?? [])).toEqual(isTimed ? times : []);
  });

  test('are those from where a batch was read on', () => {
    const encoder = new ChannelStateEncoder(NAME, defaultSerializer);
    encoder.add({ kind: 'batch', records: [1, 2, 3], timestamps: [10, 20, 30] }, 1);
    const encoded = encoder.finish();
    expect(encoded === undefined ? [] : read(encoded)).toEqual([
      { kind: 'batch', records: [2, 3], timestamps: [20, 30] },
    ]);
  });

  test('are what they were when they were added', () => {
    const record = { n: 1 };
    const encoder = new ChannelStateEncoder(NAME, defaultSerializer);
    encoder.add({ kind: 'batch', records: [record] });
    record.n = 2;
    const encoded = encoder.finish();
    expect(encoded === undefined ? [] : read(encoded)).toEqual([{ kind: 'batch', records: [{ n: 1 }] }]);
  });

  property.prop([fc.array(fc.array(fc.tuple(fc.integer(), KEY), { maxLength: 30 }))])(
    'come back with their keys where these travel with them',
    (batches) => {
      const encoder = new ChannelStateEncoder(NAME, defaultSerializer, { keyed: true });
      for (const pairs of batches)
        encoder.add({ kind: 'batch', records: pairs.map(([record]) => record), keys: pairs.map(([, key]) => key) });
      const encoded = encoder.finish();
      const pairs = batches.flat();
      if (encoded === undefined) {
        expect(pairs).toEqual([]);
        return;
      }
      expect(encoded.keyed).toBe(true);
      const back = read(encoded);
      expect(back.flatMap(({ records }) => records)).toEqual(pairs.map(([record]) => record));
      expect(back.flatMap(({ keys }) => keys ?? [])).toEqual(pairs.map(([, key]) => key));
    },
  );

  test('and their keys are read, and written, as they were first stored', () => {
    const { handle, bytes } = JSON.parse(
      readFileSync(new URL('../golden/channel-state-v1-keyed.json', import.meta.url), 'utf8'),
    ) as { readonly handle: Omit<ChannelStateHandle, 'blob'>; readonly bytes: string };
    const batch: RecordBatch<unknown> = {
      kind: 'batch',
      records: ['SFO', 42, null],
      timestamps: [1_700_000_000_123, -Infinity, 5],
      keys: ['a', 7, [true, 'b']],
    };
    expect(readChannelState(handle, Buffer.from(bytes, 'hex'), defaultSerializer, 'golden')).toEqual([batch]);
    const encoder = new ChannelStateEncoder(NAME, defaultSerializer, { keyed: true });
    encoder.add(batch);
    const { name, bytes: written, ...rest } = encoder.finish() as EncodedChannelState;
    expect([{ ...name, ...rest }, Buffer.from(written).toString('hex')]).toEqual([handle, bytes]);
  });

  test('come back in batches no larger than channels carry', () => {
    const records = Array.from({ length: 2 * BATCH_SIZE + 1 }, (_, i) => i);
    const encoded = encode([{ kind: 'batch', records }]);
    expect((encoded === undefined ? [] : read(encoded)).map((batch) => batch.records.length)).toEqual([1024, 1024, 1]);
  });

  test('cut short or with something after them are an error that names them', () => {
    const encoded = encode([{ kind: 'batch', records: ['a', 'b'], timestamps: [1, 2] }]);
    if (encoded === undefined) throw new Error('nothing was encoded');
    for (const bytes of [encoded.bytes.subarray(0, -1), Buffer.concat([encoded.bytes, Buffer.from([0])])]) {
      expect(() => readChannelState(encoded, bytes, defaultSerializer, 'records in flight')).toThrow(
        /CHECKPOINT_UNREADABLE: records in flight/,
      );
    }
    const other = { ...encoded, serializer: { id: 'other', version: 1 } };
    expect(() => readChannelState(other, encoded.bytes, defaultSerializer, 'records in flight')).toThrow(
      /SERIALIZER_MISMATCH: records in flight/,
    );
  });

  // Bytes as they were first stored. They must be read for ever; these also are still written just so.
  test('of the first format are read, and written, as they are stored', () => {
    const stored = JSON.parse(
      readFileSync(new URL('../golden/channel-state-v1.json', import.meta.url), 'utf8'),
    ) as Readonly<
      Record<'timed' | 'plain', { readonly handle: Omit<ChannelStateHandle, 'blob'>; readonly bytes: string }>
    >;
    const batches = {
      timed: [
        { kind: 'batch', records: ['SFO', 42] },
        { kind: 'batch', records: [{ day: 'mon', ids: new Set([7n]) }], timestamps: [1_700_000_000_123] },
      ],
      plain: [{ kind: 'batch', records: [null, true, 0.5, 'ü'] }],
    } as const;
    for (const which of ['timed', 'plain'] as const) {
      const { handle, bytes } = stored[which];
      const back = readChannelState(handle, Buffer.from(bytes, 'hex'), defaultSerializer, 'golden');
      const records = batches[which].flatMap((batch) => [...batch.records]);
      expect(back).toEqual([
        which === 'timed'
          ? { kind: 'batch', records, timestamps: [-Infinity, -Infinity, 1_700_000_000_123] }
          : { kind: 'batch', records },
      ]);
      const encoded = encode(batches[which]);
      const { name, bytes: written, ...rest } = encoded ?? { name: NAME, bytes: new Uint8Array() };
      expect([{ kind: 'input', ...name, ...rest }, Buffer.from(written).toString('hex')]).toEqual([handle, bytes]);
    }
  });
});
