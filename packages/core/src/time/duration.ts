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

/** Milliseconds of a duration of any type, or what is wrong with it ("must not be negative"). Text without a unit counts milliseconds, as in Flink. */
export function millisecondsOf(value: unknown): number | { readonly problem: string } {
  if (typeof value === 'number') return wholeMilliseconds(value);
  if (typeof value !== 'string')
    return { problem: "must be a duration, such as 500, '500 ms', '10 s', '5 min', '1 h' or '2 d'" };
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim());
  const unit = match?.[2] === '' ? MS : UNITS.get(match?.[2]?.toLowerCase() ?? '');
  if (match === null || unit === undefined)
    return { problem: "must be a duration, such as '500 ms', '10 s', '5 min', '1 h' or '2 d'" };
  // 1.001 min is 60059.99... in floating point.
  return wholeMilliseconds(Number((Number(match[1]) * unit).toPrecision(15)));
}

function wholeMilliseconds(ms: number): number | { readonly problem: string } {
  if (!Number.isFinite(ms)) return { problem: 'must be a finite duration' };
  if (ms < 0) return { problem: 'must not be negative' };
  if (!Number.isSafeInteger(ms)) return { problem: 'must be a whole number of milliseconds' };
  return ms;
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
