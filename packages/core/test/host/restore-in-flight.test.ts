import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import type { Partitioning } from '../../src/channel/partitioner.js';
import type { ChannelStateHandle } from '../../src/contracts/snapshot.js';
import { BATCH_SIZE, type RecordBatch } from '../../src/element/element.js';
import { KeyColumn } from '../../src/element/key-column.js';
import { keyGroupOf, subtaskOfKeyGroup } from '../../src/element/key-group.js';
import type { InputChannel } from '../../src/host/input-gate.js';
import { restoreInFlight } from '../../src/host/restore-in-flight.js';
import { ChannelStateEncoder, writeChannelState, type EncodedChannelState } from '../../src/snapshot/channel-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { memoryLocation } from '../support/memory-location.js';

interface Tagged {
  readonly key: number;
  readonly sequence: number;
  readonly from: number;
}
const EDGE = { producer: 'p', output: 0, consumer: 'c', input: 0 };
const MAX = 128;
const HASH: Partitioning = { kind: 'hash', keyOf: ({ key }: Tagged) => key };
const ownerOf = (key: number, parallelism: number): number => subtaskOfKeyGroup(keyGroupOf(key, MAX), parallelism, MAX);

async function stored(
  fromSubtask: number,
  toSubtask: number,
  ...batches: readonly RecordBatch<unknown>[]
): Promise<ChannelStateHandle> {
  const encoder = new ChannelStateEncoder({ edge: EDGE, fromSubtask, toSubtask }, defaultSerializer);
  for (const batch of batches) encoder.add(batch);
  const encoded = encoder.finish();
  if (encoded === undefined) throw new Error('nothing is in flight');
  return writeChannelState(encoded, memoryLocation(1));
}

const read = async (blob: ChannelStateHandle['blob']): Promise<Uint8Array> => {
  if (blob.kind !== 'inline') throw new Error('everything is inline here');
  return blob.bytes;
};

/** What each subtask of the consumer finds in its channels, one list per producer. */
async function restored(
  handles: readonly ChannelStateHandle[],
  partitioning: Partitioning,
  { producers, consumers, edge = EDGE }: { producers: number; consumers: number; edge?: typeof EDGE },
): Promise<readonly (readonly (readonly RecordBatch<unknown>[])[])[]> {
  return Promise.all(
    Array.from({ length: consumers }, async (_c, subtask) => {
      const batches = Array.from({ length: producers }, (): RecordBatch<unknown>[] => []);
      const inputs = Array.from({ length: producers }, (_p, fromSubtask): InputChannel => {
        const channel = new Channel<unknown>();
        channel.subscribe((element) => batches[fromSubtask]?.push(element as RecordBatch<unknown>));
        return { channel, input: 0, name: { edge, fromSubtask, toSubtask: subtask }, partitioning };
      });
      await restoreInFlight({ subtask, parallelism: consumers, maxParallelism: MAX, inputs, handles, read });
      for (const { channel } of inputs) while (channel.request());
      return batches;
    }),
  );
}

describe('records in flight', () => {
  property.prop([
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 5 }),
    fc.array(fc.record({ key: fc.nat(30), from: fc.nat(3) }), { maxLength: 60 }),
  ])(
    'at another parallelism each go to the one owner of their key, those of a key and a producer in order',
    async (oldProducers, oldConsumers, producers, consumers, records) => {
      const channels = new Map<string, Tagged[]>();
      for (const [sequence, { key, from }] of records.entries()) {
        const name = `${from % oldProducers} ${ownerOf(key, oldConsumers)}`;
        channels.set(name, [...(channels.get(name) ?? []), { key, sequence, from: from % oldProducers }]);
      }
      const handles = await Promise.all(
        [...channels].map(([name, flying]) => {
          const [from, to] = name.split(' ').map(Number) as [number, number];
          return stored(from, to, { kind: 'batch', records: flying });
        }),
      );
      const found = (await restored(handles, HASH, { producers, consumers })).map((byProducer) =>
        byProducer.flat().flatMap(({ records: all }) => all as Tagged[]),
      );
      for (const [subtask, mine] of found.entries()) {
        for (const { key } of mine) expect(ownerOf(key, consumers)).toBe(subtask);
        for (const key of new Set(mine.map((r) => r.key)))
          for (let from = 0; from < oldProducers; from++) {
            const order = mine.filter((r) => r.key === key && r.from === from).map(({ sequence }) => sequence);
            expect(order).toEqual(order.toSorted((a, b) => a - b));
          }
      }
      const sequences = found.flat().map(({ sequence }) => sequence);
      expect(sequences.toSorted((a, b) => a - b)).toEqual(records.map((_, i) => i));
    },
  );

  property.prop([fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })])(
    'that belong to anybody go to one subtask each',
    async (oldConsumers, consumers) => {
      const handles = await Promise.all(
        Array.from({ length: oldConsumers }, (_, to) => stored(0, to, { kind: 'batch', records: [to] })),
      );
      const found = await restored(handles, { kind: 'rebalance' }, { producers: 2, consumers });
      const all = found.flat(2).flatMap(({ records }) => records as number[]);
      expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: oldConsumers }, (_, to) => to));
    },
  );

  test('at the same parallelism are in the channel that they were in, in batches no larger than others, with their times', async () => {
    const records = Array.from({ length: BATCH_SIZE + 1 }, (_, i) => i);
    const timestamps = records.map((n) => n * 10);
    const handle = await stored(1, 0, { kind: 'batch', records: ['untimed'] }, { kind: 'batch', records, timestamps });
    const [[first = [], second = []] = []] = await restored(
      [handle],
      { kind: 'rebalance' },
      { producers: 2, consumers: 1 },
    );
    expect(first).toEqual([]);
    expect(second.map((batch) => batch.records.length)).toEqual([BATCH_SIZE, 2]);
    expect(second.flatMap((batch) => batch.records)).toEqual(['untimed', ...records]);
    expect(second.flatMap((batch) => batch.timestamps)).toEqual([Number.NEGATIVE_INFINITY, ...timestamps]);
  });

  test('of a producer that has another name by now go to the same input', async () => {
    const handle = await stored(0, 0, { kind: 'batch', records: [1] });
    const edge = { ...EDGE, producer: 'renamed', output: 3 };
    expect((await restored([handle], { kind: 'rebalance' }, { producers: 1, consumers: 1, edge })).flat(2)).toEqual([
      { kind: 'batch', records: [1] },
    ]);
  });

  test('for an input that there is no more are an error that names them', async () => {
    const handle = await stored(0, 0, { kind: 'batch', records: [1, 2] });
    const edge = { ...EDGE, input: 1 };
    const failing = restored([handle], { kind: 'rebalance' }, { producers: 1, consumers: 1, edge });
    await expect(failing).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE', recoverable: false });
    await expect(failing).rejects.toThrow("2 records in flight from operator 'p' to input 0 of operator 'c'");
  });

  test('that are damaged are an error that names them', async () => {
    const handle = await stored(0, 0, { kind: 'batch', records: [1, 2] });
    const failing = restored([{ ...handle, count: 1 }], { kind: 'rebalance' }, { producers: 1, consumers: 1 });
    await expect(failing).rejects.toMatchObject({ code: 'CHECKPOINT_UNREADABLE' });
    await expect(failing).rejects.toThrow("records in flight from operator 'p' to 'c'");
  });
});

describe('records in flight whose keys travel with them', () => {
  const BY_COLUMN: Partitioning = { kind: 'hash', keyOf: undefined };

  async function storedKeyed(toSubtask: number, keys: readonly number[]): Promise<ChannelStateHandle> {
    const encoder = new ChannelStateEncoder({ edge: EDGE, fromSubtask: 0, toSubtask }, defaultSerializer, {
      keyed: true,
    });
    encoder.add({ kind: 'batch', records: keys.map((key) => `record of ${String(key)}`), keys });
    return writeChannelState(encoder.finish() as EncodedChannelState, memoryLocation(1));
  }

  property.prop([fc.array(fc.nat(500), { minLength: 1, maxLength: 100 }), fc.integer({ min: 1, max: 5 })])(
    'go to the subtask that owns the stored key, and have it',
    async (keys, consumers) => {
      const found = await restored([await storedKeyed(0, keys)], BY_COLUMN, { producers: 1, consumers });
      for (const [subtask, [batches = []]] of found.entries()) {
        const mine = keys.filter((key) => ownerOf(key, consumers) === subtask);
        expect(batches.flatMap((each) => each.records)).toEqual(mine.map((key) => `record of ${String(key)}`));
        expect(batches.flatMap((each) => each.keys ?? [])).toEqual(mine);
      }
    },
  );

  test('are refused by name where the checkpoint has records without keys', async () => {
    const handle = await stored(0, 0, { kind: 'batch', records: ['without'] });
    await expect(restored([handle], BY_COLUMN, { producers: 1, consumers: 2 })).rejects.toThrow(
      /CHECKPOINT_INCOMPATIBLE.*from operator 'p' to 'c' without their keys/,
    );
  });

  test('get their keys anew where a keyBy in front of the edge gives them', async () => {
    const column = new KeyColumn();
    column.read();
    const partitioning: Partitioning = { kind: 'hash', keyOf: ({ key }: Tagged) => key, column };
    const records = [1, 2, 3].map((key): Tagged => ({ key, sequence: key, from: 0 }));
    const handle = await stored(0, 0, { kind: 'batch', records });
    const [[[batch]]] = (await restored([handle], partitioning, { producers: 1, consumers: 1 })) as [
      [[RecordBatch<Tagged>]],
    ];
    expect(batch.keys).toEqual([1, 2, 3]);
  });
});
