import type { Sink, SourceGrade } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import { sinkSuite, type SinkFixture } from '@weir/testkit';
import type { Observable } from 'rxjs';
import { describe, test } from 'vitest';
import { committed, toObservable } from '../../src/rxjs/index.js';

type EndOfPipe = <T, G extends SourceGrade>(stream: Stream<T, G>) => Observable<T>;

/** The sink that an end of a pipe puts behind a stream. What its Observable emits lives as long as this process, and so does its memory of it. */
function fixture(end: EndOfPipe): SinkFixture<number> {
  const visible: number[] = [];
  const sinks: Sink<number>[] = [];
  const stream = {
    to: (sink: Sink<number>) => {
      sinks.push(sink);
    },
  };
  end(stream as unknown as Stream<number>).subscribe((record) => visible.push(record));
  return { sink: () => sinks[0] as Sink<number>, record: (n) => n, visible: () => visible };
}

describe('the contract of sinks is kept by committed', () => {
  // Large enough for whatever a test writes between two barriers: there is no host to ask for one.
  sinkSuite(test, {
    capabilities: { grade: 'exactly-once' },
    create: () => fixture(committed({ capacity: 100_000 })),
  });
});

describe('the contract of sinks is kept by toObservable', () => {
  sinkSuite(test, { capabilities: { grade: 'at-least-once' }, create: () => fixture(toObservable()) });
});
