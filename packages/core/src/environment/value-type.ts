import { formatDuration, readDuration } from './duration.js';
import { formatMemorySize, readMemorySize } from './memory-size.js';
import { accepted, refused, type Reading } from './reading.js';

/** What a setting may hold. Limits are inclusive and in the unit of the value: ms, bytes or plain. */
export type ValueType =
  | ({ readonly kind: 'duration' } & Range)
  | ({ readonly kind: 'memory-size' } & Range)
  | ({ readonly kind: 'count'; readonly orInfinity?: true } & Range)
  | ({ readonly kind: 'number' } & Range)
  | { readonly kind: 'boolean' }
  /** Flink's name of each value, and weir's. Both are read, in any case, with `_` or `-`. */
  | { readonly kind: 'one-of'; readonly names: Readonly<Record<string, string>> }
  | { readonly kind: 'text' };

export interface Range {
  readonly min?: number;
  readonly max?: number;
  /** The value must be larger than this. */
  readonly above?: number;
  /** The value must be smaller than this. */
  readonly below?: number;
}

/** What reading a setting of the type gives. */
export type ValueOf<T extends ValueType> = T extends { readonly kind: 'duration' | 'memory-size' | 'count' | 'number' }
  ? number
  : T extends { readonly kind: 'boolean' }
    ? boolean
    : T extends { readonly kind: 'one-of'; readonly names: infer N }
      ? N[keyof N]
      : string;

/** The value in weir's terms (ms, bytes, weir's names). Text is read as a configuration file means it: '3', 'true', '10 s', 'EXACTLY_ONCE'. */
export function readValue(type: ValueType, value: unknown): Reading<unknown> {
  switch (type.kind) {
    case 'duration':
      return inRange(readDuration(value), type, formatDuration);
    case 'memory-size':
      return inRange(readMemorySize(value), type, formatMemorySize);
    case 'count':
      return inRange(readCount(fromText(value), type.orInfinity === true), type, String);
    case 'number':
      return inRange(readNumber(fromText(value)), type, String);
    case 'boolean':
      return readBoolean(value);
    case 'one-of':
      return readOneOf(type.names, value);
    case 'text':
      return typeof value === 'string' && value !== '' ? accepted(value) : refused('must be a text that is not empty');
    default:
      return type satisfies never;
  }
}

/** A value of the type as the documentation writes it. */
export function formatValue(type: ValueType, value: unknown): string {
  if (type.kind === 'duration') return formatDuration(value as number);
  if (type.kind === 'memory-size') return formatMemorySize(value as number);
  return String(value);
}

function fromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim().toLowerCase();
  if (text === 'infinite' || text === 'infinity') return Infinity;
  // Number() alone would take '' for 0 and '0x10' for 16.
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? Number(text) : value;
}

function readCount(value: unknown, orInfinity: boolean): Reading<number> {
  if (Number.isSafeInteger(value) || (orInfinity && value === Infinity)) return accepted(value as number);
  return refused(orInfinity ? 'must be a whole number, or infinite' : 'must be a whole number');
}

function readNumber(value: unknown): Reading<number> {
  return typeof value === 'number' && Number.isFinite(value) ? accepted(value) : refused('must be a finite number');
}

function readBoolean(value: unknown): Reading<boolean> {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (text === true || text === 'true') return accepted(true);
  if (text === false || text === 'false') return accepted(false);
  return refused('must be true or false');
}

function readOneOf(names: Readonly<Record<string, string>>, value: unknown): Reading<string> {
  const wanted = typeof value === 'string' ? spelling(value) : undefined;
  for (const [flink, weir] of Object.entries(names)) {
    if (wanted === spelling(flink) || wanted === spelling(weir)) return accepted(weir);
  }
  return refused(`must be one of ${Object.keys(names).join(', ')}`);
}

function spelling(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', '-');
}

function inRange(reading: Reading<number>, range: Range, format: (value: number) => string): Reading<number> {
  if (!reading.ok) return reading;
  const { value } = reading;
  if (range.min !== undefined && value < range.min) return refused(`must be at least ${format(range.min)}`);
  if (range.max !== undefined && value > range.max) return refused(`must be at most ${format(range.max)}`);
  if (range.above !== undefined && value <= range.above) return refused(`must be more than ${format(range.above)}`);
  if (range.below !== undefined && value >= range.below) return refused(`must be less than ${format(range.below)}`);
  return reading;
}
