import { WeirError } from '../errors.js';
import { millisecondsOf, type Duration } from '../time/duration.js';
import { accepted, refused, type Reading } from './reading.js';
import { inspectShort } from './inspect-short.js';

export { DAY_MS, formatDuration, type Duration } from '../time/duration.js';

/**
 * Milliseconds of a duration; `name` is the option it was given for.
 * Fails with CONFIG_INVALID for anything negative, not finite, without a known unit, or that is no whole number of milliseconds.
 */
export function parseDuration(value: Duration, name: string): number {
  const reading = readDuration(value);
  if (!reading.ok)
    throw new WeirError('CONFIG_INVALID', `${name} ${reading.problem}, but is ${inspectShort(value)}`, {
      recoverable: false,
    });
  return reading.value;
}

/** The same without an exception, for a value of any type. */
export function readDuration(value: unknown): Reading<number> {
  const ms = millisecondsOf(value);
  return typeof ms === 'number' ? accepted(ms) : refused(ms.problem);
}
