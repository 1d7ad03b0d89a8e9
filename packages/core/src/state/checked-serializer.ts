import type { Serializer } from '../contracts/serializer.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';

/** The same. CONFIG_INVALID, said of whoever is `owner`, for what is no serializer or could not be told from another one in a checkpoint. */
export function checkedSerializer<S extends Serializer>(serializer: S, owner: string): S {
  const problem = problemOf(serializer);
  if (problem === undefined) return serializer;
  throw new WeirError('CONFIG_INVALID', `The serializer of ${owner} ${problem}.`, { recoverable: false });
}

// Callers without a compiler may pass anything.
function problemOf(serializer: Partial<Record<keyof Serializer, unknown>> | null | undefined): string | undefined {
  if (typeof serializer !== 'object' || serializer === null) return 'is none: it needs id, version, encode and decode';
  const { id, version } = serializer;
  if (typeof id !== 'string' || id === '' || !isWellFormed(id))
    return `must have a text of valid Unicode that is not empty for id, not ${shown(id)}`;
  if (!Number.isSafeInteger(version) || (version as number) < 0)
    return `'${id}' must have a whole number from 0 for version, not ${shown(version)}`;
  for (const method of ['encode', 'decode'] as const)
    if (typeof serializer[method] !== 'function') return `'${id}' has no ${method}()`;
  for (const method of ['migrate', 'readerOf'] as const)
    if (serializer[method] !== undefined && typeof serializer[method] !== 'function')
      return `'${id}' has something else than a function for ${method}`;
  return undefined;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
