import { createEnvironment } from '@weir/core';
import {
  defaultSerializer,
  SILENT,
  systemClock,
  v8Serializer,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type KeyGroupRange,
  type ListState,
  type MapState,
  type Slice,
  type StateDeclaration,
  type ValueState,
} from '@weir/core/contracts';
import { keyBy, scan } from '@weir/core/operators';
import { describe, expect, test } from 'vitest';
import { createReferenceStateBackend, ledger, numbers, referenceStateBackend } from '../../src/index.js';

const ALL: KeyGroupRange = { first: 0, last: 127 };
const STATES: readonly StateDeclaration[] = [
  { name: 'value', kind: 'value', serializer: defaultSerializer, initial: () => ({ fresh: true }) },
  { name: 'list', kind: 'list', serializer: defaultSerializer },
  { name: 'map', kind: 'map', serializer: defaultSerializer },
];
/** Over at once, so that the writer has to ask for the next one after each section. */
const SHORT: Slice = { isOver: () => true, next: async () => undefined };

async function open(
  keyGroups: KeyGroupRange = ALL,
  states: readonly StateDeclaration[] = STATES,
): Promise<KeyedStateStore> {
  return createReferenceStateBackend().open({
    job: 'job',
    operator: 'operator',
    subtask: 0,
    keyGroups,
    maxParallelism: 128,
    states,
    clock: systemClock,
    logger: SILENT,
  });
}
const value = (store: KeyedStateStore): ValueState<unknown> => store.handle('value') as ValueState<unknown>;
const list = (store: KeyedStateStore): ListState<unknown> => store.handle('list') as ListState<unknown>;
const map = (store: KeyedStateStore): MapState<Key, unknown> => store.handle('map') as MapState<Key, unknown>;

function fill(store: KeyedStateStore): void {
  for (let i = 0; i < 50; i++) {
    store.setCurrentKey(['key', i]);
    value(store).update({ i });
    for (let n = 0; n < i % 4; n++) list(store).add([i, n]);
    for (let n = 0; n < i % 3; n++) map(store).set(n, `${String(i)} ${String(n)}`);
  }
}
function contentOf(...stores: readonly KeyedStateStore[]): readonly string[] {
  return stores
    .flatMap((store) => ['value', 'list', 'map'].flatMap((name) => [...store.entries(name)]))
    .map((entry) => JSON.stringify(entry))
    .sort();
}
async function sectionsOf(capture: KeyedCapture): Promise<readonly KeyedSection[]> {
  const sections: KeyedSection[] = [];
  await capture.write({ section: (section) => void sections.push(section) }, SHORT);
  capture.release();
  return sections;
}

describe('the reference state backend', () => {
  test('keeps what is written for each key alone', async () => {
    const store = await open();
    store.setCurrentKey('a');
    value(store).update(1);
    list(store).add(2);
    map(store).set('m', 3);
    store.setCurrentKey('b');
    expect([value(store).value(), [...list(store).values()], map(store).get('m')]).toEqual([
      { fresh: true },
      [],
      undefined,
    ]);
    store.setCurrentKey('a');
    expect([value(store).value(), [...list(store).values()], map(store).get('m')]).toEqual([1, [2], 3]);
  });

  test('gives a new initial value each time, and undefined once that was written', async () => {
    const store = await open();
    store.setCurrentKey('a');
    expect(value(store).value()).not.toBe(value(store).value());
    value(store).update(undefined);
    expect(value(store).value()).toBeUndefined();
    value(store).clear();
    expect(value(store).value()).toEqual({ fresh: true });
  });

  test('forgets keys that hold nothing any more', async () => {
    const store = await open();
    store.setCurrentKey('a');
    list(store).add(1);
    map(store).set('m', 2);
    map(store).set('n', 2);
    list(store).clear();
    map(store).delete('m');
    expect(contentOf(store)).toHaveLength(1);
    map(store).delete('n');
    expect(contentOf(store)).toEqual([]);
  });

  test('ends the iteration over a map that is cleared meanwhile', async () => {
    const store = await open();
    store.setCurrentKey('a');
    for (let n = 0; n < 3; n++) map(store).set(n, n);
    const seen: Key[] = [];
    for (const [key] of map(store).entries()) {
      seen.push(key);
      map(store).clear();
    }
    expect(seen).toEqual([0]);
  });

  test('captures the moment: nothing that happens later shows, not even a change in place', async () => {
    const store = await open();
    fill(store);
    const before = contentOf(store);
    const capture = store.capture({ checkpointId: 1, mode: 'full' });
    store.setCurrentKey(['key', 7]);
    (value(store).value() as { i: number }).i = 99;
    list(store).clear();
    map(store).set('new', 1);
    const restored = await open();
    for (const section of await sectionsOf(capture)) restored.restore(section);
    expect(contentOf(restored)).toEqual(before);
  });

  test('writes sections in ascending key groups, each state of a group once', async () => {
    const store = await open();
    fill(store);
    const sections = await sectionsOf(store.capture({ checkpointId: 1, mode: 'full' }));
    const groups = sections.map(({ keyGroup }) => keyGroup);
    expect(groups).toEqual(groups.toSorted((a, b) => a - b));
    expect(new Set(sections.map(({ keyGroup, state }) => `${String(keyGroup)} ${state.name}`)).size).toBe(
      sections.length,
    );
    expect(sections.every(({ count }) => count > 0)).toBe(true);
  });

  test('restores into other ranges of key groups', async () => {
    const store = await open();
    fill(store);
    const sections = await sectionsOf(store.capture({ checkpointId: 1, mode: 'full' }));
    const halves = [await open({ first: 0, last: 63 }), await open({ first: 64, last: 127 })] as const;
    for (const section of sections) halves[section.keyGroup < 64 ? 0 : 1].restore(section);
    expect(contentOf(...halves)).toEqual(contentOf(store));
    expect(contentOf(halves[0]).length).toBeGreaterThan(10);
  });

  test.each<[string, string, (store: KeyedStateStore) => unknown]>([
    ['a state that was not declared', 'STATE_UNKNOWN', (store) => store.handle('other')],
    ['state without a key', 'STATE_NO_KEY', (store) => value(store).value()],
    [
      'a key that can be none',
      'KEY_INVALID',
      (store) => {
        store.setCurrentKey(NaN);
      },
    ],
    [
      'a map key that can be none',
      'KEY_INVALID',
      (store) => {
        store.setCurrentKey('a');
        map(store).set(NaN, 1);
      },
    ],
    [
      'state that is closed',
      'PROTOCOL_VIOLATION',
      (store) => {
        void store.close();
        store.setCurrentKey('a');
      },
    ],
  ])('refuses %s', async (_, code, use) => {
    const store = await open();
    expect(() => use(store)).toThrow(expect.objectContaining({ code }));
  });

  test('refuses keys of another subtask', async () => {
    const store = await open({ first: 0, last: 0 });
    expect(() => {
      for (let i = 0; i < 10; i++) store.setCurrentKey(i);
    }).toThrow(expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }));
  });

  test('refuses to encode what would not come back', async () => {
    const store = await open();
    store.setCurrentKey('a');
    value(store).update(() => 1);
    expect(() => store.capture({ checkpointId: 1, mode: 'full' })).toThrow(
      expect.objectContaining({ code: 'VALUE_NOT_SERIALIZABLE' }),
    );
  });

  test('refuses state of another kind, of another serializer, and damaged', async () => {
    const store = await open();
    store.setCurrentKey('a');
    value(store).update(1);
    const [section] = (await sectionsOf(store.capture({ checkpointId: 1, mode: 'full' }))) as [KeyedSection];
    const other = await open(ALL, [
      { name: 'value', kind: 'list', serializer: defaultSerializer },
      { name: 'v8', kind: 'value', serializer: v8Serializer },
    ]);
    const refusal = (code: string): unknown => expect.objectContaining({ code });
    expect(() => {
      other.restore(section);
    }).toThrow(refusal('CHECKPOINT_INCOMPATIBLE'));
    expect(() => {
      other.restore({ ...section, state: { ...section.state, name: 'v8' } });
    }).toThrow(refusal('SERIALIZER_MISMATCH'));
    expect(() => {
      store.restore({ ...section, rows: section.rows.subarray(1) });
    }).toThrow(refusal('CHECKPOINT_UNREADABLE'));
  });

  test('refuses to write a capture that was released', async () => {
    const capture = (await open()).capture({ checkpointId: 1, mode: 'full' });
    capture.release();
    await expect(capture.write({ section: () => undefined }, SHORT)).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
    });
  });

  test('holds the state of a job as a plugin', async () => {
    const env = createEnvironment({ plugins: [referenceStateBackend()], logger: SILENT });
    const sink = ledger<number>();
    env
      .from(numbers(6))
      .pipe(
        keyBy((n) => n % 2),
        scan(
          (sum, n) => sum + n,
          () => 0,
        ),
      )
      .to(sink);
    await env.execute('job');
    expect(sink.entries.map(({ record }) => record)).toEqual([0, 1, 2, 4, 6, 9]);
  });
});
