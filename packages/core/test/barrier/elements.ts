import { END_OF_CHANNEL, END_OF_DATA, barrier, batch, cancelMarker } from '@weir/core/barrier';
import type { StreamElement } from '@weir/core/barrier';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';

/**
 * The letters of the marble diagrams. `a` to `f` are batches of one record, digits are barriers, `C` cancels checkpoint 1 and `D` 2,
 * `u v w` are watermarks at 10, 20 and 30, `i` and `j` mark a channel as idle and as active again, `x` ends the data (`y`: without
 * draining) and `z` ends the channel.
 */
export const ELEMENTS: Record<string, StreamElement<string>> = {
  ...Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => [letter, batch([letter])])),
  ...Object.fromEntries([1, 2, 3, 4].map((id) => [String(id), barrier(id)])),
  C: cancelMarker(1),
  D: cancelMarker(2),
  u: { kind: 'watermark', time: 10 },
  v: { kind: 'watermark', time: 20 },
  w: { kind: 'watermark', time: 30 },
  i: { kind: 'idle', idle: true },
  j: { kind: 'idle', idle: false },
  x: END_OF_DATA,
  y: { kind: 'end-of-data', drain: false },
  z: END_OF_CHANNEL,
};

/** Runs channels drawn as marbles through `operate` and compares the result with the expected diagram. */
export function diagram(
  channels: readonly string[],
  operate: (channels: readonly Observable<StreamElement<string>>[]) => Observable<StreamElement<string>>,
  expected: string,
  error?: unknown,
): void {
  const scheduler = new TestScheduler((actual, wanted) => expect(actual).toEqual(wanted));
  scheduler.run(({ cold, expectObservable }) => {
    const inputs = channels.map((marbles) => cold(marbles.trim(), ELEMENTS, 'failed'));
    expectObservable(operate(inputs)).toBe(expected.trim(), ELEMENTS, error);
  });
}
