import { isDeepStrictEqual } from 'node:util';
import type { Plugin } from '../contracts/plugin.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';
import type { Configuration, PluginKey } from './configuration.js';
import type { JobContainer } from './container.js';
import { isConfigurable } from './define-plugin.js';
import { installNow } from './install-now.js';
import type { CandidateLevel } from './select-candidate.js';
import { inspectShort } from './inspect-short.js';

/** Plugins, and lists of plugins, however deep. */
export type PluginList = readonly (Plugin | PluginList)[];

/**
 * The plugins one after the other, without repeats: packages may bring the same part with the same options (a backend and its storage).
 * Fails with PLUGIN_INVALID for anything that is no plugin.
 */
export function flattenPlugins(plugins: PluginList): readonly Plugin[] {
  const flat: Plugin[] = [];
  for (const plugin of eachOf(plugins)) {
    assertPlugin(plugin);
    if (!flat.some((other) => isSame(other, plugin))) flat.push(plugin);
  }
  return flat;
}

/** The configuration keys that plugins read. */
export function keysOfPlugins(plugins: readonly Plugin[]): readonly PluginKey[] {
  return plugins.flatMap((plugin) => (isConfigurable(plugin) ? plugin['~configurable'].keys : []));
}

/** Lets every plugin put its candidates forward. */
export function installPlugins(
  container: JobContainer,
  plugins: readonly Plugin[],
  configuration: Configuration,
  level: CandidateLevel = 'environment',
): void {
  for (const plugin of plugins) {
    const binder = container.binder(plugin.name, level);
    try {
      if (isConfigurable(plugin)) plugin['~configurable'].install(binder, configuration.settings);
      else installNow(plugin.name, () => plugin.install(binder));
    } catch (error) {
      if (isWeirError(error)) throw error;
      const message = `${plugin.name} could not be installed: ${messageOf(error)}`;
      throw new WeirError('PLUGIN_INVALID', message, { cause: error, recoverable: false });
    }
  }
}

function* eachOf(plugins: readonly unknown[]): Generator {
  for (const plugin of plugins) {
    if (Array.isArray(plugin)) yield* eachOf(plugin);
    else yield plugin;
  }
}

function assertPlugin(value: unknown): asserts value is Plugin {
  if (typeof value === 'function')
    throw notAPlugin(`${value.name || 'a function'} is not a plugin but makes one: call it`);
  const { name, install } = (value ?? {}) as { name?: unknown; install?: unknown };
  if (typeof name !== 'string' || name === '' || typeof install !== 'function') {
    throw notAPlugin(`${inspectShort(value)} is not a plugin: a plugin has a name and an install method`);
  }
}

function notAPlugin(message: string): WeirError {
  return new WeirError('PLUGIN_INVALID', message, { recoverable: false });
}

function isSame(a: Plugin, b: Plugin): boolean {
  if (a === b) return true;
  if (a.name !== b.name || !isConfigurable(a) || !isConfigurable(b)) return false;
  return isDeepStrictEqual(a['~configurable'].options, b['~configurable'].options);
}
