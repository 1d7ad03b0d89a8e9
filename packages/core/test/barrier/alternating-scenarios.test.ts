import { describe, expect, test } from 'vitest';
import { Trace } from './trace.js';

// Titles carry the names of the tests in Flink's AlternatingCheckpointsTest whose outcome is the expectation here. In this mode each barrier says
// whether it may overtake.
describe('aligned with a timeout, as in Flink', () => {
  test('testTimeoutAlignmentBeforeFirstBarrier: a checkpoint that is late already starts with its first barrier', () => {
    const t = new Trace('aligned', 2).take('T(1) P(1,0)');
    expect(t.log).toEqual(['snapshot 1']);
    expect(t.blocked).toEqual([]);
    t.take('D(0) D(1)* P(1,1) D(1)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
  });

  test('in time it is aligned, and may be late further on', () => {
    const t = new Trace('aligned', 2).take('P(1,0)');
    expect(t.blocked).toEqual([0]);
    t.take('D(1) P(1,1)');
    expect(t.log).toEqual(['snapshot 1']);
    expect(t.forwarded[0]?.overtakesAfter).toBe(10);
    expect(t.take('T(1) D(0) D(1)').log).toEqual(['snapshot 1']);
  });

  test('in the middle of an alignment it snapshots at once, and what is blocked stays so to the end', () => {
    const t = new Trace('aligned', 3).take('P(1,0) D(1) T(1)');
    expect(t.log).toEqual(['snapshot 1']);
    expect(t.forwarded[0]?.overtakesAfter).toBe(0);
    expect(t.blocked).toEqual([0]);
    t.take('D(1)* U(1,1) D(1) D(2)*');
    expect(t.blocked).toEqual([0]);
    t.take('U(1,2)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
    expect(t.blocked).toEqual([]);
  });

  test('testAlignedAfterTimedOut: each checkpoint starts aligned anew', () => {
    const t = new Trace('aligned', 2).take('P(1,0) T(1) D(1)* P(1,1) P(2,0)');
    expect(t.blocked).toEqual([0]);
    t.take('D(1) P(2,1)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1', 'snapshot 2']);
    expect(t.forwarded.map(({ overtakesAfter }) => overtakesAfter)).toEqual([0, 10]);
  });

  test('testTimeoutAlignmentOnUnalignedCheckpoint: a barrier that has overtaken upstream switches this one too, once', () => {
    const t = new Trace('aligned', 3).take('P(1,0) U(1,1)');
    expect(t.log).toEqual(['snapshot 1']);
    // Both records had been overtaken by the barrier of channel 2.
    t.take('D(2)* D(2)* U(1,2) T(1)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
    expect(t.blocked).toEqual([]);
  });

  test('testNoActiveTimeoutAlignmentAfterClose: a timeout after an abort or an end does nothing', () => {
    const t = new Trace('aligned', 2).take('P(1,0) A(1) T(1) D(0) D(1) P(1,1)');
    expect(t.log).toEqual(['abort 1 BY_COORDINATOR']);
    expect(new Trace('aligned', 2).take('P(1,0) E(1) T(1) E(0) T(1)').log).toEqual(['snapshot 1']);
  });

  test('a timeout changes nothing for savepoints, for what is forced into line, and for checkpoints that never overtake', () => {
    for (const kind of ['S', 'F', 'B']) {
      const t = new Trace('aligned', 2).take(`${kind}(1,0) T(1)`);
      expect(t.blocked).toEqual([0]);
      expect(t.take(`D(1) ${kind}(1,1)`).log).toEqual(['snapshot 1']);
    }
  });

  test('testAlternation: checkpoints and savepoints by turns are each taken once, in order', () => {
    const channels = 123;
    const t = new Trace('aligned', channels);
    const expected: string[] = [];
    for (let id = 1; id <= 40; id++) {
      const kind = 'USP'[id % 3] as string;
      for (let i = 0; i < channels; i++) t.take(`${kind}(${id},${(i * 7 + id) % channels})`);
      expected.push(`snapshot ${id}`);
      if (kind === 'U') expected.push(`inputs ${id}`);
    }
    expect(t.log).toEqual(expected);
    expect(t.blocked).toEqual([]);
  });
});
