import { describe, expect, test } from 'vitest';
import { defineRole, type Binder, type Plugin, type Role } from '../../src/contracts/plugin.js';
import type { WeirError } from '../../src/errors.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import { JobContainer } from '../../src/environment/container.js';
import { definePlugin } from '../../src/environment/define-plugin.js';
import type { Duration } from '../../src/environment/duration.js';
import type { ConfigSource } from '../../src/environment/flatten-config.js';
import { installPlugins, keysOfPlugins } from '../../src/environment/install-plugins.js';
import { settingOf } from '../../src/environment/setting-of.js';

interface LmdbOptions {
  dir: string;
  mapSize?: number | undefined;
  sync?: boolean | undefined;
  flushEvery?: Duration | undefined;
  retry?: { readonly delay?: Duration } | undefined;
}
const Installed: Role<Readonly<LmdbOptions>> = defineRole('test.installed/1');

const lmdb = definePlugin<LmdbOptions>({
  name: '@acme/weir-lmdb',
  options: {
    type: 'object',
    properties: {
      dir: { type: 'string', minLength: 1 },
      mapSize: { type: 'integer', minimum: 4096, default: 8192 },
      sync: { type: 'boolean' },
      flushEvery: { holds: { kind: 'duration', min: 5 } },
      retry: { type: 'object', properties: { delay: { holds: { kind: 'duration' } } } },
    },
    required: ['dir'],
  },
  keys: {
    dir: 'state.backend.lmdb.dir',
    mapSize: 'state.backend.lmdb.map-size',
    sync: 'state.backend.lmdb.sync',
    flushEvery: 'state.backend.lmdb.flush-every',
    retry: 'state.backend.lmdb.retry',
  },
  install: (binder, options) => {
    binder.provide(Installed, 'lmdb', () => options);
  },
});

function optionsOf(plugin: Plugin, config: ConfigSource = {}): Readonly<LmdbOptions> {
  const container = new JobContainer();
  installPlugins(container, [plugin], readConfiguration(config, keysOfPlugins([plugin])));
  return container.get(Installed);
}

function failure(action: () => unknown): WeirError {
  try {
    action();
  } catch (error) {
    return error as WeirError;
  }
  throw new Error('nothing was refused');
}

describe('the options of a plugin', () => {
  test('come from code, else from the configuration, else from the schema', () => {
    const config = { 'state.backend.lmdb.dir': '/file', 'state.backend.lmdb.map-size': '16384' };
    expect(optionsOf(lmdb({ dir: '/code', mapSize: 4096 }), config)).toEqual({ dir: '/code', mapSize: 4096 });
    expect(optionsOf(lmdb({ dir: '/code' }), config)).toEqual({ dir: '/code', mapSize: 16_384 });
    expect(optionsOf(lmdb(), config)).toEqual({ dir: '/file', mapSize: 16_384 });
    expect(optionsOf(lmdb({ dir: '/code' }))).toEqual({ dir: '/code', mapSize: 8192 });
  });

  test('that are undefined in code are not set there', () => {
    expect(optionsOf(lmdb({ dir: '/code', mapSize: undefined }), { 'state.backend.lmdb.map-size': 4096 }).mapSize).toBe(
      4096,
    );
  });

  test('are read from text as their schema wants them', () => {
    const config = {
      state: { backend: { lmdb: { dir: '/file', sync: 'TRUE', 'flush-every': '5 s', retry: { delay: '1 s' } } } },
    };
    expect(optionsOf(lmdb(), config)).toEqual({
      dir: '/file',
      mapSize: 8192,
      sync: true,
      flushEvery: 5000,
      retry: { delay: 1000 },
    });
  });

  test('may be durations in code too', () => {
    expect(optionsOf(lmdb({ dir: 'x', flushEvery: '5 s' })).flushEvery).toBe(5000);
  });

  test('belong to whoever set them: nothing is written into their objects', () => {
    const inCode = { dir: 'x', retry: { delay: '1 s' as const } };
    const plugin = lmdb(inCode);
    expect(optionsOf(plugin).retry).toEqual({ delay: 1000 });
    expect(optionsOf(plugin).retry).toEqual({ delay: 1000 });
    expect(inCode).toEqual({ dir: 'x', retry: { delay: '1 s' } });
  });

  test('may be functions and instances, which are handed on as they are', () => {
    const Handed: Role<object> = defineRole('test.handed/1');
    class Client {
      readonly url = 'x';
    }
    const factory = definePlugin<{ client: Client; make: () => number }>({
      name: 'p',
      options: { type: 'object', properties: { client: {}, make: {} } },
      install: (binder, options) => {
        binder.provide(Handed, 'x', () => options);
      },
    });
    const options = { client: new Client(), make: () => 5 };
    const container = new JobContainer();
    installPlugins(container, [factory(options)], readConfiguration({}));
    expect((container.get(Handed) as typeof options).client).toBe(options.client);
    expect((container.get(Handed) as typeof options).make).toBe(options.make);
  });

  test('are checked where they are written', () => {
    const error = failure(() => lmdb({ dir: 'x', mapSize: 5 }));
    expect(error).toMatchObject({ code: 'PLUGIN_INVALID', recoverable: false });
    expect(error.message).toBe('PLUGIN_INVALID: @acme/weir-lmdb: option mapSize must be >= 4096, but is 5');
  });

  test.each([
    [{ dir: '' }, 'dir must NOT have fewer than 1 characters'],
    [{ dir: 5 }, 'dir must be string, but is 5'],
    [{ dir: 'x', mapSize: '4096' }, "mapSize must be integer, but is '4096'"],
    [{ dir: 'x', mapSize: NaN }, 'mapSize must be integer'],
    [{ dir: 'x', flushEvery: '1 ms' }, 'flushEvery must be at least 5 ms'],
    [{ dir: 'x', flushEvery: 'often' }, 'flushEvery must be a duration'],
    [{ dir: 'x', retry: { delay: -1 } }, 'retry.delay must not be negative, but is -1'],
    [{ dri: 'x' }, 'dri is not known: did you mean dir?'],
  ])('are refused by name: %j', (options, problem) => {
    const error = failure(() => lmdb(options as LmdbOptions));
    expect(error.code).toBe('PLUGIN_INVALID');
    expect(error.message).toContain(`@acme/weir-lmdb: option ${problem}`);
  });

  test('that are wrong are all named at once', () => {
    expect(failure(() => lmdb({ dir: 5, mapSize: 1 } as never)).message).toContain(
      'option dir must be string, but is 5; option mapSize must be >= 4096',
    );
  });

  test.each([null, 'x', 5, ['x'], new Map([['dir', 'x']])])('are an object, not %o', (options) => {
    expect(failure(() => lmdb(options as never)).message).toContain('@acme/weir-lmdb: its options must be an object');
  });

  test('that are needed and set nowhere are named, with the key that would set them', () => {
    const error = failure(() => optionsOf(lmdb()));
    expect(error.code).toBe('PLUGIN_INVALID');
    expect(error.message).toContain(
      '@acme/weir-lmdb: option dir is missing: set it in code, or state.backend.lmdb.dir in the configuration',
    );
  });

  test('from the configuration are refused by the name of their key', () => {
    const error = failure(() => optionsOf(lmdb(), { 'state.backend.lmdb.map-size': 'big' }));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain("state.backend.lmdb.map-size: mapSize must be integer, but is 'big'");
  });

  test('may be settings of Flink, with their type and range', () => {
    const factory = definePlugin<{ buffer?: number | undefined }>({
      name: 'p',
      options: { type: 'object', properties: { buffer: settingOf('execution.checkpointing.write-buffer-size') } },
      keys: { buffer: 'execution.checkpointing.write-buffer-size' },
      install: (binder, { buffer }) => {
        binder.provide(Installed, 'x', () => ({ dir: String(buffer) }));
      },
    });
    expect(failure(() => factory({ buffer: 0 })).message).toContain('option buffer must be at least 1 bytes');
    expect(optionsOf(factory(), { 'state.backend.fs.write-buffer-size': '8 kb' }).dir).toBe('8192');
  });
});

describe('a plugin factory', () => {
  test('tells its name and options without being called', () => {
    expect(lmdb.plugin.name).toBe('@acme/weir-lmdb');
    expect(Object.keys(lmdb.plugin.options.properties)).toContain('mapSize');
  });

  test('makes plugins that install without weir’s help, too', () => {
    const types: string[] = [];
    const binder: Binder = { provide: (_role, type) => void types.push(type) };
    lmdb({ dir: 'x' }).install(binder);
    expect(types).toEqual(['lmdb']);
  });

  test('whose schema makes no sense says so', () => {
    const factory = definePlugin<{ a?: string }>({
      name: '@acme/broken',
      options: { type: 'object', properties: { a: { type: 'strng' } } },
      install: () => undefined,
    });
    expect(failure(() => factory()).message).toContain('PLUGIN_INVALID: @acme/broken: its options schema is not valid');
  });

  test('takes no options if its plugin has none', () => {
    const factory = definePlugin({
      name: '@acme/plain',
      options: { type: 'object', properties: {} },
      install: () => undefined,
    });
    expect(failure(() => factory({ a: 1 })).message).toContain(
      '@acme/plain: option a is not known: there are no options',
    );
  });

  test('makes plugins that serve several jobs, each with what it creates', () => {
    const plugin = lmdb({ dir: 'x' });
    expect(optionsOf(plugin)).not.toBe(optionsOf(plugin));
  });
});
