import { END_OF_CHANNEL, align, barrier, batch, cancelMarker, track } from '@weir/core/barrier';
import type { StreamElement } from '@weir/core/barrier';
import { isWeirError } from '@weir/core/contracts';
import { NEVER, Observable, Subject, concat, from, map, of, range, take } from 'rxjs';
import { describe, expect, test } from 'vitest';

type Element = StreamElement<number>;

/** What an Observable has emitted so far, and how it ended. */
function collect(source: Observable<Element>) {
  const seen: Element[] = [];
  const outcome: { error?: unknown; isComplete: boolean } = { isComplete: false };
  const subscription = source.subscribe({
    next: (element) => seen.push(element),
    error: (error: unknown) => (outcome.error = error),
    complete: () => (outcome.isComplete = true),
  });
  return { seen, outcome, subscription };
}

describe('the bound', () => {
  const left = new Subject<Element>();
  const right = new Subject<Element>();
  const aligned = align([left, right], { maxBlocked: 4 });

  test('counts records over all blocked channels and fails with the first that is one too many', () => {
    const third = new Subject<Element>();
    const { seen, outcome } = collect(align([left, right, third], { maxBlocked: 4 }));
    left.next(barrier(1));
    right.next(barrier(1));
    left.next(batch([1, 2]));
    right.next(batch([3, 4]));
    expect(outcome.error).toBeUndefined();
    right.next(batch([5]));
    expect(isWeirError(outcome.error, 'BUFFER_OVERFLOW')).toBe(true);
    expect(String(outcome.error)).toContain('checkpoint 1');
    expect(seen).toEqual([]);
    expect(left.observed || right.observed || third.observed).toBe(false);
  });

  test('does not count what is not a record, so that a bound of zero still allows ends and further barriers', () => {
    const { seen, outcome } = collect(align([left, right], { maxBlocked: 0 }));
    left.next(barrier(1));
    left.next(barrier(2));
    left.next(cancelMarker(3));
    left.next(END_OF_CHANNEL);
    expect(outcome.error).toBeUndefined();
    right.next(barrier(1));
    right.next(barrier(2));
    expect(seen).toEqual([barrier(1), barrier(2), cancelMarker(3)]);
    right.next(batch([1]));
    expect(seen.at(-1)).toEqual(batch([1]));
  });

  test('is free again for the next checkpoint', () => {
    const { seen, outcome } = collect(aligned);
    for (let id = 1; id <= 3; id++) {
      left.next(barrier(id));
      left.next(batch([1, 2, 3, 4]));
      right.next(barrier(id));
    }
    expect(outcome.error).toBeUndefined();
    expect(seen).toHaveLength(6);
  });

  test('must be a number of records', () => {
    for (const maxBlocked of [-1, NaN]) {
      expect(() => align([left], { maxBlocked })).toThrow('CONFIG_INVALID');
    }
  });
});

describe('reentrancy', () => {
  test('what a channel emits while an element is being delivered comes after that element', () => {
    const left = new Subject<Element>();
    const right = new Subject<Element>();
    const seen: Element[] = [];
    align([left, right], { maxBlocked: 10 }).subscribe((element) => {
      if (element.kind === 'batch' && element.records[0] === 1) {
        right.next(batch([10]));
        left.next(batch([2]));
      }
      seen.push(element);
    });
    left.next(batch([1]));
    expect(seen).toEqual([batch([1]), batch([10]), batch([2])]);
  });

  test('what a channel emits while the barrier is being delivered stays behind what was held back', () => {
    const left = new Subject<Element>();
    const right = new Subject<Element>();
    const seen: Element[] = [];
    align([left, right], { maxBlocked: 10 }).subscribe((element) => {
      seen.push(element);
      if (element.kind === 'barrier') left.next(batch([3]));
      if (element.kind === 'barrier' && element.checkpointId === 1) right.next(barrier(2));
    });
    left.next(barrier(1));
    left.next(batch([1]));
    left.next(batch([2]));
    right.next(barrier(1));
    expect(seen).toEqual([barrier(1), batch([1]), batch([2]), batch([3])]);
    left.next(barrier(2));
    expect(seen.slice(4)).toEqual([barrier(2), batch([3])]);
  });

  test('a long chain of answers does not grow the stack', () => {
    const loop = new Subject<Element>();
    let last = 0;
    track([loop]).subscribe((element) => {
      if (element.kind !== 'batch') return;
      last = element.records[0] ?? NaN;
      if (last < 100_000) loop.next(batch([last + 1]));
    });
    loop.next(batch([1]));
    expect(last).toBe(100_000);
  });

  test('channels that emit everything while they are subscribed are merged like any other', () => {
    const left = of<Element[]>(batch([1]), barrier(1), batch([2]), END_OF_CHANNEL);
    const right = of<Element[]>(batch([3]), barrier(1), batch([4]));
    const { seen, outcome } = collect(align([left, right], { maxBlocked: 1 }));
    expect(seen).toEqual([batch([1]), batch([3]), barrier(1), batch([2]), batch([4]), END_OF_CHANNEL]);
    expect(outcome.isComplete).toBe(true);
  });

  test('completing while elements are being delivered loses none of them', () => {
    const channel = new Subject<Element>();
    const { seen, outcome } = collect(
      track([channel]).pipe(
        map((element) => {
          if (element.kind === 'batch' && element.records[0] === 1) {
            channel.next(batch([2]));
            channel.complete();
          }
          return element;
        }),
      ),
    );
    channel.next(batch([1]));
    expect(seen).toEqual([batch([1]), batch([2])]);
    expect(outcome.isComplete).toBe(true);
  });
});

describe('subscriptions', () => {
  test('each has an alignment of its own', () => {
    const left = new Subject<Element>();
    const right = new Subject<Element>();
    const aligned = align([left, right], { maxBlocked: 10 });
    const early = collect(aligned);
    left.next(barrier(1));
    const late = collect(aligned);
    left.next(batch([1]));
    right.next(barrier(1));
    expect(early.seen).toEqual([barrier(1), batch([1])]);
    // It never saw the barrier of the left channel, and now waits with the right one blocked.
    expect(late.seen).toEqual([batch([1])]);
  });

  test('unsubscribing lets go of every channel', () => {
    let active = 0;
    const channel = new Observable<Element>(() => {
      active++;
      return () => active--;
    });
    const { subscription } = collect(align([channel, channel, channel], { maxBlocked: 1 }));
    expect(active).toBe(3);
    subscription.unsubscribe();
    expect(active).toBe(0);
  });

  test('unsubscribing stops a channel that is still emitting inside its subscribe, and subscribes no other', () => {
    let produced = 0;
    let isOtherSubscribed = false;
    const endless = range(0, 1_000_000).pipe(map((n): Element => (produced++, batch([n]))));
    const other = new Observable<Element>(() => void (isOtherSubscribed = true));
    const { seen } = collect(align([endless, other], { maxBlocked: 1 }).pipe(take(2)));
    expect(seen).toHaveLength(2);
    expect(produced).toBe(2);
    expect(isOtherSubscribed).toBe(false);
  });

  test('unsubscribing while what was held back is delivered stops there', () => {
    const left = concat(of<Element[]>(barrier(1), batch([1]), batch([2])), NEVER);
    const right = concat(of<Element[]>(barrier(1)), NEVER);
    const { seen, outcome } = collect(align([left, right], { maxBlocked: 10 }).pipe(take(2)));
    expect(seen).toEqual([barrier(1), batch([1])]);
    expect(outcome.isComplete).toBe(true);
  });

  test('an error ends the other channels and what was held back', () => {
    const left = new Subject<Element>();
    const right = new Subject<Element>();
    const { seen, outcome } = collect(align([left, right], { maxBlocked: 10 }));
    left.next(barrier(1));
    left.next(batch([1]));
    right.error('lost');
    expect(outcome.error).toBe('lost');
    expect(seen).toEqual([]);
    expect(left.observed).toBe(false);
  });

  test('of no channel complete at once', () => {
    expect(collect(align([], { maxBlocked: 1 })).outcome.isComplete).toBe(true);
    expect(collect(track([])).outcome.isComplete).toBe(true);
  });

  test('nest: the merge of merges divides its records as one merge does', () => {
    const channel = (offset: number) =>
      of<Element[]>(batch([offset + 1]), barrier(1), batch([offset + 2]), barrier(2), batch([offset + 3]));
    const pair = (offset: number) => align([channel(offset), channel(offset + 10)], { maxBlocked: 10 });
    const { seen } = collect(align([pair(0), pair(100)], { maxBlocked: 10 }));
    const parts = seen.map((e) => (e.kind === 'batch' ? Number(e.records[0]) % 10 : 'barrier'));
    expect(parts).toEqual([1, 1, 1, 1, 'barrier', 2, 2, 2, 2, 'barrier', 3, 3, 3, 3]);
  });
});

test('a channel that is blocked for long fills with no more than one watermark and one idle flag', () => {
  const left = new Subject<Element>();
  const right = new Subject<Element>();
  const { seen } = collect(align([left, right], { maxBlocked: 10 }));
  right.next({ kind: 'watermark', time: 1_000 });
  left.next(barrier(1));
  for (let time = 1; time <= 99; time++) {
    left.next({ kind: 'watermark', time });
    left.next({ kind: 'idle', idle: time % 2 === 0 });
  }
  left.next(batch([1]));
  left.next({ kind: 'watermark', time: 100 });
  right.next(barrier(1));
  expect(seen).toEqual([barrier(1), { kind: 'watermark', time: 99 }, batch([1]), { kind: 'watermark', time: 100 }]);
});

test('batches are handed on as they are, without a copy', () => {
  const records = batch([1, 2, 3]);
  const { seen } = collect(track([from([records])]));
  expect(seen[0]).toBe(records);
});
