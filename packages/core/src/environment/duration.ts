import { WeirError } from '../errors.js';
import { accepted, refused, type Reading } from './reading.js';
import { shown } from './shown.js';

type Unit = 'ms' | 's' | 'min' | 'h' | 'd';

/** A length of time: a number of milliseconds, or a number with its unit ('500ms', '10 s', '1.5h'). */
export type Duration = number | `${number}${Unit}` | `${number} ${Unit}`;

const MS = 1;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY_MS: number = 24 * HOUR;

/** Every spelling that Flink's configuration files know, down to milliseconds (TimeUtils). */
const UNITS: ReadonlyMap<string, number> = new Map([
  ...['ms', 'milli', 'millis', 'millisecond', 'milliseconds'].map((unit) => [unit, MS] as const),
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((unit) => [unit, SECOND] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((unit) => [unit, MINUTE] as const),
  ...['h', 'hour', 'hours'].map((unit) => [unit, HOUR] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, DAY_MS] as const),
]);

/**
 * Milliseconds of a duration; `name` is the option it was given for.
 * Fails with CONFIG_INVALID for anything negative, not finite, without a known unit, or that is no whole number of milliseconds.
 */
export function parseDuration(value: Duration, name: string): number {
  const reading = readDuration(value);
  if (!reading.ok)
    throw new WeirError('CONFIG_INVALID', `${name} ${reading.problem}, but is ${shown(value)}`, { recoverable: false });
  return reading.value;
}

/** The same without an exception, for a value of any type. Text without a unit counts milliseconds, as in Flink. */
export function readDuration(value: unknown): Reading<number> {
  if (typeof value === 'number') return wholeMilliseconds(value);
  if (typeof value !== 'string')
    return refused("must be a duration, such as 500, '500 ms', '10 s', '5 min', '1 h' or '2 d'");
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim());
  const unit = match?.[2] === '' ? MS : UNITS.get(match?.[2]?.toLowerCase() ?? '');
  if (match === null || unit === undefined)
    return refused("must be a duration, such as '500 ms', '10 s', '5 min', '1 h' or '2 d'");
  // 1.001 min is 60059.99... in floating point.
  const ms = Number((Number(match[1]) * unit).toPrecision(15));
  return wholeMilliseconds(ms);
}

function wholeMilliseconds(ms: number): Reading<number> {
  if (!Number.isFinite(ms)) return refused('must be a finite duration');
  if (ms < 0) return refused('must not be negative');
  if (!Number.isSafeInteger(ms)) return refused('must be a whole number of milliseconds');
  return accepted(ms);
}

/** Milliseconds as a person would write them: 600000 is '10 min'. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of [
    ['d', DAY_MS],
    ['h', HOUR],
    ['min', MINUTE],
    ['s', SECOND],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${String(ms / size)} ${unit}`;
  }
  return `${String(ms)} ms`;
}
