import { WeirError } from '../errors.js';
import { nearest } from './nearest.js';
import { isPlainObject } from './plain-object.js';
import { inspectShort } from './inspect-short.js';

/** What is no plain object, a `Map` for instance, has no options to be found, and would be ignored as a whole. */
export function refuseUnlessPlain(owner: string, options: unknown): void {
  if (isPlainObject(options)) return;
  const hint = options instanceof Map ? ' Object.fromEntries makes one of it.' : '';
  const message = `${owner} must be a plain object, { … }, but is ${inspectShort(options)}.${hint}`;
  throw new WeirError('CONFIG_INVALID', message, { recoverable: false });
}

/** Fails with CONFIG_INVALID for an option that is not there, naming the nearest one. */
export function refuseUnknownOptions(owner: string, options: object, known: readonly string[]): void {
  refuseUnlessPlain(`What ${owner} takes`, options);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const close = nearest(unknown, known);
  const hint = close === undefined ? `it has ${known.join(', ')}` : `did you mean ${close}?`;
  throw new WeirError('CONFIG_INVALID', `${owner} has no option ${unknown}: ${hint}`, { recoverable: false });
}
