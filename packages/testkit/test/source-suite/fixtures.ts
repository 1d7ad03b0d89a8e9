import { runSuite, sourceSuite, type SourceFixture, type SourceSuiteOptions } from '../../src/index.js';
import { arraySource, type Fault } from './array-source.js';
import { Log, logSource, type LogFault } from './log-source.js';
import { Outside } from './outside.js';
import { Queue, queueSource, type QueueFault } from './queue-source.js';

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
/** One id is the beginning of another. */
const INPUT = { a: range(0, 40), 'a-1': [], 'a-10': range(100, 1), d: range(200, 7) };

/** What has to fail because nothing ever comes fails soon. */
const answersWithinMs = 300;

export const ARRAYS = { grade: 'replayable', bounded: true } as const;

export function arrayFixture(fault?: Fault): SourceFixture<number> {
  const outside = new Outside();
  return {
    answersWithinMs,
    source: () => arraySource(INPUT, fault, outside),
    expected: INPUT,
    gone: { splitId: 'a', position: { next: 41 } },
    outside,
  };
}

/** A log that has `length` records when it is followed from its end, or, with more than none, from its beginning. */
export function logFixture(length: number, fault?: LogFault): SourceFixture<number> {
  const log = new Log();
  const source = logSource(log, fault);
  log.append(...range(0, length));
  return {
    answersWithinMs,
    // Described before the first records, or anew each time at the end that the log has by then.
    source: () => (length === 0 ? logSource(log, fault) : source),
    expected: { log: range(0, length) },
    arriving: {
      splitId: 'log',
      records: [700, 701, 702],
      arrive: () => {
        log.append(700, 701, 702);
      },
    },
  };
}

export function queueFixture(fault?: QueueFault): SourceFixture<string> {
  const expected = { q: range(0, 11).map(String), q1: ['only'], q10: range(0, 2).map((n) => `ten ${String(n)}`) };
  const queues = Object.fromEntries(Object.entries(expected).map(([id, records]) => [id, new Queue(records)]));
  return {
    answersWithinMs,
    source: () => queueSource(queues, fault),
    expected,
    unacknowledged: (id) => queues[id]?.unacknowledged ?? [],
  };
}

/** Titles of the tests that a source with this fixture fails. */
export async function failedWith<T>(
  capabilities: SourceSuiteOptions<T>['capabilities'],
  create: () => SourceFixture<T>,
): Promise<string> {
  const { failed } = await runSuite((register) => {
    sourceSuite(register, { capabilities, create });
  });
  return failed.map(({ title }) => title).join('\n');
}
