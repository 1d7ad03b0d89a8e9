import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration, type Duration } from '../../src/environment/duration.js';

describe('a duration', () => {
  test.each([
    [250, 250],
    [0, 0],
    [2 ** 31, 2 ** 31],
    ['1000', 1000],
    ['10 s', 10_000],
    ['10s', 10_000],
    ['  10   S ', 10_000],
    ['5 ms', 5],
    ['10 min', 600_000],
    ['10 m', 600_000],
    ['2 minutes', 120_000],
    ['1h', 3_600_000],
    ['1 hour', 3_600_000],
    ['2 d', 172_800_000],
    ['1.5 h', 5_400_000],
    ['1.001 min', 60_060],
    ['0.7 s', 700],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text as Duration, 'timeout')).toBe(ms);
  });

  test.each([-1, -0.5, 0.5, NaN, Infinity, -Infinity, 2 ** 60])('refuses the number %d', (value) => {
    expect(() => parseDuration(value, 'timeout')).toThrow(/CONFIG_INVALID: timeout must .*, but is /);
  });

  test.each([
    '',
    ' ',
    's',
    '-5 s',
    '5 parsecs',
    '5 s 3 ms',
    '0x10',
    '1e3',
    'PT10S',
    '0.1 ms',
    '9'.repeat(400),
    '5 MS!',
  ])('refuses the text %j', (value) => {
    expect(() => parseDuration(value as Duration, 'timeout')).toThrow(/CONFIG_INVALID: timeout must /);
  });

  test.each([null, undefined, true, {}, [5], new Date(0)])('refuses the value %o', (value) => {
    expect(() => parseDuration(value as never, 'timeout')).toThrow(/CONFIG_INVALID: timeout must be a duration/);
  });

  test('means the same after it was written down', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (ms) => {
        expect(parseDuration(formatDuration(ms) as Duration, 'x')).toBe(ms);
      }),
    );
  });

  test('is the same number with any spelling of a unit', () => {
    const units = fc.constantFrom(
      ['s', 'sec', 'seconds'],
      ['min', 'm', 'minute'],
      ['h', 'hour', 'hours'],
      ['d', 'day', 'days'],
      ['ms', 'milli', 'millis'],
    );
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), units, (count, spellings) => {
        const readings = spellings.flatMap((unit) => [
          `${String(count)}${unit}`,
          `${String(count)} ${unit.toUpperCase()}`,
        ]);
        expect(new Set(readings.map((text) => parseDuration(text as Duration, 'x'))).size).toBe(1);
      }),
    );
  });
});
