import { createReferenceStateBackend } from '@weir/testkit';
import fc from 'fast-check';
import { lastValueFrom, take, toArray } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Serializer } from '../../src/contracts/serializer.js';
import type { Key } from '../../src/element/key.js';
import { keyIdentity } from '../../src/element/key-identity.js';
import { isWeirError } from '../../src/errors.js';
import { exportJsonLines, parseJsonLine, type ExportedRow } from '../../src/reader/json-lines.js';
import { openCheckpoint, type CheckpointReader } from '../../src/reader/open-checkpoint.js';
import type { OperatorData } from '../../src/reader/savepoint-data.js';
import { writeSavepoint } from '../../src/reader/write-savepoint.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { anyKey } from '../element/keys.js';
import { savepointStorage, type SavepointStorage } from '../support/savepoint-storage.js';

const DELAYS: OperatorData = {
  uid: 'delays',
  watermark: 1_700_000_000_000,
  states: {
    total: {
      kind: 'value',
      entries: [
        { key: 'SFO', value: 42 },
        { key: 7, value: { sum: -0 } },
      ],
    },
    recent: {
      kind: 'list',
      entries: [
        { key: 'SFO', values: [1, 2] },
        { key: 'SFO', values: [3] },
      ],
    },
    byDay: {
      kind: 'map',
      entries: [
        { key: 'SFO', mapKey: 'mon', value: 1n },
        { key: 'SFO', mapKey: ['tue', 2], value: undefined },
      ],
    },
    most: { kind: 'reducing', entries: [{ key: 'SFO', value: 9 }] },
  },
  timers: [
    { domain: 'event', key: 'SFO', time: 1_700_000_000_500 },
    { domain: 'processing', key: 7, time: 5 },
  ],
};
const BATCHES: OperatorData = {
  uid: 'batches',
  operatorStates: {
    waiting: { mode: 'list', values: ['a', 'b'] },
    rules: { mode: 'broadcast', values: [[['x', 1], { limit: 3 }]] },
  },
};

async function written(
  operators: readonly OperatorData[],
  storage: SavepointStorage = savepointStorage(),
  serializers: readonly Serializer[] = [],
): Promise<CheckpointReader> {
  const backend = createReferenceStateBackend();
  const { pointer } = await writeSavepoint({ storage, directory: 'mine', backend, job: 'flights', operators });
  return openCheckpoint(pointer, { storage, serializers });
}

async function all<E>(entries: AsyncIterable<E>): Promise<E[]> {
  const got: E[] = [];
  for await (const entry of entries) got.push(entry);
  return got;
}

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a savepoint that was written from data', () => {
  test('says what it holds', async () => {
    const savepoint = await written([DELAYS, BATCHES]);
    expect(savepoint.metadata).toMatchObject({
      job: 'flights',
      kind: 'savepoint',
      checkpointId: 1,
      selfContained: true,
    });
    const [delays, batches] = savepoint.operators;
    expect(delays).toMatchObject({
      uid: 'delays',
      parallelism: 1,
      maxParallelism: 128,
      status: 'running',
      timers: ['event', 'processing'],
      formats: ['canonical'],
      committables: 0,
      inFlight: 0,
    });
    expect(delays?.states.map(({ name, kind }) => [name, kind]).sort()).toEqual([
      ['byDay', 'map'],
      ['most', 'reducing'],
      ['recent', 'list'],
      ['total', 'value'],
    ]);
    expect(delays?.keyedBytes).toBeGreaterThan(100);
    expect(batches?.operatorStates).toMatchObject([
      { name: 'waiting', mode: 'list', count: 2 },
      { name: 'rules', mode: 'broadcast', count: 1 },
    ]);
  });

  test('gives values of a later version as they are stored, with the serializer that wrote them', async () => {
    const serializer = { ...defaultSerializer, id: 'msgpack#3' };
    const operator: OperatorData = {
      uid: 'delays',
      states: { total: { kind: 'value', serializer, entries: [{ key: 'SFO', value: 42 }] } },
      operatorStates: { rules: { mode: 'broadcast', serializer, values: [['a', 1]] } },
    };
    const delays = (await written([operator])).operator('delays');
    expect(await all(delays.values('total'))).toEqual([{ key: 'SFO', value: 42 }]);
  });

  test('is read state by state, each kind as what it is', async () => {
    const delays = (await written([DELAYS])).operator('delays');
    expect(new Map((await all(delays.values('total'))).map(({ key, value }) => [key, value]))).toEqual(
      new Map<unknown, unknown>([
        ['SFO', 42],
        [7, { sum: -0 }],
      ]),
    );
    expect(await all(delays.lists('recent'))).toEqual([{ key: 'SFO', values: [1, 2, 3] }]);
    expect(new Set(await all(delays.maps('byDay')))).toEqual(
      new Set([
        { key: 'SFO', mapKey: 'mon', value: 1n },
        { key: 'SFO', mapKey: ['tue', 2], value: undefined },
      ]),
    );
    expect(await all(delays.values('most'))).toEqual([{ key: 'SFO', value: 9 }]);
    expect(await all(delays.timers())).toEqual(DELAYS.timers);
    expect(await all(delays.timers('event'))).toHaveLength(1);
    expect(await delays.measure('total')).toMatchObject({ entries: 2 });
    expect(await delays.enumerator()).toBe(undefined);
  });

  test('gives operator state by subtask, of broadcast state pairs', async () => {
    const batches = (await written([BATCHES])).operator('batches');
    expect(await all(batches.operatorState('waiting'))).toEqual([
      { subtask: 0, value: 'a' },
      { subtask: 0, value: 'b' },
    ]);
    expect(await all(batches.operatorState('rules'))).toEqual([{ subtask: 0, value: [['x', 1], { limit: 3 }] }]);
    expect(await all(batches.committables())).toEqual([]);
  });

  test('is read as Observables, as far as they are subscribed to', async () => {
    const storage = savepointStorage();
    const entries = Array.from({ length: 1000 }, (_, n) => ({ key: n, value: n }));
    const { total } = { total: { kind: 'value', entries } as const };
    const numbers = (await written([{ uid: 'numbers', states: { total } }], storage)).operator('numbers');
    const total$ = numbers.values<number, number>('total').toObservable();
    const values = await lastValueFrom(total$.pipe(toArray()));
    expect(values.map(({ value }) => value).sort((a, b) => a - b)).toEqual(entries.map(({ value }) => value));
    expect(await lastValueFrom(total$.pipe(take(1)))).toEqual(values[0]);
  });

  test('is the same from a storage that reads whole blobs only', async () => {
    const storage = savepointStorage({ readsParts: false });
    const delays = (await written([DELAYS], storage)).operator('delays');
    storage.reads.length = 0;
    expect(await all(delays.values('total'))).toHaveLength(2);
    expect(storage.reads).toHaveLength(1);
  });

  test('holds any keys and lists, in whatever order they were given', async () => {
    const rows = fc.array(fc.record({ key: anyKey, values: fc.array(fc.integer(), { minLength: 1 }) }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 300 }), async (entries, maxParallelism) => {
        const list = { kind: 'list', entries } as const;
        const operator = (await written([{ uid: 'any', maxParallelism, states: { list } }])).operators[0];
        const expected = new Map<unknown, { readonly key: Key; values: number[] }>();
        for (const { key, values } of entries) {
          const found = expected.get(keyIdentity(key));
          if (found === undefined) expected.set(keyIdentity(key), { key, values: [...values] });
          else found.values.push(...values);
        }
        expect(operator?.states).toHaveLength(Math.min(1, entries.length));
        if (entries.length === 0) return;
        const reader = (await written([{ uid: 'any', maxParallelism, states: { list } }])).operator('any');
        const got = new Map((await all(reader.lists('list'))).map(({ key, values }) => [keyIdentity(key), values]));
        expect(got).toEqual(new Map([...expected].map(([identity, { values }]) => [identity, values])));
      }),
      { numRuns: 30 },
    );
  });
});

describe('reading', () => {
  const money: Serializer = {
    id: 'money',
    version: 2,
    encode: (value, out) => {
      out.f64(value as number);
    },
    decode: (from) => from.f64(),
  };
  const PRICES: OperatorData = {
    uid: 'prices',
    states: { price: { kind: 'value', entries: [{ key: 1, value: 9.5 }], serializer: money } },
  };

  test('needs no serializer for what nobody reads, and names the one it needs', async () => {
    const storage = savepointStorage();
    const prices = await written([PRICES, DELAYS], storage);
    expect(await all(prices.operator('delays').values('total'))).toHaveLength(2);
    const error = await failure(all(prices.operator('prices').values('price')));
    expect(isWeirError(error, 'SERIALIZER_MISMATCH')).toBe(true);
    expect(String(error)).toContain("state 'price' of operator 'prices' in savepoint 1 of job flights");
    expect(String(error)).toContain("serializer 'money' version 2");
    const given = await openCheckpoint(prices.pointer, { storage, serializers: [money] });
    expect(await all(given.operator('prices').values('price'))).toEqual([{ key: 1, value: 9.5 }]);
  });

  test('refuses what there is not, naming what there is', async () => {
    const savepoint = await written([DELAYS, BATCHES]);
    expect(() => savepoint.operator('other')).toThrow(/no operator 'other'. It has: delays, batches/);
    const delays = savepoint.operator('delays');
    expect(() => delays.values('other')).toThrow(
      /no value, reducing, aggregating state 'other' by key. It has: .*total \(value\)/,
    );
    expect(() => delays.lists('total')).toThrow(/no list state 'total'/);
    expect(() => delays.entries('other')).toThrow(/no state 'other'/);
    expect(() => savepoint.operator('batches').operatorState('other')).toThrow(/It has: waiting, rules/);
    const error = await failure(openCheckpoint('nowhere', { storage: savepointStorage() }));
    expect(isWeirError(error, 'CHECKPOINT_NONE')).toBe(true);
  });

  test('notices damage, wherever it is', async () => {
    const storage = savepointStorage();
    const savepoint = await written([DELAYS, BATCHES], storage);
    const blobs = [...storage.files].filter(([path]) => !path.endsWith('_metadata'));
    expect(blobs.length).toBeGreaterThan(0);
    const [keyed, bytes] = blobs[0]!;
    for (let at = 0; at < bytes.length; at += 5) {
      storage.files.set(
        keyed,
        bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)),
      );
      const error = await failure(all(exportJsonLines(savepoint)));
      expect(isWeirError(error, 'CHECKPOINT_UNREADABLE'), `byte ${String(at)}`).toBe(true);
    }
  });
});

describe('an export', () => {
  test('has everything in it, as lines that are read back', async () => {
    const savepoint = await written([DELAYS, BATCHES]);
    const lines = await all(exportJsonLines(savepoint));
    for (const line of lines) expect(line.indexOf('\n')).toBe(line.length - 1);
    const rows: ExportedRow[] = lines.map(parseJsonLine);
    expect(rows[0]).toEqual({
      row: 'checkpoint',
      job: 'flights',
      kind: 'savepoint',
      checkpointId: 1,
      triggeredAt: savepoint.metadata.triggeredAt,
      pointer: savepoint.pointer,
    });
    const at = (row: ExportedRow['row']): number => rows.filter((each) => each.row === row).length;
    expect([at('operator'), at('state'), at('timer'), at('operator-state')]).toEqual([2, 6, 2, 3]);
    expect(rows).toContainEqual({
      row: 'state',
      operator: 'delays',
      state: 'byDay',
      kind: 'map',
      key: 'SFO',
      mapKey: 'mon',
      value: 1n,
    });
    expect((await all(exportJsonLines(savepoint, { operators: ['batches'] }))).length).toBe(5);
  });
});

describe('writing', () => {
  const backend = createReferenceStateBackend();

  test('leaves nothing behind when it fails', async () => {
    const storage = savepointStorage();
    const bad = (operators: readonly OperatorData[]): Promise<unknown> =>
      failure(writeSavepoint({ storage, directory: 'mine', backend, job: 'flights', operators }));
    const state = (key: Key, value: unknown): OperatorData => ({
      uid: 'bad',
      states: { total: { kind: 'value', entries: [{ key, value }] } },
    });
    expect(isWeirError(await bad([DELAYS, state(NaN, 1)]), 'KEY_INVALID')).toBe(true);
    const refused = await bad([DELAYS, state(1, () => 1)]);
    expect(isWeirError(refused, 'VALUE_NOT_SERIALIZABLE')).toBe(true);
    expect(String(refused)).toContain("state 'total' of operator 'bad'");
    expect(isWeirError(await bad([DELAYS, DELAYS]), 'GRAPH_DUPLICATE_UID')).toBe(true);
    expect(isWeirError(await bad([{ ...DELAYS, maxParallelism: 0 }]), 'GRAPH_INVALID_PARALLELISM')).toBe(true);
    const other = { uid: 'other', maxParallelism: 64 };
    expect(isWeirError(await bad([DELAYS, other]), 'GRAPH_INVALID_PARALLELISM')).toBe(true);
    expect(isWeirError(await bad([]), 'CONFIG_INVALID')).toBe(true);
    expect([...storage.files.keys()]).toEqual([]);
  });

  test('goes to the place of the storage if none is given, and is refused where there is none', async () => {
    const write = (directory?: string): Promise<unknown> => {
      const storage = savepointStorage(directory === undefined ? {} : { savepointDirectory: directory });
      return failure(
        writeSavepoint({ storage, backend, job: 'flights', operators: [{ uid: 'n' }] }).then(({ pointer }) => {
          throw new Error(pointer);
        }),
      );
    };
    expect(String(await write('place'))).toContain('place/sp-1');
    expect(isWeirError(await write(), 'SAVEPOINT_NOWHERE')).toBe(true);
    const storage = { ...savepointStorage(), open: async () => ({ close: async () => undefined }) as never };
    const error = await failure(
      writeSavepoint({ storage, directory: 'x', backend, job: 'flights', operators: [{ uid: 'n' }] }),
    );
    expect(isWeirError(error, 'SAVEPOINT_NOWHERE')).toBe(true);
  });

  test('takes rows that come one by one', async () => {
    async function* counted(): AsyncGenerator<{ readonly key: number; readonly value: number }> {
      for (let n = 0; n < 10; n++) yield { key: n % 3, value: n };
    }
    const reader = (await written([{ uid: 'n', states: { last: { kind: 'value', entries: counted() } } }])).operator(
      'n',
    );
    const values = (await all(reader.values<number>('last'))).map(({ value }) => value);
    expect(values.sort()).toEqual([7, 8, 9]);
  });
});
