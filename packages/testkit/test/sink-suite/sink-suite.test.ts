import { describe, expect, test } from 'vitest';
import type { Sink, SinkGrade } from '@weir/core/contracts';
import { runSuite, sinkSuite, type SinkFixture } from '../../src/index.js';
import { directSink, MemoryPlace, memorySink, MOST_HELD, type Fault } from './memory-sink.js';

function fixture(grade: SinkGrade, fault?: Fault): SinkFixture<number> {
  const place = new MemoryPlace();
  const sink = (): Sink<number> =>
    grade === 'exactly-once' ? memorySink(place, fault) : directSink(place, grade, fault);
  return {
    sink,
    record: (n) => n,
    visible: () => place.visible,
    losePrepared() {
      for (const name of place.prepared.keys()) if (!place.committed.has(name)) place.prepared.delete(name);
    },
    takeVisible() {
      place.visible.length = 0;
    },
    line: place.line,
  };
}

const GRADES: readonly SinkGrade[] = ['exactly-once', 'idempotent', 'at-least-once'];
for (const grade of GRADES) {
  describe(`a sink that keeps the contract ${grade}`, () => {
    sinkSuite(test, { capabilities: { grade }, mostHeld: MOST_HELD, create: () => fixture(grade) });
  });
}

describe('the suite finds a sink that', () => {
  const faults: Record<Fault, readonly [SinkGrade, RegExp]> = {
    'shows what is not committed': ['exactly-once', /a lot of output/],
    'commits twice': ['exactly-once', /shows output once that is committed again/],
    'commits only what it has in memory': ['exactly-once', /in another process/],
    'says that lost output is committed': ['exactly-once', /which is lost/],
    'publishes left-overs': ['exactly-once', /did not prepare before it died/],
    'says once that output is lost, and then that it is committed': [
      'exactly-once',
      /goes on saying that output is lost/,
    ],
    'clears prepared output at the start': ['exactly-once', /keeps prepared output/],
    'deletes what a savepoint holds': ['exactly-once', /what a savepoint holds/],
    'lineages share a name': ['exactly-once', /output of lineages apart/],
    'sinks share a name': ['exactly-once', /output of sinks apart/],
    'commits all whose name begins alike': ['exactly-once', /whose numbers begin alike/],
    'asks for another try for ever': ['exactly-once', /shows nothing before it is committed/],
    'payload that goes on growing': ['exactly-once', /never changes what it has prepared/],
    'publishes piece by piece': ['exactly-once', /all of a piece or nothing/],
    'says committed though it failed': ['exactly-once', /never says that it has committed/],
    'says prepared though it failed': ['exactly-once', /never says that it has prepared/],
    'gives up when the line breaks': ['exactly-once', /never says that it has committed/],
    'takes no note': ['exactly-once', /how far commits have come/],
    'takes its note afterwards': ['exactly-once', /has noted it before/],
    'notes what is only prepared': ['exactly-once', /how far commits have come/],
    'forgets where a lineage came from': ['exactly-once', /what a lineage went on from/],
    'has no destination': ['exactly-once', /says where its output is committed/],
    'is another place each time': ['exactly-once', /the same to every process/],
    'calls lost what was taken away': ['exactly-once', /that was taken away after it was/],
    'publishes again what was taken away': ['exactly-once', /that was taken away after it was/],
    'holds without end': ['exactly-once', /waits for a barrier/],
    'prepares again what was prepared': ['exactly-once', /only what was written since/],
    'subtasks share a name': ['exactly-once', /subtasks apart/],
    'attempts share a name': ['exactly-once', /until an attempt that restores it|later attempts/],
    'loses a batch of one': ['exactly-once', /a lot of output/],
    'publishes on close': ['exactly-once', /abandons/],
    'fewer outcomes than committables': ['exactly-once', /several checkpoints at once/],
    'payload that is no plain data': ['exactly-once', /shows nothing before it is committed/],
    'changes the batch': ['exactly-once', /shows nothing before it is committed/],
    'forgets to flush': ['at-least-once', /handed over everything/],
    'writes again what is there': ['idempotent', /written again/],
  };
  for (const [fault, [grade, title]] of Object.entries(faults) as [Fault, (typeof faults)[Fault]][]) {
    test(fault, async () => {
      const { failed } = await runSuite((register) => {
        sinkSuite(register, { capabilities: { grade }, mostHeld: MOST_HELD, create: () => fixture(grade, fault) });
      });
      expect(failed.map((f) => f.title).join('\n')).toMatch(title);
    });
  }

  test('is not the one it claims to be', async () => {
    const { failed } = await runSuite((register) => {
      sinkSuite(register, { capabilities: { grade: 'idempotent' }, create: () => fixture('exactly-once') });
    });
    expect(failed.map((f) => f.title)).toContain('declares the grade that it is said to have');
  });
});
