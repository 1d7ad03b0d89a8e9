import { isDeepStrictEqual } from 'node:util';
import { WeirError, type ErrorCode } from '../errors.js';
import type { SupportedKey, UnsupportedKey } from './config-key.js';
import { CONFIG_KEYS, RENAMED_KEYS, type SettingName, type SettingValue } from './config-keys.js';
import { flattenConfig, type ConfigSource } from './flatten-config.js';
import { familyOf } from './key-families.js';
import { nearest } from './nearest.js';
import type { Reading } from './reading.js';
import { inspectShort } from './inspect-short.js';
import { SUPPORTED_KEYS } from './supported-keys.js';
import { compileSettings } from './validation.js';

/** A key that a plugin takes an option from. */
export interface PluginKey {
  readonly key: string;
  /** Reads a value of the configuration as the option's schema wants it. */
  read(value: unknown): Reading<unknown>;
}

/** What was set, checked and in weir's terms. */
export interface Configuration {
  /** Undefined: not set. */
  get<K extends SettingName>(key: K): SettingValue<K> | undefined;
  /** Everything that was set, by the present name of its key: where plugins look. */
  readonly settings: ReadonlyMap<string, unknown>;
  /** What the user should know, a sentence each. */
  readonly notices: readonly string[];
}

/**
 * Checks a configuration against the table of keys and those of the plugins. Keys of a cluster are ignored, with a notice.
 * Fails with CONFIG_UNKNOWN_KEY (naming the nearest), CONFIG_UNSUPPORTED_KEY, CONFIG_INVALID or CONFIG_CONTRADICTION.
 */
export function readConfiguration(source: ConfigSource, pluginKeys: readonly PluginKey[] = []): Configuration {
  const ofPlugins = new Map(pluginKeys.map((key) => [key.key, key]));
  const known = new Set([...CONFIG_KEYS.keys(), ...ofPlugins.keys()]);
  const given = flattenConfig(source, (name) => ofPlugins.has(name) && !CONFIG_KEYS.has(name));

  const notices: string[] = [];
  const ofTable = new Map<string, readonly [SupportedKey, unknown]>();
  const read = new Map<string, unknown>();
  const ofCluster: string[] = [];
  for (const [name, value] of given) {
    const key = known.has(name) ? name : RENAMED_KEYS.get(name);
    if (key === undefined) {
      const family = familyOf(name);
      if (family === undefined) throw unknownKey(name, known);
      if (family.kind === 'never') throw unsupportedKey(name, 'is not supported', family.about);
      ofCluster.push(name);
      continue;
    }
    if (key !== name) notices.push(`${name} is now called ${key}`);
    const entry = CONFIG_KEYS.get(key);
    const plugin = ofPlugins.get(key);
    if (entry?.status === 'supported') ofTable.set(name, [entry, value]);
    else if (plugin !== undefined) read.set(name, readForPlugin(plugin, name, value));
    else if (entry !== undefined) notices.push(refuseUnlessAlwaysSo(entry, name, value));
  }
  if (ofCluster.length > 0) {
    notices.push(`weir has no cluster, so these keys of the configuration have no effect: ${ofCluster.join(', ')}`);
  }
  for (const [name, value] of readOfTable(ofTable)) read.set(name, value);
  const settings = byPresentName(read);
  return {
    // readOfTable gives each key a value of its type.
    get: <K extends SettingName>(key: K) => settings.get(key) as SettingValue<K> | undefined,
    settings,
    notices,
  };
}

/** What a setting is where nobody sets it. */
export function defaultOf<K extends SettingName>(key: K): SettingValue<K> | undefined {
  const entry: SupportedKey = SUPPORTED_KEYS[key];
  // The table gives a default of the key's own type.
  return entry.default as SettingValue<K> | undefined;
}

function readOfTable(given: ReadonlyMap<string, readonly [SupportedKey, unknown]>): Iterable<[string, unknown]> {
  if (given.size === 0) return [];
  // Only of what was given: every start would pay the 20 ms that compiling the whole table takes.
  const schema = Object.fromEntries([...given].map(([name, [entry]]) => [name, { holds: entry.type }]));
  const values = Object.fromEntries([...given].map(([name, [, value]]) => [name, value]));
  const problems = compileSettings('configuration', schema)(values);
  if (problems.length > 0) throw configError('CONFIG_INVALID', problems.join('; '));
  return Object.entries(values);
}

function readForPlugin(plugin: PluginKey, name: string, value: unknown): unknown {
  const reading = plugin.read(value);
  if (!reading.ok) throw configError('CONFIG_INVALID', `${name}: ${reading.problem}`);
  return reading.value;
}

function byPresentName(read: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  const settings = new Map<string, unknown>();
  const source = new Map<string, string>();
  for (const [name, value] of read) {
    const key = RENAMED_KEYS.get(name) ?? name;
    const other = source.get(key);
    if (other !== undefined && !isDeepStrictEqual(settings.get(key), value)) {
      throw configError(
        'CONFIG_CONTRADICTION',
        `${other} is ${inspectShort(settings.get(key))} and ${name}, the same setting, is ${inspectShort(value)}`,
      );
    }
    settings.set(key, value);
    source.set(key, name);
  }
  return settings;
}

function refuseUnlessAlwaysSo(entry: UnsupportedKey, name: string, value: unknown): string {
  const { alwaysAs, about, status } = entry;
  if (alwaysAs !== undefined && String(value).trim().toLowerCase() === String(alwaysAs)) {
    return `${name} has no effect: ${about}`;
  }
  const sentence = status === 'later' ? 'is not supported yet' : 'is not supported';
  throw unsupportedKey(name, sentence, about);
}

function unsupportedKey(name: string, sentence: string, about: string): WeirError {
  return configError('CONFIG_UNSUPPORTED_KEY', `${name} ${sentence}: ${about}. Leave the key out.`);
}

function unknownKey(name: string, known: ReadonlySet<string>): WeirError {
  const close = nearest(name, [...known, ...RENAMED_KEYS.keys()]);
  const hint = close === undefined ? 'see the page on configuration for those that are' : `did you mean ${close}?`;
  return configError('CONFIG_UNKNOWN_KEY', `${name} is not a configuration key: ${hint}`);
}

function configError(code: ErrorCode, message: string): WeirError {
  return new WeirError(code, message, { recoverable: false });
}
