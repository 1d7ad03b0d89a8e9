import { missingMethod } from './missing-method.js';
import type { SourceReader, SplitEnumerator } from './source.js';

const ENUMERATOR = ['start', 'assign', 'finished', 'handBack', 'snapshot', 'close'] satisfies (keyof SplitEnumerator)[];
const READER = ['poll', 'position', 'close'] satisfies (keyof SourceReader<unknown>)[];

/** Of what an enumerator must have, the first method that `value` has not; undefined: it is one. */
export function missingOfEnumerator(value: unknown): string | undefined {
  return missingMethod(value, ENUMERATOR);
}
export function missingOfReader(value: unknown): string | undefined {
  return missingMethod(value, READER);
}
