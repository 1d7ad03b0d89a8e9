import { createReferenceStateBackend } from '@weir/testkit';
import { expect, test } from 'vitest';
import type { CheckpointMetadata } from '../../src/contracts/metadata.js';
import type { NativeStateHandle } from '../../src/contracts/snapshot.js';
import type { KeyedStateStore, StateBackend, ValueState } from '../../src/contracts/state-backend.js';
import { keyGroupOf } from '../../src/element/key-group.js';
import { isWeirError } from '../../src/errors.js';
import { encodeMetadata } from '../../src/snapshot/metadata.js';
import { compareCheckpoints } from '../../src/reader/compare-checkpoints.js';
import { openCheckpoint, type OpenCheckpointOptions } from '../../src/reader/open-checkpoint.js';
import { writeSavepoint } from '../../src/reader/write-savepoint.js';
import { savepointStorage } from '../support/savepoint-storage.js';

const KEYS = 200;
const ALL = { first: 0, last: 127 };

/** Its own format is JSON: an array of pairs of key and value. */
function jsonFileBackend(seen: { open: number } = { open: 0 }): StateBackend {
  const inner = createReferenceStateBackend();
  return {
    type: 'json-files',
    capabilities: inner.capabilities,
    async open(scope) {
      const store = await inner.open(scope);
      seen.open++;
      return delegate(store, {
        async restoreNative({ files, states }, stored) {
          expect(states.map(({ kind }) => kind)).toEqual(scope.states.map(({ kind }) => kind));
          const chunks: Uint8Array[] = [];
          for await (const chunk of stored.open(files[0]!.blob)) chunks.push(chunk);
          for (const [key, value] of JSON.parse(Buffer.concat(chunks).toString()) as [number, unknown][]) {
            const group = keyGroupOf(key, scope.maxParallelism);
            if (group < scope.keyGroups.first || group > scope.keyGroups.last) continue;
            store.setCurrentKey(key);
            (store.handle('total') as ValueState<unknown>).update(value);
          }
        },
        async close() {
          seen.open--;
          await store.close();
        },
      });
    },
  };
}

function delegate(store: KeyedStateStore, own: Partial<KeyedStateStore>): KeyedStateStore {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    },
  });
}

const storage = savepointStorage();

/** A checkpoint whose one operator has KEYS values in a file of its backend's. */
async function nativeCheckpoint(valueOf: (key: number) => unknown): Promise<string> {
  const opened = await storage.open({} as never);
  const location = await opened.createSavepoint!(7, 'native');
  const blob = location.createBlob();
  await blob.write(Buffer.from(JSON.stringify(Array.from({ length: KEYS }, (_, key) => [key, valueOf(key)]))));
  const handle: NativeStateHandle = {
    range: ALL,
    format: 'native',
    engine: 'json-files',
    engineVersion: '1.2',
    options: {},
    states: [{ name: 'total', kind: 'reducing', serializer: { id: 'msgpack', version: 1 } }],
    watermark: 5,
    files: [{ name: 'rows.json', blob: await blob.finish() }],
  };
  const subtask = { index: 0, keyed: [handle], operator: [], committables: undefined, channels: [] };
  const operator = {
    uid: 'delays',
    parallelism: 1,
    maxParallelism: 128,
    status: 'running',
    enumerator: undefined,
  } as const;
  const metadata: CheckpointMetadata = {
    job: 'flights',
    lineage: 'a',
    attempt: 1,
    checkpointId: 7,
    kind: 'checkpoint',
    triggeredAt: 0,
    restoredFrom: undefined,
    weirVersion: '0.1.0',
    nodeVersion: '20.0.0',
    selfContained: true,
    graphHash: '',
    operators: [{ ...operator, subtasks: [subtask] }],
  };
  await location.publish(encodeMetadata(metadata));
  return location.pointer;
}

async function totals(pointer: string, options: Partial<OpenCheckpointOptions>, limit = Infinity): Promise<unknown[]> {
  const checkpoint = await openCheckpoint(pointer, { storage, ...options });
  const found: unknown[] = [];
  for await (const { key, value } of checkpoint.operator('delays').values('total')) {
    if (found.length >= limit) break;
    found.push([key, value]);
  }
  return found;
}

test('state in the own format of a backend is read by that backend', async () => {
  const pointer = await nativeCheckpoint((key) => key * 2);
  const seen = { open: 0 };
  const found = (await totals(pointer, { backends: [jsonFileBackend(seen)] })) as [number, number][];
  expect(found.sort(([a], [b]) => a - b)).toEqual(Array.from({ length: KEYS }, (_, key) => [key, key * 2]));
  expect(seen.open).toBe(0);
});

test('what is not read to its end is closed all the same', async () => {
  const seen = { open: 0 };
  const pointer = await nativeCheckpoint((key) => key);
  expect(await totals(pointer, { backends: [jsonFileBackend(seen)] }, 3)).toHaveLength(3);
  expect(seen.open).toBe(0);
});

test('it is compared with what another backend has written, also where groups are asked for again', async () => {
  const options = { storage, backends: [jsonFileBackend()] };
  const native = await openCheckpoint(await nativeCheckpoint((key) => key), options);
  const entries = Array.from({ length: KEYS }, (_, key) => ({ key, value: key === 9 ? 'other' : key }));
  for (const maxParallelism of [128, 96]) {
    const { pointer } = await writeSavepoint({
      storage,
      directory: 'mine',
      backend: createReferenceStateBackend(),
      job: 'flights',
      operators: [{ uid: 'delays', maxParallelism, states: { total: { kind: 'reducing', entries } } }],
    });
    const { states } = await compareCheckpoints(native, await openCheckpoint(pointer, options)).summary();
    expect(states).toEqual([{ operator: 'delays', state: 'total', added: 0, removed: 0, changed: 1, same: KEYS - 1 }]);
  }
});

test('without that backend the error names it, and what it is for', async () => {
  const pointer = await nativeCheckpoint((key) => key);
  const error = await totals(pointer, {}).catch((reason: unknown) => reason);
  expect(isWeirError(error, 'PLUGIN_MISSING')).toBe(true);
  expect(String(error)).toContain("operator 'delays' in checkpoint 7 of job flights");
  expect(String(error)).toContain("state backend 'json-files' (1.2)");
  const { formats } = (await openCheckpoint(pointer, { storage })).operators[0]!;
  expect(formats).toEqual(['json-files']);
});

test('damage to its files is noticed before a value is given', async () => {
  const pointer = await nativeCheckpoint((key) => key);
  const path = [...storage.files.keys()].find((name) => name.startsWith(`${pointer}/blob`))!;
  storage.files.delete(path);
  const error = await totals(pointer, { backends: [jsonFileBackend()] }).catch((reason: unknown) => reason);
  expect(isWeirError(error, 'CHECKPOINT_UNREADABLE')).toBe(true);
});
