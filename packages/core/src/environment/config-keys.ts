import type { ConfigKey } from './config-key.js';
import { SUPPORTED_KEYS } from './supported-keys.js';
import { UNSUPPORTED_KEYS } from './unsupported-keys.js';
import type { ValueOf } from './value-type.js';

/** The one table of keys, by their present name: what works, what will, and what never shall. docs/configuration.md shows it. */
export const CONFIG_KEYS: ReadonlyMap<string, ConfigKey> = new Map<string, ConfigKey>([
  ...Object.entries(SUPPORTED_KEYS),
  ...Object.entries(UNSUPPORTED_KEYS),
]);

/** The present name of every old one. */
export const RENAMED_KEYS: ReadonlyMap<string, string> = new Map(
  [...CONFIG_KEYS].flatMap(([key, { was = [] }]) => was.map((old) => [old, key] as const)),
);

export type SettingName = keyof typeof SUPPORTED_KEYS;
/** What a setting is once it was read: ms, bytes, weir's names. */
export type SettingValue<K extends SettingName> = ValueOf<(typeof SUPPORTED_KEYS)[K]['type']>;
