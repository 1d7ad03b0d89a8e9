import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Awaitable, Sink, SinkGrade } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';

export interface SinkSuiteOptions<T> {
  /** What the sink declares; tests of what it does not claim are left out. */
  readonly capabilities: { readonly grade: SinkGrade };
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
  /** Cleans up after the test. */
  dispose?(): Awaitable<void>;
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
