import type { Plugin } from '../contracts/plugin.js';
import { messageOf, WeirError } from '../errors.js';
import { flattenConfig, type ConfigSource } from './flatten-config.js';
import { CONFIG_KEYS } from './config-keys.js';
import { CHOOSING_KEYS } from './role-choices.js';

/** Loads a package by its name: `(name) => import(name)`, written in the application, whose dependencies it sees. */
export type LoadPackage = (name: string) => Promise<object>;

/** Packages that the configuration names as state backend, storage or restart strategy and that none of `plugins` comes from. */
export function packagesToLoad(source: ConfigSource, plugins: readonly Plugin[]): readonly string[] {
  const given = flattenConfig(source, () => false);
  const named = [...CHOOSING_KEYS.values()]
    .flatMap((key) => [key, ...(CONFIG_KEYS.get(key)?.was ?? [])])
    .map((key) => given.get(key));
  return [...new Set(named)].filter(
    (name): name is string => isPackage(name) && !plugins.some((plugin) => comesFrom(plugin, name)),
  );
}

/** Every plugin that the packages export, without options: those come from the configuration. Fails with PLUGIN_MISSING or PLUGIN_INVALID. */
export async function loadPlugins(names: readonly string[], load: LoadPackage | undefined): Promise<readonly Plugin[]> {
  const plugins: Plugin[] = [];
  for (const name of names) {
    if (load === undefined) {
      throw loadError(
        'PLUGIN_MISSING',
        `the configuration names the package ${name}: list its plugin, or pass load: (name) => import(name)`,
      );
    }
    const exported = await load(name).catch((error: unknown) => {
      throw loadError(
        'PLUGIN_MISSING',
        `the package ${name} could not be loaded (${messageOf(error)}): npm i ${name}`,
        error,
      );
    });
    const factories = new Set(Object.values(exported).filter(isFactory));
    if (factories.size === 0)
      throw loadError('PLUGIN_INVALID', `the package ${name} exports nothing that definePlugin has made`);
    for (const factory of factories) plugins.push(factory());
  }
  return plugins;
}

/** A type is one word; a package that the configuration can name has a scope or is a path. */
function isPackage(value: unknown): value is string {
  return typeof value === 'string' && value.includes('/');
}

function comesFrom(plugin: Plugin, packageName: string): boolean {
  return plugin.name === packageName || plugin.name.startsWith(`${packageName}/`);
}

function isFactory(value: unknown): value is () => Plugin {
  return typeof value === 'function' && 'plugin' in value;
}

function loadError(code: 'PLUGIN_MISSING' | 'PLUGIN_INVALID', message: string, cause?: unknown): WeirError {
  return new WeirError(code, message, { cause, recoverable: false });
}
