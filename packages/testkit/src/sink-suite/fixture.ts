import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Awaitable, Sink, SinkGrade } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';

export interface SinkSuiteOptions<T> {
  /** What the sink declares; tests of what it does not claim are left out. */
  readonly capabilities: { readonly grade: SinkGrade };
  /** So many records a writer holds at most before it waits for a barrier. Absent: it holds none, and that is not looked at. */
  readonly mostHeld?: number | undefined;
  /** A place to write to, empty and new for each test. */
  create(): Awaitable<SinkFixture<T>>;
}
export interface SinkFixture<T> {
  /** A sink that writes to this place, new at each call, as another process would make it. */
  sink(): Sink<T>;
  /** The n-th of as many different records as are asked for. */
  record(n: number): T;
  /** All that a reader of this place sees now, in any order. Fails if it is not made of whole records. */
  visible(): Awaitable<readonly T[]>;
  /** Destroys, behind the sink's back, what is prepared and not committed. Without it the sink is not asked to notice. */
  losePrepared?(): Awaitable<void>;
  /** Takes away, as a consumer does, all that a reader sees. Without it the sink is not asked to remember what was there. */
  takeVisible?(): Awaitable<void>;
  /** What stands between the sink and its outside. Without it nothing is known of what a sink does when that breaks. */
  readonly line?: SinkLine | undefined;
  /** Cleans up after the test. */
  dispose?(): Awaitable<void>;
}

/** The line to the outside, which can break at any operation. */
export interface SinkLine {
  /**
   * The `nth` operation from now on, of whatever sink, fails and does not happen; or it is never answered, nor is any after it, as if the process
   * had died there.
   */
  breakAt(nth: number, how: 'fails' | 'dies'): BrokenLine;
}
export interface BrokenLine {
  /** Settles when the operation has been asked for. */
  readonly reached: Promise<void>;
  /** Everything is answered again that is asked from now on. True if the operation had been asked for. */
  heal(): boolean;
}

/** What a test has at hand. */
export interface SinkBench<T> {
  readonly fixture: SinkFixture<T>;
  /** Records `from` to `to`, the latter not included. */
  readonly records: (from: number, to: number) => readonly T[];
  /** Fails unless a reader sees exactly the records with these numbers, each once. */
  readonly seen: (...ranges: readonly (readonly [from: number, to: number])[]) => Promise<void>;
}
export type SinkCheck<T> = (title: string, body: (bench: SinkBench<T>) => Promise<void>) => void;

export function checksOf<T>(test: TestFunction, options: SinkSuiteOptions<T>): SinkCheck<T> {
  return (title, body) => {
    test(title, async () => {
      const fixture = await options.create();
      const records = (from: number, to: number): readonly T[] =>
        Array.from({ length: to - from }, (_, i) => fixture.record(from + i));
      const seen: SinkBench<T>['seen'] = async (...ranges) => {
        const expected = ranges.flatMap(([from, to]) => records(from, to));
        assert.deepEqual(inOrder(await fixture.visible()), inOrder(expected), 'the records that a reader sees');
      };
      try {
        await body({ fixture, records, seen });
      } finally {
        await fixture.dispose?.();
      }
    });
  };
}

function inOrder(records: readonly unknown[]): unknown[] {
  return records
    .map((record) => ({ record, text: inspect(record, { depth: Infinity }) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ record }) => record);
}
