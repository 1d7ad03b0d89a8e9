import type { CaptureMode, KeyedSection, KeyedStateHandle, SectionsHandle } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { NEVER_OVER, openStore, type OpenStore } from '../support/store.js';

interface Written {
  readonly kind: 'private' | 'base' | 'changes';
  readonly bytes: number;
  readonly rows: number;
  readonly links: number;
}

/** Takes checkpoints of a store that all complete, and says what each has written. */
function checkpoints({ store }: OpenStore): (mode?: CaptureMode) => Promise<Written> {
  let checkpointId = 0;
  return async (mode = 'incremental') => {
    const capture = store.capture({ checkpointId: ++checkpointId, mode });
    const sections: KeyedSection[] = [];
    const handles: KeyedStateHandle[] = [];
    await capture.write(
      {
        section: (section) => {
          sections.push(section);
        },
        incremental: {
          add: (handle) => handles.push(handle),
          watermark: undefined,
          createBlob() {
            throw new Error('it makes no files of its own');
          },
        },
      },
      NEVER_OVER,
    );
    const bytes = sections.reduce((sum, { rows }) => sum + rows.length, 0);
    const own: SectionsHandle = {
      range: { first: 0, last: 127 },
      format: capture.sections === 'changes' ? 'changes' : 'canonical',
      states: [],
      groups: [],
      blob: {
        kind: 'shared',
        key: String(checkpointId),
        path: String(checkpointId),
        length: bytes,
        algorithm: 'crc32',
        checksum: 0,
      },
    };
    if (sections.length > 0) handles.push(own);
    capture.written?.(handles);
    capture.release();
    store.completed(checkpointId);
    const rows = sections.reduce((sum, { count }) => sum + count, 0);
    return { kind: capture.sections ?? 'private', bytes, rows, links: handles.length };
  };
}

function update({ store, value }: OpenStore, first: number, count: number, to: unknown): void {
  for (let i = first; i < first + count; i++) {
    store.setCurrentKey(`key ${String(i)}`);
    value.update(to);
  }
}

describe('an incremental checkpoint', () => {
  test('of 1 % of the keys writes 1 % of the bytes, and less than 3 % in the mean', async () => {
    const opened = await openStore();
    update(opened, 0, 20_000, 1);
    const checkpoint = checkpoints(opened);
    const full = await checkpoint();
    expect(full).toMatchObject({ kind: 'base', rows: 20_000 });
    let written = 0;
    let most = 0;
    for (let n = 1; n <= 40; n++) {
      // Different keys each time.
      update(opened, (n * 200) % 20_000, 200, n);
      const changes = await checkpoint();
      expect(changes.kind).toBe('changes');
      if (n === 1) expect(changes).toMatchObject({ rows: 200, links: 2 });
      written += changes.bytes;
      most = Math.max(most, changes.links);
    }
    expect(written / 40 / full.bytes).toBeLessThan(0.03);
    expect(most).toBeLessThanOrEqual(16 + 2);
  });

  test('of keys that change over and over writes no more than these keys, also where links are put together', async () => {
    const opened = await openStore();
    update(opened, 0, 10_000, 1);
    const checkpoint = checkpoints(opened);
    await checkpoint();
    for (let n = 1; n <= 200; n++) {
      update(opened, 0, 100, n);
      expect(await checkpoint()).toMatchObject({ kind: 'changes', rows: 100 });
    }
  });

  test('where nothing has changed writes nothing', async () => {
    const opened = await openStore();
    update(opened, 0, 100, 1);
    const checkpoint = checkpoints(opened);
    await checkpoint();
    for (let n = 0; n < 40; n++) expect(await checkpoint()).toEqual({ kind: 'changes', bytes: 0, rows: 0, links: 1 });
  });

  test('writes what was added to a list, and the items of a map that were touched', async () => {
    const opened = await openStore();
    const { store, list, map, serializer } = opened;
    store.setCurrentKey('a');
    for (let i = 0; i < 5000; i++) list.add(i);
    for (let i = 0; i < 5000; i++) map.set(i, i);
    const checkpoint = checkpoints(opened);
    await checkpoint();
    list.add('one more');
    map.set(17, 'changed');
    map.set('new', 1);
    map.delete(18);
    const before = serializer.encoded;
    expect(await checkpoint()).toMatchObject({ kind: 'changes', rows: 4 });
    expect(serializer.encoded - before).toBe(3);
  });

  test('says nothing of keys and items that came and went since the one before', async () => {
    const opened = await openStore();
    update(opened, 0, 1000, 1);
    const { store, value, list, map } = opened;
    const checkpoint = checkpoints(opened);
    await checkpoint();
    for (let i = 0; i < 100; i++) {
      store.setCurrentKey(`short-lived ${String(i)}`);
      value.update(1);
      value.clear();
      list.add(1);
      list.clear();
      map.set(1, 1);
      map.delete(1);
      map.set(2, 2);
      map.clear();
    }
    expect(await checkpoint()).toMatchObject({ kind: 'changes', rows: 0 });
  });

  test('is a full one again where more than half has changed', async () => {
    const opened = await openStore();
    update(opened, 0, 1000, 1);
    const checkpoint = checkpoints(opened);
    await checkpoint();
    update(opened, 0, 501, 2);
    expect(await checkpoint()).toMatchObject({ kind: 'base', rows: 1000 });
  });
});

describe('what is remembered of changes', () => {
  test('begins with the first incremental checkpoint, and ends when there are none any more', async () => {
    const opened = await openStore();
    update(opened, 0, 3000, {});
    const checkpoint = checkpoints(opened);
    const { store, value } = opened;
    await checkpoint('full');
    await checkpoint();
    // More than may be remembered, while only full checkpoints ask.
    for (let n = 0; n < 5; n++) {
      update(opened, 0, 1500, n);
      expect(await checkpoint('full')).toMatchObject({ kind: 'private', rows: 3000 });
    }
    update(opened, 0, 1, 'last');
    expect(await checkpoint()).toMatchObject({ kind: 'base' });
    store.setCurrentKey('key 0');
    expect(value.value()).toBe('last');
  });
});
