import { inspect } from 'node:util';

/** A value for an error message: readable, on one line, never long. */
export function inspectShort(value: unknown): string {
  const text = inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 80 });
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
