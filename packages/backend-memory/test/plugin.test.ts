import {
  createMemoryStateBackend,
  createMemoryStorage,
  memoryBackend,
  memoryState,
  memoryStorage,
} from '@weir/backend-memory';
import { createEnvironment, type PluginList } from '@weir/core';
import { keyBy, scan } from '@weir/core/operators';
import { SILENT, type Binder, type CheckpointStorage, type Plugin, type Scope } from '@weir/core/contracts';
import { VirtualClock, ledger, numbers } from '@weir/testkit';
import { expect, test } from 'vitest';

interface Provided {
  readonly plugin: string;
  readonly role: string;
  readonly type: string;
  readonly value: unknown;
}
function provided(plugins: PluginList): readonly Provided[] {
  const found: Provided[] = [];
  for (const plugin of plugins as readonly Plugin[]) {
    const binder: Binder = {
      provide: (role, type, create) =>
        found.push({ plugin: plugin.name, role: role.name, type, value: create({} as Scope) }),
    };
    plugin.install(binder);
  }
  return found;
}

test('the backend fills both roles', () => {
  expect(provided(memoryBackend()).map(({ plugin, role, type }) => [plugin, role, type])).toEqual([
    ['@weir/backend-memory/state', 'weir.state-backend/1', 'memory'],
    ['@weir/backend-memory/storage', 'weir.checkpoint-storage/1', 'memory'],
  ]);
  expect(provided([memoryState()])).toHaveLength(1);
});

test('each job gets its own', () => {
  const plugins = memoryBackend();
  const [one, another] = [provided(plugins), provided(plugins)];
  for (const [i, { value }] of one.entries()) expect(value).not.toBe(another[i]!.value);
});

test('the limit of the storage is an option, in any unit', async () => {
  const [{ value } = { value: undefined }] = provided([memoryStorage({ maxStateSize: '1 kb' })]);
  const job = await (value as CheckpointStorage).open({ job: 'orders', clock: new VirtualClock(), logger: SILENT });
  const blob = (await job.create(1)).createBlob();
  await blob.write(new Uint8Array(1025));
  await expect(blob.finish()).rejects.toThrow(/STATE_TOO_LARGE/);
});

test('options that cannot be are refused', () => {
  expect(() => memoryBackend({ maxStateSize: 0 })).toThrow(/PLUGIN_INVALID: .*maxStateSize/);
  expect(() => memoryBackend({ preservedBytes: 'many' as '1 kb' })).toThrow(/PLUGIN_INVALID: .*preservedBytes/);
  expect(() => createMemoryStorage({ maxStateSize: Number.NaN })).toThrow(/CONFIG_INVALID: .*maxStateSize/);
  expect(() => createMemoryStateBackend({ preservedBytes: -1 })).toThrow(/CONFIG_INVALID: .*preservedBytes/);
});

test('a keyed job runs on it', async () => {
  const out = ledger<number>();
  const env = createEnvironment({ plugins: [memoryBackend()] });
  env
    .from(numbers(6), { uid: 'numbers' })
    .pipe(
      keyBy((n) => n % 2),
      scan(
        (sum: number, n: number) => sum + n,
        () => 0,
        { uid: 'sums' },
      ),
    )
    .to(out, { uid: 'out' });
  await env.execute('sums');
  expect(out.entries.map(({ record }) => record).sort()).toEqual([0, 1, 2, 4, 6, 9]);
});
