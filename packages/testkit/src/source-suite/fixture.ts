import assert from 'node:assert/strict';
import type { Awaitable, Source, SourceGrade, SourceSplit, SplitEnumerator } from '@weir/core/contracts';
import { readerContext } from '../contexts.js';
import { roundTrip } from '../round-trip.js';
import type { TestFunction } from '../suite.js';
import type { VirtualClock } from '../virtual-clock.js';

export interface SourceSuiteOptions<T> {
  /** What the source declares; tests of what it does not claim are left out. */
  readonly capabilities: { readonly grade: SourceGrade; readonly bounded: boolean };
  /** Input to read, new for each test. */
  create(): Awaitable<SourceFixture<T>>;
}
export interface SourceFixture<T> {
  /** A source over this input, new at each call, as another process would make it. */
  source(): Source<T>;
  /**
   * The records of each split in order, by split id, splits in the order in which they are dealt out; of an endless split the first ones. Where ids
   * can be chosen, let one be the beginning of another.
   */
  readonly expected: Readonly<Record<string, readonly T[]>>;
  /** For a source that waits for time to pass. Default: real time. */
  readonly clock?: VirtualClock | undefined;
  /** Real milliseconds in which the source answers where there is something to read, and in which it closes. Default 4000. */
  readonly answersWithinMs?: number | undefined;
  /** A position that the input does not have any more. Without it the source is not asked to notice. */
  readonly gone?: { readonly splitId: string; readonly position: unknown } | undefined;
  /** Input that grows. Without it a source that begins at "now" is not asked whether it loses what arrives while it is down. */
  readonly arriving?: ArrivingRecords<T> | undefined;
  /** Where the source reads from, made to fail. Without it the source is not asked what it does then. */
  readonly outside?: SourceOutside | undefined;
  /** Of acknowledging sources, which must have it: what upstream would deliver again to whoever reads the split next. */
  unacknowledged?(splitId: string): Awaitable<readonly T[]>;
  /** Cleans up after the test. */
  dispose?(): Awaitable<void>;
}

/** Records that come behind those that are expected of a split. */
export interface ArrivingRecords<T> {
  readonly splitId: string;
  readonly records: readonly T[];
  /** From now on they are there. */
  arrive(): Awaitable<void>;
}
/** What is between a source and its input, in the hands of a test. */
export interface SourceOutside {
  /** From now on every call to the input fails. */
  fail(): void;
  /** From now on no call to the input settles by itself. Absent: its calls cannot be ended, so neither can be whoever waits for them. */
  hang?(): void;
  /** All is well again. */
  work(): void;
}

/** What a test has at hand. */
export interface SourceBench<T> {
  readonly fixture: SourceFixture<T>;
  /** Ids of the splits, in the order in which they are dealt out. */
  readonly ids: readonly string[];
  /** A started enumerator of a new source. */
  readonly enumerate: (restored?: unknown, parallelism?: number) => Promise<SplitEnumerator>;
  /** Every split of the input, as an enumerator gives it. */
  readonly splits: () => Promise<readonly SourceSplit[]>;
  /** The value as a checkpoint gives it back. */
  readonly stored: <V>(value: V) => V;
}
export type SourceCheck<T> = (title: string, body: (bench: SourceBench<T>) => Promise<void>) => void;

export function checksOf<T>(test: TestFunction, options: SourceSuiteOptions<T>): SourceCheck<T> {
  return (title, body) => {
    test(title, async () => {
      const fixture = await options.create();
      const enumerate = async (restored?: unknown, parallelism = 1): Promise<SplitEnumerator> => {
        const enumerator = fixture.source().enumerator(readerContext({ parallelism, ...clockOf(fixture) }));
        await enumerator.start(restored);
        return enumerator;
      };
      const splits = async (): Promise<readonly SourceSplit[]> => {
        const enumerator = await enumerate();
        const all = take(enumerator, Object.keys(fixture.expected).length);
        await enumerator.close();
        return all;
      };
      const stored = <V>(value: V): V => roundTrip(value, fixture.source().serializer);
      try {
        await body({ fixture, ids: Object.keys(fixture.expected), enumerate, splits, stored });
      } finally {
        await fixture.dispose?.();
      }
    });
  };
}

export function clockOf<T>({ clock }: SourceFixture<T>): { readonly clock?: VirtualClock } {
  return clock === undefined ? {} : { clock };
}

/** The next `count` splits, all for one subtask. */
export function take(enumerator: SplitEnumerator, count: number, subtask = 0): SourceSplit[] {
  return Array.from({ length: count }, (_, i) => {
    const split = enumerator.assign(subtask);
    assert(typeof split === 'object', `split ${String(i + 1)} of ${String(count)} is dealt out`);
    return split;
  });
}

export function idsOf(splits: readonly SourceSplit[]): string[] {
  return splits.map(({ id }) => id);
}
