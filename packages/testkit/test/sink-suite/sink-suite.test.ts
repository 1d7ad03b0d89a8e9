import { describe, expect, test } from 'vitest';
import type { Sink, SinkGrade } from '@weir/core/contracts';
import { runSuite, sinkSuite, type SinkFixture } from '../../src/index.js';
import { directSink, MemoryPlace, memorySink, type Fault } from './memory-sink.js';

function fixture(grade: SinkGrade, fault?: Fault): SinkFixture<number> {
  const place = new MemoryPlace();
  const sink = (): Sink<number> =>
    grade === 'exactly-once' ? memorySink(place, fault) : directSink(place, grade, fault);
  return {
    sink,
    record: (n) => n,
    visible: () => place.visible,
    losePrepared() {
      place.prepared.clear();
    },
  };
}

const GRADES: readonly SinkGrade[] = ['exactly-once', 'idempotent', 'at-least-once'];
for (const grade of GRADES) {
  describe(`a sink that keeps the contract ${grade}`, () => {
    sinkSuite(test, { capabilities: { grade }, create: () => fixture(grade) });
  });
}

describe('the suite finds a sink that', () => {
  const faults: Record<Fault, readonly [SinkGrade, RegExp]> = {
    'shows what is not committed': ['exactly-once', /a lot of output/],
    'commits twice': ['exactly-once', /shows output once that is committed again/],
    'commits only what it has in memory': ['exactly-once', /in another process/],
    'says that lost output is committed': ['exactly-once', /which is lost/],
    'publishes left-overs': ['exactly-once', /did not prepare before it died/],
    'clears prepared output at the start': ['exactly-once', /keeps prepared output/],
    'prepares again what was prepared': ['exactly-once', /only what was written since/],
    'subtasks share a name': ['exactly-once', /subtasks apart/],
    'attempts share a name': ['exactly-once', /later attempts/],
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
        sinkSuite(register, { capabilities: { grade }, create: () => fixture(grade, fault) });
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
