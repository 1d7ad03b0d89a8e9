import {
  defaultSerializer,
  type CheckpointId,
  type NativeStateHandle,
  type Serializer,
  type StateDeclaration,
} from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { describeRocks, useDirectory } from './support/driver.js';
import { ALL, STATES, openStore, type OpenStore } from './support/store.js';
import { StoredFiles, nativeOf } from './support/stored-files.js';

describeRocks('incremental captures of RocksDB state', (driver) => {
  const place = useDirectory();
  const work = (): string => place('work');

  async function capture(
    files: StoredFiles,
    { store }: OpenStore,
    checkpointId: CheckpointId,
  ): Promise<NativeStateHandle> {
    return nativeOf(await files.write(store.capture({ checkpointId, mode: 'incremental' })));
  }

  test('are the state at their moment, whatever happens while they are written', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 500, 1);
    const expected = from.contents();
    const taken = from.store.capture({ checkpointId: 1, mode: 'incremental' });
    let round = 2;
    const handle = nativeOf(
      await files.write(taken, {
        isOver: () => true,
        next: () => {
          from.fill(0, 200, round++);
          return Promise.resolve();
        },
      }),
    );
    expect(round).toBeGreaterThan(3);
    await using to = await openStore(driver, work());
    await to.store.restoreNative!(handle, files);
    expect(to.contents()).toEqual(expected);
    expect(from.contents()).not.toEqual(expected);
  });

  test('go on in a store that was restored from one, which appends to lists behind what is there', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    for (const round of [1, 2, 3]) {
      from.fill(0, 100, round);
      await capture(files, from, round);
    }
    const handle = await capture(files, from, 4);
    await using to = await openStore(driver, work());
    await to.store.restoreNative!(handle, files);
    to.store.setCurrentKey('key-7');
    to.list.add('last');
    expect([...to.list.values()]).toEqual([1, 2, 3, 'last']);
    expect(to.value.value()).toEqual({ i: 7, round: 3 });
    expect(new Map(to.map.entries())).toEqual(new Map([[1, '7 in 1'], [2, '7 in 2'], [3, '7 in 3']])); // prettier-ignore
  });

  test('store only what the last confirmed checkpoint does not have', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    const rowFiles = ({ files: of }: NativeStateHandle): Map<string, unknown> =>
      new Map(of.filter(({ name }) => name.endsWith('.sst')).map(({ name, blob }) => [name, blob]));
    from.fill(0, 2000, 1);
    const first = rowFiles(await capture(files, from, 1));
    expect(files.written).toHaveLength(first.size);

    // Not confirmed: everything again.
    const second = rowFiles(await capture(files, from, 2));
    for (const [name, blob] of second) expect(blob).not.toEqual(first.get(name));

    from.store.aborted(1);
    from.store.completed(2);
    from.fill(0, 20, 2);
    const before = files.written.length;
    const third = rowFiles(await capture(files, from, 3));
    const reused = [...third].filter(([name]) => second.has(name));
    expect(reused.length).toBeGreaterThan(0);
    for (const [name, blob] of reused) expect(blob).toBe(second.get(name));
    expect(files.written).toHaveLength(before + third.size - reused.length);

    // The base stays the last that was confirmed.
    from.store.aborted(3);
    const fourth = rowFiles(await capture(files, from, 4));
    for (const [name, blob] of fourth)
      if (third.has(name) && !second.has(name)) expect(blob).not.toEqual(third.get(name));
  });

  test('are made of the files that a store was restored from, if these are its own', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 2000, 1);
    const handle = await capture(files, from, 5);
    for (const isOwned of [true, false]) {
      await using to = await openStore(driver, work());
      await to.store.restoreNative!(handle, files);
      to.store.restored!({ checkpointId: 5, handles: [handle], isOwned });
      const before = files.written.length;
      const next = await capture(files, to, 6);
      const shared = next.files.filter(({ blob }) => blob.kind === 'shared');
      expect(shared.length).toBeGreaterThan(0);
      expect(files.written.slice(before)).toHaveLength(isOwned ? 0 : shared.length);
      await using again = await openStore(driver, work());
      await again.store.restoreNative!(next, files);
      expect(again.contents()).toEqual(from.contents());
    }
  });

  test('name their files after the database, as names come again after a restore', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 100, 1);
    const handle = await capture(files, from, 1);
    from.store.completed(1);
    await using to = await openStore(driver, work());
    await to.store.restoreNative!(handle, files);
    to.store.restored!({ checkpointId: 1, handles: [handle], isOwned: true });
    for (const one of [from, to]) one.fill(0, 100, one === from ? 2 : 3);
    await capture(files, from, 2);
    await capture(files, to, 2);
    expect(new Set(files.written).size).toBe(files.written.length);
  });

  test('are restored into half and into double the key groups', async () => {
    const files = new StoredFiles();
    const half = [{ first: 0, last: 7 }, { first: 8, last: 15 }]; // prettier-ignore
    await using whole = await openStore(driver, work());
    whole.fill(0, 300, 1);
    const handle = await capture(files, whole, 1);
    await using low = await openStore(driver, work(), { range: half[0]! });
    await using high = await openStore(driver, work(), { range: half[1]! });
    for (const store of [low, high]) await store.store.restoreNative!(handle, files);
    expect([...low.contents(), ...high.contents()].sort()).toEqual(whole.contents());
    const handles = [];
    for (const store of [low, high]) {
      store.fill(0, 300, 2);
      handles.push(await capture(files, store, 2));
    }
    whole.fill(0, 300, 2);
    await using merged = await openStore(driver, work());
    for (const part of handles) await merged.store.restoreNative!(part, files);
    expect(merged.contents()).toEqual(whole.contents());
    merged.fill(0, 300, 3);
    whole.fill(0, 300, 3);
    expect(merged.contents()).toEqual(whole.contents());
  });

  test('are restored where states are declared in another order, and others beside them', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 100, 1);
    const handle = await capture(files, from, 1);
    const states: StateDeclaration[] = [
      { name: 'new', kind: 'value', serializer: defaultSerializer },
      ...STATES.toReversed(),
    ];
    for (const range of [ALL, { first: 0, last: 20 }]) {
      await using to = await openStore(driver, work(), { states, range });
      await to.store.restoreNative!(handle, files);
      expect(to.contents()).toEqual(from.contents());
      const again = await capture(files, to, 2);
      await using third = await openStore(driver, work());
      await third.store.restoreNative!({ ...again, states: again.states.slice(0, 3) }, files);
      if (range === ALL) expect(third.contents()).toEqual(from.contents());
    }
  });

  test('hand values of an older version of the serializer on to its migration', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 50, 1);
    const handle = await capture(files, from, 1);
    const newer: Serializer = {
      ...defaultSerializer,
      version: defaultSerializer.version + 1,
      migrate: (bytes) => ({ migrated: defaultSerializer.decode(bytes) }),
    };
    const states = STATES.map((state) => (state.name === 'value' ? { ...state, serializer: newer } : state));
    await using to = await openStore(driver, work(), { states });
    await to.store.restoreNative!(handle, files);
    to.store.setCurrentKey('key-3');
    expect(to.value.value()).toEqual({ migrated: { i: 3, round: 1 } });
    expect([...to.list.values()]).toEqual([1]);
  });

  test('are refused before any file is opened where they cannot be read', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 10, 1);
    const handle = await capture(files, from, 1);
    await using to = await openStore(driver, work());
    const foreign: Partial<NativeStateHandle>[] = [
      { engine: 'acme' },
      { engineVersion: '999.1.0' },
      { engineVersion: 'unknown' },
      ...(
        [
          ['layout', '2'],
          ['format-version', '6'],
          ['checksum', 'xxh3'],
          ['compression', 'zstd'],
          ['sequence', 'none'],
        ] as const
      ).map(([name, value]) => ({ options: { ...handle.options, [name]: value } })),
    ];
    for (const change of foreign) {
      await expect(to.store.restoreNative!({ ...handle, ...change }, files)).rejects.toThrow(
        /^CHECKPOINT_INCOMPATIBLE/,
      );
    }
    expect(files.opened).toBe(0);
  });

  test('are refused for any file of theirs that is damaged, and leave nothing behind', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 300, 1);
    const handle = await capture(files, from, 1);
    expect(handle.files.length).toBeGreaterThanOrEqual(4);
    for (const { blob } of handle.files) {
      if (blob.kind === 'inline') continue;
      const whole = files.blobs.get(blob.path)!;
      for (const damaged of [whole.subarray(1), new Uint8Array(whole.length), flipped(whole), undefined]) {
        if (damaged === undefined) files.blobs.delete(blob.path);
        else files.blobs.set(blob.path, damaged);
        await using to = await openStore(driver, work());
        await expect(to.store.restoreNative!(handle, files)).rejects.toThrow(
          new RegExp(`^CHECKPOINT_UNREADABLE: ${blob.path}`),
        );
        expect(to.contents()).toEqual([]);
      }
      files.blobs.set(blob.path, whole);
    }
  });

  test('name files that are whole and yet no database unreadable', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work());
    from.fill(0, 10, 1);
    const handle = await capture(files, from, 1);
    await using to = await openStore(driver, work());
    const without = { ...handle, files: handle.files.filter(({ name }) => name !== 'CURRENT') };
    await expect(to.store.restoreNative!(without, files)).rejects.toThrow(/^CHECKPOINT_UNREADABLE/);
    const outside = { ...handle, files: handle.files.map((file) => ({ ...file, name: `../${file.name}` })) };
    await expect(to.store.restoreNative!(outside, files)).rejects.toThrow(/^CHECKPOINT_UNREADABLE/);
  });

  for (const mode of ['incremental', 'full'] as const) {
    test(`end with an error when the store is closed, at any point of their writing, as ${mode} ones do`, async () => {
      for (let slices = 0; slices < 12; slices++) {
        const files = new StoredFiles();
        const { store, fill } = await openStore(driver, work());
        fill(0, 500, 1);
        const taken = store.capture({ checkpointId: 1, mode });
        let left = slices;
        let closed: Promise<void> | undefined;
        const slice = {
          isOver: () => true,
          next: () => {
            if (left-- === 0) closed = Promise.resolve(store.close());
            return Promise.resolve();
          },
        };
        const writing = mode === 'full' ? taken.write({ section: () => undefined }, slice) : files.write(taken, slice);
        await expect(writing).rejects.toThrow(/^PROTOCOL_VIOLATION.*closed/);
        if (mode === 'full') taken.release();
        await closed;
      }
    });
  }

  test('leave the state as it is when they are released unwritten, one after the other', async () => {
    const files = new StoredFiles();
    await using from = await openStore(driver, work(), { cacheSize: 20_000 });
    for (let id = 1; id < 10; id++) {
      from.fill(0, 100, id);
      from.store.capture({ checkpointId: id, mode: id % 2 === 0 ? 'incremental' : 'full' }).release();
      from.fill(50, 150, id + 100);
    }
    const handle = await capture(files, from, 10);
    await using to = await openStore(driver, work());
    await to.store.restoreNative!(handle, files);
    expect(to.contents()).toEqual(from.contents());
  });
});

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
}
