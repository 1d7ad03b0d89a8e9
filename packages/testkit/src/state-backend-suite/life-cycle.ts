import assert from 'node:assert/strict';
import {
  ByteWriter,
  defaultSerializer,
  keyGroupOf,
  writeListRow,
  writeMapRow,
  writeValueRow,
  type Key,
  type KeyedSection,
  type ListState,
  type MapState,
  type Serializer,
  type StateDeclaration,
  type StateKind,
  type ValueState,
} from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import { MAX_PARALLELISM, type States } from './declarations.js';
import { failsWith, type StateBackendSuiteOptions } from './fixture.js';
import { openStore } from './keyed-stores.js';

/** Opening, restoring and closing, and what is refused. */
export function lifeCycleChecks(test: TestFunction, { create }: StateBackendSuiteOptions): void {
  test('names a state that is not declared', async () => {
    const store = await openStore(await create());
    await failsWith('STATE_UNKNOWN', () => store.handle('other'));
    await failsWith('STATE_UNKNOWN', () => [...store.entries('other')]);
    await failsWith('STATE_UNKNOWN', () => {
      store.restore(sectionOf('value', 'other', 'a', 1));
    });
    await store.close();
  });

  test('refuses to store anything under what cannot be a key', async () => {
    const store = await openStore(await create());
    const sum = store.handle('last') as ValueState<unknown>;
    for (const key of [Number.NaN, undefined, null, {}, '\ud800', ['a', Number.NaN]]) {
      await failsWith('KEY_INVALID', () => {
        store.setCurrentKey(key as Key);
        sum.update(1);
      });
    }
    await store.close();
  });

  test('refuses any access to state before there is a key', async () => {
    const store = await openStore(await create());
    const calls = accesses(store.handle.bind(store));
    for (const call of calls) await failsWith('STATE_NO_KEY', call);
    store.setCurrentKey('a');
    for (const call of calls) call();
    await store.close();
  });

  test('refuses any use after it is closed', async () => {
    const store = await openStore(await create());
    const calls = accesses(store.handle.bind(store));
    store.setCurrentKey('a');
    for (const call of calls) call();
    await store.close();
    await failsWith('PROTOCOL_VIOLATION', () => store.capture({ checkpointId: 1, mode: 'full' }));
    await failsWith('PROTOCOL_VIOLATION', () => store.handle('count'));
    await failsWith('PROTOCOL_VIOLATION', () => {
      store.setCurrentKey('b');
    });
    for (const call of calls) await failsWith('PROTOCOL_VIOLATION', call);
  });

  test('refuses a key of another subtask before anything of it is stored', async () => {
    const range = { first: 0, last: 7 };
    const store = await openStore(await create(), range);
    const foreign = [...Array(100).keys()].find((key) => keyGroupOf(key, MAX_PARALLELISM) > range.last)!;
    await failsWith('PROTOCOL_VIOLATION', () => {
      store.setCurrentKey(foreign);
      (store.handle('count') as States['count']).update(1);
    });
    await store.close();
  });

  test('takes news of checkpoints that it knows and that it does not know', async () => {
    const store = await openStore(await create());
    store.setCurrentKey('a');
    (store.handle('count') as States['count']).update(1);
    const capture = store.capture({ checkpointId: 7, mode: 'full' });
    store.aborted(6);
    await capture.write({ section: () => undefined }, { isOver: () => false, next: () => Promise.resolve() });
    capture.release();
    store.completed(7);
    store.completed(9);
    store.aborted(7);
    assert.equal((store.handle('count') as States['count']).value(), 1);
    await store.close();
  });

  test('lets stores of one backend be, each with its own state', async () => {
    const backend = await create();
    const [one, two] = [await openStore(backend), await openStore(backend)];
    one.setCurrentKey('a');
    two.setCurrentKey('a');
    (one.handle('count') as States['count']).update(1);
    assert.equal((two.handle('count') as States['count']).value(), 0);
    await one.close();
    (two.handle('count') as States['count']).update(2);
    assert.equal((two.handle('count') as States['count']).value(), 2);
    await two.close();
  });

  test('adds up the rows that it is given, in any number of sections', async () => {
    const store = await openStore(await create());
    for (const round of [1, 2, 3]) {
      store.restore(sectionOf('list', 'items', 'a', round));
      store.restore(sectionOf('map', 'index', 'a', round));
      store.restore(sectionOf('value', 'count', `k${String(round)}`, round));
    }
    store.setCurrentKey('a');
    assert.deepStrictEqual([...(store.handle('items') as ListState<unknown>).values()], [1, 2, 3]);
    const entries = [...(store.handle('index') as MapState<number, unknown>).entries()];
    assert.deepStrictEqual(new Map(entries), new Map([[1, 1], [2, 2], [3, 3]])); // prettier-ignore
    for (const round of [1, 2, 3]) {
      store.setCurrentKey(`k${String(round)}`);
      assert.equal((store.handle('count') as States['count']).value(), round);
    }
    await store.close();
  });

  test('refuses rows of another kind of state', async () => {
    const store = await openStore(await create());
    await failsWith('CHECKPOINT_INCOMPATIBLE', () => {
      store.restore(sectionOf('list', 'count', 'a', 1));
    });
    await store.close();
  });

  test('reads what an older version of the serializer wrote, and nothing that another one wrote', async () => {
    const states: StateDeclaration[] = [{ name: 'count', kind: 'value', serializer: NEWER }];
    const store = await openStore(await create(), undefined, 0, states);
    store.restore(sectionOf('value', 'count', 'a', 20));
    store.setCurrentKey('a');
    assert.equal((store.handle('count') as ValueState<unknown>).value(), 'migrated from version 1: 20');
    const foreign = sectionOf('value', 'count', 'b', 20);
    await failsWith('SERIALIZER_MISMATCH', () => {
      store.restore({ ...foreign, state: { ...foreign.state, serializer: { id: 'acme.other', version: 1 } } });
    });
    await store.close();
  });
}

const NEWER: Serializer = {
  id: defaultSerializer.id,
  version: defaultSerializer.version + 1,
  encode: (value, out) => {
    defaultSerializer.encode(value, out);
  },
  decode: (from) => defaultSerializer.decode(from),
  migrate: (from, version) => `migrated from version ${String(version)}: ${String(defaultSerializer.decode(from))}`,
};

/** One row as a backend of any kind would have written it. */
function sectionOf(kind: StateKind, name: string, key: string, value: number): KeyedSection {
  const out = new ByteWriter();
  if (kind === 'value') writeValueRow(out, key, value, defaultSerializer);
  if (kind === 'list') writeListRow(out, key, [value], 0, 1, defaultSerializer);
  if (kind === 'map') writeMapRow(out, key, value, value, defaultSerializer);
  const { id, version } = defaultSerializer;
  return {
    keyGroup: keyGroupOf(key, MAX_PARALLELISM),
    state: { name, kind, serializer: { id, version } },
    count: 1,
    rows: out.toBytes(),
  };
}

/** Every way to use state. */
function accesses(handle: (name: string) => unknown): readonly (() => void)[] {
  const count = handle('count') as States['count'];
  const items = handle('items') as States['items'];
  const index = handle('index') as States['index'];
  return [
    () => count.value(),
    () => {
      count.update(1);
    },
    () => {
      count.clear();
    },
    () => [...items.values()],
    () => {
      items.add(1);
    },
    () => {
      items.clear();
    },
    () => index.get('k'),
    () => {
      index.set('k', 1);
    },
    () => {
      index.delete('k');
    },
    () => [...index.entries()],
    () => {
      index.clear();
    },
  ];
}
