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

  test.each<[string, string, readonly number[]]>([
    ['before the timeout: it waits its turn', 'N(1) P(1,0) N(1) D(1)', []],
    ['at the timeout, and after it', 'P(1,0) N(1) T(1) N(1) N(1)', [1, 1, 1]],
    ['after a timeout that came before any barrier was taken', 'N(1) T(1) N(1)', [1, 1]],
    ['after a barrier has come that has overtaken upstream', 'U(1,1) N(1) N(1)', [1, 1, 1]],
    ['after one has, in the middle of an alignment', 'P(1,0) U(1,1) N(1)', [1, 1]],
    ['after the checkpoint has ended', 'P(1,0) T(1) P(1,1) P(1,2) N(1)', [1]],
    ['after it has completed aligned in time', 'P(1,0) P(1,1) P(1,2) T(1) N(1)', []],
    ['after it was aborted', 'P(1,0) T(1) A(1) N(1)', [1]],
    ['after it was aborted before the timeout', 'P(1,0) A(1) T(1) N(1)', []],
    ['after it was aborted before any barrier was taken', 'A(1) T(1) N(1) U(1,0) N(1)', []],
    ['after a cancel marker', 'P(1,0) T(1) X(1,1) N(1)', [1]],
    ['of the next checkpoint, while the one before is late', 'P(1,0) T(1) N(2)', [1]],
    ['of the checkpoint before, while a newer one is late', 'P(1,0) P(2,1) T(2) N(1) N(2)', [2, 2]],
    ['of a savepoint', 'S(1,0) T(1) N(1)', []],
    ['that is forced into line', 'F(1,0) T(1) N(1)', []],
  ])('AlternatingWaitingForFirstBarrier: a barrier is announced %s', (_when, script, letOvertake) => {
    expect(new Trace('aligned', 3).take(script).letOvertake).toEqual(letOvertake);
  });

  test('where barriers are only counted, no barrier is let overtake', () => {
    expect(new Trace('counting', 2).take('N(1) T(1) N(1) P(1,0) T(1) N(1) P(1,1) N(1)').letOvertake).toEqual([]);
  });

  test('only a timeout in the middle of an alignment takes a snapshot', () => {
    const afterwards = (script: string, id = 1): boolean => new Trace('aligned', 2).take(script).snapshotsOnTimeout(id);
    expect(afterwards('P(1,0)')).toBe(true);
    for (const script of [
      '',
      'N(1)',
      'T(1)',
      'P(1,0) T(1)',
      'P(1,0) P(1,1)',
      'P(1,0) A(1)',
      'S(1,0)',
      'F(1,0)',
      'U(1,0)',
    ])
      expect([script, afterwards(script)]).toEqual([script, false]);
    expect(afterwards('P(1,0)', 2)).toBe(false);
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
