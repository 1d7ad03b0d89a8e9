import assert from 'node:assert/strict';
import { inspect } from 'node:util';

const MOST_SHOWN = 10;

/**
 * Fails unless `actual` holds each record of `expected` as often as `expected` does, in any order; the message counts and shows what was lost,
 * duplicated and unexpected. Records are the same if they look the same to `util.inspect`, whatever the order of their properties.
 */
export function assertExactlyOnce(actual: readonly unknown[], expected: readonly unknown[]): void {
  const difference = differenceOf(actual, expected);
  if (difference !== undefined) assert.fail(difference);
}

/** The records of which one has more or fewer than the other, in words; undefined if there are none. */
export function differenceOf(actual: readonly unknown[], expected: readonly unknown[]): string | undefined {
  const surplus = new Map<string, number>();
  const known = new Set<string>();
  for (const record of expected) {
    const text = textOf(record);
    known.add(text);
    surplus.set(text, (surplus.get(text) ?? 0) - 1);
  }
  for (const record of actual) {
    const text = textOf(record);
    surplus.set(text, (surplus.get(text) ?? 0) + 1);
  }
  const lost: string[] = [];
  const duplicated: string[] = [];
  const unexpected: string[] = [];
  for (const [text, count] of surplus) {
    const list = count < 0 ? lost : known.has(text) ? duplicated : unexpected;
    for (let i = 0; i < Math.abs(count); i++) list.push(text);
  }
  const parts = [told(lost, 'lost'), told(duplicated, 'duplicated'), told(unexpected, 'unexpected')];
  return parts.some((part) => part !== undefined) ? parts.filter((part) => part !== undefined).join('; ') : undefined;
}

export function textOf(record: unknown): string {
  return inspect(record, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    breakLength: Infinity,
    sorted: true,
  });
}

function told(records: readonly string[], what: string): string | undefined {
  if (records.length === 0) return undefined;
  const shown = records.slice(0, MOST_SHOWN).join(', ');
  return `${String(records.length)} ${what} (${shown}${records.length > MOST_SHOWN ? ', ...' : ''})`;
}
