import type { ValueType } from './value-type.js';

/** A key of the configuration: one that works, one that will, or one that never shall. */
export type ConfigKey = SupportedKey | UnsupportedKey;

export interface SupportedKey {
  readonly status: 'supported';
  readonly type: ValueType;
  /** In weir's terms. Absent: nothing, or what the plugin that reads it decides. */
  readonly default?: unknown;
  /** Names it had before. They work too, with a notice. */
  readonly was?: readonly string[];
  readonly about: string;
}

export interface UnsupportedKey {
  readonly status: 'later' | 'never';
  readonly was?: readonly string[];
  /** Why, or what weir does instead; said in the error. */
  readonly about: string;
  /** What weir does in any case: this value is accepted, with a notice. */
  readonly alwaysAs?: boolean | string;
}
