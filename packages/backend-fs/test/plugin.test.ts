import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fsBackend, fsStorage } from '@weir/backend-fs';
import { SILENT, type Binder, type CheckpointStorage, type Plugin, type Scope } from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';

function provided(
  plugin: Plugin,
): readonly { readonly role: string; readonly type: string; readonly value: unknown }[] {
  const found: { role: string; type: string; value: unknown }[] = [];
  const binder: Binder = {
    provide: (role, type, create) => found.push({ role: role.name, type, value: create({} as Scope) }),
  };
  plugin.install(binder);
  return found;
}

test('the plugin fills the role of checkpoint storage with its options', async () => {
  const root = await mkdtemp(join(tmpdir(), 'weir-plugin-'));
  const plugin = fsStorage({
    checkpointsDir: pathToFileURL(root).href,
    inlineThreshold: '1 kb',
    writeBufferSize: '2kb',
  });
  const [candidate, ...others] = provided(plugin);
  expect(candidate).toMatchObject({ role: 'weir.checkpoint-storage/1', type: 'fs', value: { type: 'fs' } });
  expect(others).toEqual([]);
  const storage = candidate!.value as CheckpointStorage;
  const job = await storage.open({ job: 'orders', clock: new VirtualClock(), logger: SILENT });
  const location = await job.create(1);
  expect(location.pointer).toBe(join(root, 'orders', 'chk-1'));
  for (const [length, kind] of [
    [1024, 'inline'],
    [1025, 'blob'],
  ] as const) {
    const blob = location.createBlob();
    expect(blob.write(new Uint8Array(length))).toBeUndefined();
    expect(await blob.finish()).toMatchObject({ kind });
  }
  await rm(root, { recursive: true });
});

test('savepoints go where the plugin is told, unless their caller says otherwise', async () => {
  const root = await mkdtemp(join(tmpdir(), 'weir-plugin-'));
  const [candidate] = provided(fsStorage({ checkpointsDir: join(root, 'state'), savepointsDir: join(root, 'mine') }));
  const storage = candidate!.value as CheckpointStorage;
  const job = await storage.open({ job: 'Orders', clock: new VirtualClock(), logger: SILENT });
  expect(job.savepointDirectory).toBe(join(root, 'mine'));
  const { pointer } = await job.createSavepoint!(1, pathToFileURL(join(root, 'deep', 'er')).href);
  expect(pointer.startsWith(join(root, 'deep', 'er', 'savepoint-%4frders-'))).toBe(true);
  await rm(root, { recursive: true });
});

test('the backend is working state in memory and checkpoints in files', () => {
  const plugins = fsBackend({ checkpointsDir: '/c' });
  expect(plugins.flatMap(provided).map(({ role, type }) => [role, type])).toEqual([
    ['weir.state-backend/1', 'memory'],
    ['weir.checkpoint-storage/1', 'fs'],
  ]);
});

test('the plugin makes a storage for each job', () => {
  const plugin = fsStorage({ checkpointsDir: '/c' });
  expect(provided(plugin)[0]?.value).not.toBe(provided(plugin)[0]?.value);
});

test('the plugin refuses options that cannot be, and says how to give the one that is missing', () => {
  expect(() => provided(fsStorage())).toThrow(
    /PLUGIN_INVALID: .*checkpointsDir is missing: set it in code, or execution\.checkpointing\.dir in the configuration/,
  );
  expect(() => fsStorage({ checkpointsDir: '' })).toThrow(/PLUGIN_INVALID: .*checkpointsDir/);
  expect(() => fsStorage({ checkpointsDir: '/c', inlineThreshold: '2 mb' })).toThrow(
    /PLUGIN_INVALID: .*inlineThreshold/,
  );
  expect(() => fsStorage({ checkpointsDir: '/c', inlineThreshold: '20 lb' as '20 kb' })).toThrow(/inlineThreshold/);
});
