import { barrier, batch } from '@weir/core/barrier';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Arrival } from '../../src/barrier/held-elements.js';
import { COMPLETED, HeldElements } from '../../src/barrier/held-elements.js';

const arrival: fc.Arbitrary<Arrival<number>> = fc.oneof(
  fc.array(fc.integer(), { maxLength: 3 }).map((records) => batch(records)),
  fc.nat(9).map((time) => ({ kind: 'watermark', time }) as const),
  fc.boolean().map((idle) => ({ kind: 'idle', idle }) as const),
  fc.nat(9).map((id) => barrier(id)),
  fc.constant(COMPLETED),
);

/** The last watermark and idle flag of each run of them, everything else as it is. */
function withoutOutdated(queue: readonly Arrival<number>[]): readonly Arrival<number>[] {
  const isTime = (a: Arrival<number> | undefined) => a?.kind === 'watermark' || a?.kind === 'idle';
  return queue.filter((element, i) => {
    if (!isTime(element)) return true;
    for (let later = i + 1; isTime(queue[later]); later++) if (queue[later]?.kind === element.kind) return false;
    return true;
  });
}

test('gives back what was held of each channel in order, but for watermarks and idle flags that a later one outdates', () => {
  const operation = fc.record({ channel: fc.nat(1), element: fc.option(arrival, { freq: 3, nil: undefined }) });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const held = new HeldElements<number>(2, 1_000);
      const model: Arrival<number>[][] = [[], []];
      for (const { channel, element } of operations) {
        if (element === undefined) {
          expect(held.take(channel)).toEqual(model[channel]!.shift());
        } else {
          expect(held.hold(channel, element)).toBe(true);
          model[channel] = [...withoutOutdated([...model[channel]!, element])];
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test('refuses what would be more records than the bound, and takes it once there is room', () => {
  const held = new HeldElements<number>(2, 3);
  expect(held.hold(0, batch([1, 2]))).toBe(true);
  expect(held.hold(1, batch([3, 4]))).toBe(false);
  expect(held.take(1)).toBeUndefined();
  expect(held.take(0)).toEqual(batch([1, 2]));
  expect(held.hold(1, batch([3, 4]))).toBe(true);
});
