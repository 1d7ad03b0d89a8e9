import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import type { Partitioning } from '../../src/channel/partitioner.js';
import { barrier, batch, BATCH_SIZE, type RecordBatch, type StreamElement } from '../../src/element/element.js';
import { KeyColumn } from '../../src/element/key-column.js';
import { keyGroupOf, subtaskOfKeyGroup } from '../../src/element/key-group.js';
import { Router, type OutputEdge } from '../../src/host/router.js';

const HASH: Partitioning = { kind: 'hash', keyOf: (n: number) => n };

class Edge implements OutputEdge {
  readonly partitioning: Partitioning;
  readonly channels: readonly Channel<unknown>[];
  readonly maxParallelism = 128;
  readonly mayOvertake: boolean;
  readonly received: readonly StreamElement<unknown>[][];

  constructor(partitioning: Partitioning, channels: number, mayOvertake = true) {
    this.mayOvertake = mayOvertake;
    this.partitioning = partitioning;
    this.channels = Array.from({ length: channels }, () => new Channel());
    this.received = this.channels.map((channel) => {
      const elements: StreamElement<unknown>[] = [];
      channel.subscribe((element) => elements.push(element));
      return elements;
    });
  }

  /** Everything that was sent, channel by channel. */
  take(): readonly (readonly StreamElement<unknown>[])[] {
    for (const channel of this.channels) while (channel.request());
    return this.received;
  }
}
const routerTo = (...edges: readonly Edge[]): Router => new Router(edges, 0, () => undefined);
const recordsIn = (elements: readonly StreamElement<unknown>[]): unknown[] =>
  elements.flatMap((element) => (element.kind === 'batch' ? element.records : []));

describe('an exchange', () => {
  const script = fc.array(fc.oneof(fc.array(fc.integer(), { maxLength: 50 }), fc.constant('barrier' as const)));

  property.prop([fc.constantFrom(HASH, { kind: 'rebalance' } as const), fc.integer({ min: 1, max: 5 }), script])(
    'puts every control element into every channel, behind all records that came before it',
    (partitioning, channels, steps) => {
      const edge = new Edge(partitioning, channels);
      const router = routerTo(edge);
      let id = 0;
      const before: number[][] = [[]];
      for (const step of steps) {
        if (step === 'barrier') {
          router.broadcast(barrier(++id));
          before.push([]);
        } else {
          router.emit(batch(step));
          before.at(-1)?.push(...step);
        }
      }
      router.flush();
      const sections = edge.take().map(sectionsOf);
      for (const [section, records] of before.entries()) {
        expect(sections.flatMap((all) => all[section] ?? []).toSorted()).toEqual(records.toSorted());
      }
      for (const all of sections) expect(all).toHaveLength(before.length);
    },
  );

  property.prop([fc.array(fc.integer()), fc.integer({ min: 1, max: 5 })])(
    'by hash keeps the records of a key in one channel and in order',
    (numbers, channels) => {
      const edge = new Edge(HASH, channels);
      const router = routerTo(edge);
      router.emit(batch(numbers));
      router.flush();
      for (const [channel, elements] of edge.take().entries()) {
        const mine = numbers.filter((n) => subtaskOfKeyGroup(keyGroupOf(n, 128), channels, 128) === channel);
        expect(recordsIn(elements)).toEqual(mine);
      }
    },
  );

  test('sends a batch when it is full, without waiting for a flush, and never a larger one', () => {
    const edge = new Edge({ kind: 'rebalance' }, 2);
    const router = routerTo(edge);
    for (let i = 0; i < 3; i++) router.emit(batch(Array.from({ length: BATCH_SIZE }, (_, n) => n)));
    expect(edge.channels.map(({ bufferedRecords }) => bufferedRecords)).toEqual([BATCH_SIZE, BATCH_SIZE]);
    router.flush();
    for (const elements of edge.take())
      expect(elements.map((element) => (element as RecordBatch<unknown>).records.length)).toEqual([1024, 512]);
  });

  test('keeps each record with its timestamp, also between batches with and without', () => {
    const edge = new Edge({ kind: 'rebalance' }, 2);
    const router = routerTo(edge);
    router.emit({ kind: 'batch', records: ['a', 'b', 'c'], timestamps: [1, 2, 3] });
    router.emit(batch(['d', 'e']));
    router.emit({ kind: 'batch', records: ['f'], timestamps: [6] });
    router.flush();
    expect(edge.take()).toEqual([
      [{ kind: 'batch', records: ['a', 'c'], timestamps: [1, 3] }, batch(['e'])],
      [
        { kind: 'batch', records: ['b'], timestamps: [2] },
        batch(['d']),
        { kind: 'batch', records: ['f'], timestamps: [6] },
      ],
    ]);
  });
});

describe('a router', () => {
  test('hands one batch to every consumer of a stream, and to every channel of a broadcast', () => {
    const edges = [new Edge({ kind: 'forward' }, 1), new Edge({ kind: 'broadcast' }, 3)];
    const router = routerTo(...edges);
    const sent = batch([1, 2]);
    router.emit(sent);
    expect(edges.flatMap((edge) => edge.take())).toEqual([[sent], [sent], [sent], [sent]]);
  });

  test('sends no empty batches: they would fill a buffer that counts records', () => {
    const edge = new Edge({ kind: 'forward' }, 1);
    const router = routerTo(edge);
    for (let i = 0; i < 10; i++) router.emit(batch([]));
    expect(edge.take()).toEqual([[]]);
  });

  test('forwards a barrier that overtakes beside what waits, and into line where the edge forbids it', () => {
    const [free, fixed] = [new Edge(HASH, 2), new Edge({ kind: 'broadcast' }, 2, false)];
    const router = routerTo(free, fixed);
    router.emit(batch([1, 2, 3]));
    const overtaking = { ...barrier(1), overtakesAfter: 0 };
    router.forward(overtaking);
    const taken = free.channels.map((channel) => channel.takeOvertaking());
    expect(taken.map((one) => one?.barrier)).toEqual([overtaking, overtaking]);
    // Also what was not sent yet for want of a full batch.
    expect(taken.flatMap((one) => one?.overtaken ?? []).flatMap(({ records }) => records)).toHaveLength(3);
    for (const channel of fixed.channels) expect(channel.takeOvertaking()).toBeUndefined();
    expect(fixed.take().map((elements) => elements.at(-1))).toEqual([
      { ...overtaking, isForcedAligned: true },
      { ...overtaking, isForcedAligned: true },
    ]);
  });

  test('sends a barrier that does not overtake yet in its turn', () => {
    const edges = [new Edge(HASH, 1), new Edge({ kind: 'forward' }, 1, false)];
    const router = routerTo(...edges);
    for (const sent of [barrier(1), { ...barrier(2), overtakesAfter: 5 }]) router.forward(sent);
    expect(edges.map((edge) => edge.take()[0])).toEqual([
      [barrier(1), { ...barrier(2), overtakesAfter: 5 }],
      [barrier(1), { ...barrier(2), overtakesAfter: 5, isForcedAligned: true }],
    ]);
  });

  test('has demand while every channel has, and says when it has again', () => {
    let heard = 0;
    const edges = [new Edge({ kind: 'forward' }, 1), new Edge(HASH, 2)];
    const router = new Router(edges, 0, () => heard++);
    const channels = edges.flatMap((edge) => edge.channels);
    const full = batch(new Array<number>(2048).fill(0));
    for (const channel of channels.slice(0, 2)) channel.send(full);
    expect(router.hasDemand).toBe(false);
    channels[0]?.request();
    expect([router.hasDemand, heard]).toEqual([false, 0]);
    channels[1]?.request();
    expect([router.hasDemand, heard]).toEqual([true, 1]);
  });

  test('hears nothing more once it is closed', () => {
    let heard = 0;
    const edge = new Edge({ kind: 'forward' }, 1);
    const router = new Router([edge], 0, () => heard++);
    edge.channels[0]?.send(batch(new Array<number>(2048).fill(0)));
    router.close();
    edge.channels[0]?.request();
    expect(heard).toBe(0);
  });

  test('without outputs always has demand', () => {
    const router = routerTo();
    router.emit(batch([1]));
    router.broadcast(barrier(1));
    expect(router.hasDemand).toBe(true);
  });
});

/** Records between the barriers. */
function sectionsOf(elements: readonly StreamElement<unknown>[]): number[][] {
  const sections: number[][] = [[]];
  for (const element of elements) {
    if (element.kind === 'batch') sections.at(-1)?.push(...(element.records as number[]));
    else sections.push([]);
  }
  return sections;
}

describe('keys that travel with records', () => {
  const keys = [1, 2, 3, 4, 5, 6, 7, 8];
  const keysIn = (elements: readonly StreamElement<unknown>[]): unknown[] =>
    elements.flatMap((element) => (element.kind === 'batch' ? (element.keys ?? ['none']) : []));
  const sent = (partitioning: Partitioning, channels: number, given: RecordBatch<unknown>): Edge => {
    const edge = new Edge(partitioning, channels);
    const router = routerTo(edge);
    router.emit(given);
    router.flush();
    return edge;
  };
  const column = new KeyColumn();
  column.read();

  test.each([1, 3])('are put beside them behind a keyBy where somebody reads them: %i channels', (channels) => {
    for (const received of sent({ kind: 'hash', keyOf: (n: number) => n % 4, column }, channels, batch(keys)).take())
      expect(keysIn(received)).toEqual(recordsIn(received).map((n) => (n as number) % 4));
  });

  test.each([1, 3])('are not where nobody does: %i channels', (channels) => {
    for (const received of sent({ kind: 'hash', keyOf: (n: number) => n % 4 }, channels, batch(keys)).take())
      expect(new Set(keysIn(received))).toEqual(new Set(received.length === 0 ? [] : ['none']));
  });

  test.each([1, 3])('say where a record goes that does not contain its key: %i channels', (channels) => {
    const records = keys.map((key) => `record ${String(key)}`);
    const edge = sent({ kind: 'hash', keyOf: undefined, column }, channels, {
      kind: 'batch',
      records,
      timestamps: keys,
      keys,
    });
    for (const [channel, received] of edge.take().entries()) {
      const mine = keys.filter((key) => subtaskOfKeyGroup(keyGroupOf(key, 128), channels, 128) === channel);
      expect(keysIn(received)).toEqual(mine);
      expect(recordsIn(received)).toEqual(mine.map((key) => `record ${String(key)}`));
    }
  });

  test('that have not come are an error', () => {
    expect(() => sent({ kind: 'hash', keyOf: undefined, column }, 2, batch(['lost']))).toThrow(
      /PROTOCOL_VIOLATION.*keys/,
    );
  });
});
