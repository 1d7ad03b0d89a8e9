import { describe, expect, test } from 'vitest';
import { defineRole, type Plugin, type Role } from '../../src/contracts/plugin.js';
import type { WeirError } from '../../src/errors.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import { JobContainer } from '../../src/environment/container.js';
import { definePlugin } from '../../src/environment/define-plugin.js';
import { flattenPlugins, installPlugins, type PluginList } from '../../src/environment/install-plugins.js';

const A: Role<string> = defineRole('test.a/1');
const named = (name: string): Plugin => ({ name, install: (binder) => binder.provide(A, name, () => name) });
const storage = definePlugin<{ dir?: string | undefined }>({
  name: 'storage',
  options: { type: 'object', properties: { dir: { type: 'string' } } },
  install: (binder) => {
    binder.provide(A, 'storage', () => 'storage');
  },
});

function failure(action: () => unknown): WeirError {
  try {
    action();
  } catch (error) {
    return error as WeirError;
  }
  throw new Error('nothing was refused');
}

describe('a list of plugins', () => {
  test('may hold lists, however deep', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(named) as [Plugin, Plugin, Plugin, Plugin];
    expect(flattenPlugins([a, [b, [c, []]], [d]])).toEqual([a, b, c, d]);
  });

  test('counts a plugin once, although two packages bring it', () => {
    const a = named('a');
    expect(flattenPlugins([a, [a]])).toEqual([a]);
    expect(flattenPlugins([storage({ dir: 'x' }), [storage({ dir: 'x' })]])).toHaveLength(1);
  });

  test('keeps two of a kind that differ, for the error that they deserve', () => {
    expect(flattenPlugins([storage({ dir: 'x' }), storage({ dir: 'y' })])).toHaveLength(2);
    expect(flattenPlugins([named('a'), named('a')])).toHaveLength(2);
  });

  test.each<unknown>([
    undefined,
    null,
    5,
    'fs',
    {},
    { name: 'x' },
    { name: '', install: () => undefined },
    { install: () => undefined },
  ])('holds plugins, not %j', (value) => {
    const error = failure(() => flattenPlugins([value] as unknown as PluginList));
    expect(error).toMatchObject({ code: 'PLUGIN_INVALID', recoverable: false });
    expect(error.message).toContain('is not a plugin');
  });

  test('holds plugins, not what makes them: the error says to call it', () => {
    function fsBackend(): Plugin {
      return named('fs');
    }
    expect(failure(() => flattenPlugins([fsBackend] as unknown as PluginList)).message).toContain(
      'fsBackend is not a plugin but makes one: call it',
    );
  });
});

describe('installing a plugin', () => {
  const install = (plugin: Plugin): JobContainer => {
    const container = new JobContainer();
    installPlugins(container, [plugin], readConfiguration({}));
    return container;
  };

  test('needs nothing but a name and an install method', () => {
    expect(install(named('a')).get(A)).toBe('a');
  });

  test('that throws is told with the name of the plugin and the cause', () => {
    const cause = new Error('no disk');
    const error = failure(() =>
      install({
        name: '@acme/x',
        install: () => {
          throw cause;
        },
      }),
    );
    expect(error.code).toBe('PLUGIN_INVALID');
    expect(error.message).toContain('@acme/x could not be installed: no disk');
    expect(error.cause).toBe(cause);
  });

  test('must be done at once: an async method would put its candidates forward too late', () => {
    const late = (): void => Promise.reject(new Error('nobody hears this')) as unknown as void;
    expect(failure(() => install({ name: '@acme/x', install: late })).message).toContain(
      '@acme/x: install must not be asynchronous',
    );
    const defined = definePlugin({ name: '@acme/y', options: { type: 'object', properties: {} }, install: late });
    expect(failure(() => install(defined())).message).toContain('@acme/y: install must not be asynchronous');
  });
});
