import { isDeepStrictEqual } from 'node:util';
import { WeirError } from '../errors.js';
import { refuseUnlessPlain } from './known-options.js';
import { isPlainObject } from './plain-object.js';
import { inspectShort } from './inspect-short.js';

/** A configuration: keys with dots, or the same as objects in objects, as a JSON or YAML file gives them. */
export interface ConfigSource {
  readonly [key: string]: ConfigSource | readonly unknown[] | string | number | boolean | null | undefined;
}

/** Every setting by its full name. Objects whose name `isWhole` stay in one piece; what is undefined was not set. */
export function flattenConfig(source: ConfigSource, isWhole: (name: string) => boolean): ReadonlyMap<string, unknown> {
  refuseUnlessPlain('The configuration (config)', source);
  const flat = new Map<string, unknown>();
  const walk = (part: Readonly<Record<string, unknown>>, prefix: string): void => {
    for (const [key, value] of Object.entries(part)) {
      const name = prefix + key;
      if (value === undefined) continue;
      if (isPlainObject(value) && !isWhole(name)) walk(value, `${name}.`);
      else add(name, value);
    }
  };
  const add = (name: string, value: unknown): void => {
    const before = flat.get(name);
    if (before !== undefined && !isDeepStrictEqual(before, value)) {
      const message = `${name} is set twice, to ${inspectShort(before)} and to ${inspectShort(value)}`;
      throw new WeirError('CONFIG_CONTRADICTION', message, { recoverable: false });
    }
    flat.set(name, value);
  };
  walk(source, '');
  return flat;
}
