import { unusableName } from './property-names.js';

/** The default serializer of state takes no deeper values. */
const MAX_DEPTH = 256;
/** A text with more levels than that is at least this long, in bytes: each level opens and closes. */
const SHORTEST_TOO_DEEP = 2 * (MAX_DEPTH + 1);

/** Only texts with one of these can hold a name that records cannot have: written out, or with one of its letters escaped. */
const SUSPICIOUS: readonly string[] = ['__proto__', '__keys__', '\\u00'];

/** Whether lines of these bytes have to be looked through one by one. */
export function isSuspicious(bytes: Buffer): boolean {
  return SUSPICIOUS.some((text) => bytes.includes(text));
}

/** Why a value that JSON.parse gave could not be kept in state, or undefined. `length` is that of its text in bytes. */
export function unkeepable(value: unknown, length: number, suspicious: boolean): string | undefined {
  return suspicious || length >= SHORTEST_TOO_DEEP ? problemOf(value, 0) : undefined;
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `is nested more than ${String(MAX_DEPTH)} deep`;
  if (Array.isArray(value)) {
    for (const element of value) {
      const problem = problemOf(element, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (unusableName(name)) return `has a property named ${name}, which records cannot have`;
    const problem = problemOf((value as Record<string, unknown>)[name], depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
