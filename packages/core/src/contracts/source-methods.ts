import type { SourceReader, SplitEnumerator } from './source.js';

const ENUMERATOR = ['start', 'assign', 'finished', 'handBack', 'snapshot', 'close'] satisfies (keyof SplitEnumerator)[];
const READER = ['poll', 'position', 'close'] satisfies (keyof SourceReader<unknown>)[];

/** Of what an enumerator must have, the first method that `value` has not; undefined: it is one. */
export function missingOfEnumerator(value: unknown): string | undefined {
  return missing(value, ENUMERATOR);
}
export function missingOfReader(value: unknown): string | undefined {
  return missing(value, READER);
}

function missing(value: unknown, names: readonly string[]): string | undefined {
  if (typeof value !== 'object' || value === null) return names[0];
  return names.find((name) => typeof Reflect.get(value, name) !== 'function');
}
