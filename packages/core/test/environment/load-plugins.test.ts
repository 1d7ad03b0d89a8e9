import { describe, expect, test } from 'vitest';
import { StateBackendRole } from '../../src/contracts/roles.js';
import { definePlugin } from '../../src/environment/define-plugin.js';
import { loadPlugins, packagesToLoad } from '../../src/environment/load-plugins.js';

const lmdb = definePlugin<{ dir?: string | undefined }>({
  name: '@acme/weir-lmdb',
  options: { type: 'object', properties: { dir: { type: 'string' } } },
  install: (binder) => {
    binder.provide(StateBackendRole, 'lmdb', () => ({}) as never);
  },
});

describe('packages that the configuration names', () => {
  test('are to be loaded, under the old names of the keys too, and each once', () => {
    const config = {
      'state.backend': '@acme/weir-lmdb',
      execution: { checkpointing: { storage: '@acme/weir-s3' } },
      'restart-strategy.type': '@acme/weir-s3',
    };
    expect(packagesToLoad(config, [])).toEqual(['@acme/weir-lmdb', '@acme/weir-s3']);
  });

  test('are not to be loaded if they are installed, nor are types', () => {
    const config = { 'state.backend.type': '@acme/weir-lmdb', 'restart-strategy.type': 'fixed-delay' };
    expect(packagesToLoad(config, [lmdb()])).toEqual([]);
  });

  test('give every plugin that they export', async () => {
    const names: string[] = [];
    const load = (name: string): Promise<object> => {
      names.push(name);
      return Promise.resolve({ lmdb, default: lmdb, version: '1', helper: () => 5 });
    };
    const plugins = await loadPlugins(['@acme/weir-lmdb'], load);
    expect(names).toEqual(['@acme/weir-lmdb']);
    expect(plugins.map(({ name }) => name)).toEqual(['@acme/weir-lmdb']);
  });

  test('cannot be loaded without the application’s help', async () => {
    await expect(loadPlugins(['@acme/weir-lmdb'], undefined)).rejects.toMatchObject({
      code: 'PLUGIN_MISSING',
      message: expect.stringContaining('pass load: (name) => import(name)'),
    });
  });

  test('are to be installed if they cannot be found', async () => {
    const cause = new Error('Cannot find package');
    await expect(loadPlugins(['@acme/weir-lmdb'], () => Promise.reject(cause))).rejects.toMatchObject({
      code: 'PLUGIN_MISSING',
      message: expect.stringContaining('npm i @acme/weir-lmdb'),
      cause,
    });
  });

  test('must have a plugin', async () => {
    await expect(loadPlugins(['left/pad'], () => Promise.resolve({ pad: () => 5 }))).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
    });
  });

  test('need not be named at all', async () => {
    expect(await loadPlugins([], undefined)).toEqual([]);
  });
});
