import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readInput, withCheckpoints, type Marker } from '../../src/crash-script/script.js';
import { crash } from '../../src/index.js';

const checkpoint = (at: number): Marker => ({ kind: 'checkpoint', at });
const dies = (at: number): Marker => ({ kind: 'crash', at });

describe('a script', () => {
  test('counts the records before each crash', () => {
    expect(readInput([crash(), 'a', 'b', crash(), crash(), 'c'])).toEqual({
      records: ['a', 'b', 'c'],
      crashes: [0, 2, 2],
    });
  });

  test('takes markers of any package that have the brand, and no other objects', () => {
    const foreign = { '~crash': true } as const;
    expect(readInput([foreign, { '~crash': false }, null, undefined])).toEqual({
      records: [{ '~crash': false }, null, undefined],
      crashes: [0],
    });
  });
});

describe('checkpoints are put', () => {
  test('right before a crash', () => {
    expect(withCheckpoints([2, 2], 0)).toEqual([checkpoint(2), dies(2), dies(2)]);
  });
  test('one record before it, behind a crash at the same place', () => {
    expect(withCheckpoints([1, 2], 1)).toEqual([checkpoint(0), dies(1), checkpoint(1), dies(2)]);
  });
  test('behind a crash that comes later, but is over by then', () => {
    expect(withCheckpoints([8, 9], 2)).toEqual([checkpoint(6), dies(8), checkpoint(7), dies(9)]);
  });
  test('nowhere, if every record is to be read again', () => {
    expect(withCheckpoints([1, 3], Infinity)).toEqual([dies(1), dies(3)]);
  });
  test('not before the beginning', () => {
    expect(withCheckpoints([1], 2)).toEqual([dies(1)]);
  });

  test.each([-1, 0.5, NaN])('but not %s records before', (replayed) => {
    expect(() => withCheckpoints([3], replayed)).toThrow(/CONFIG_INVALID/);
  });

  test('where they can be reached, and each crash finds its own', () => {
    const crashes = fc.array(fc.nat(12), { maxLength: 6 }).map((places) => places.sort((a, b) => a - b));
    fc.assert(
      fc.property(crashes, fc.nat(4), (places, replayed) => {
        const markers = withCheckpoints(places, replayed);
        expect(markers.filter(({ kind }) => kind === 'crash').map(({ at }) => at)).toEqual(places);
        let newest: number | undefined;
        let position = 0;
        for (const { kind, at } of markers) {
          expect(at).toBeGreaterThanOrEqual(position);
          if (kind === 'checkpoint') newest = at;
          else expect(newest).toBe(at - replayed >= 0 ? at - replayed : undefined);
          position = kind === 'checkpoint' ? at : (newest ?? 0);
        }
      }),
    );
  });
});
