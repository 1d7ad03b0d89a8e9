import type { SettingName } from './config-keys.js';
import { SUPPORTED_KEYS } from './supported-keys.js';

/** The schema of a plugin's option that is one of Flink's settings: type and range come from the table of keys. */
export function settingOf(key: SettingName): object {
  return { holds: SUPPORTED_KEYS[key].type };
}
