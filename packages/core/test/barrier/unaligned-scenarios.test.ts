import { describe, expect, test } from 'vitest';
import { Trace } from './trace.js';

// Titles carry the names of the tests in Flink's UnalignedCheckpointsTest whose outcome is the expectation here. A trace fails for data that is
// in flight without a star, and for a star without.
const featureOff = { checkpointsAfterEnd: false };

describe('unaligned, as in Flink', () => {
  test('testSingleChannelNoBarriers, testMultiChannelNoBarriers: without barriers nothing happens', () => {
    expect(new Trace('unaligned', 1).take('D(0) D(0) D(0) E(0)').log).toEqual([]);
    expect(new Trace('unaligned', 3).take('D(2) D(0) D(1) E(0) D(1) E(1) D(2) E(2)').log).toEqual([]);
  });

  test('testSingleChannelWithBarriers: of a single channel nothing is in flight', () => {
    const t = new Trace('unaligned', 1).take('D(0) B(1,0) D(0) D(0) B(2,0) B(3,0) D(0) E(0)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1', 'snapshot 2', 'inputs 2', 'snapshot 3', 'inputs 3']);
  });

  test('testMultiChannelWithBarriers: the first barrier starts the checkpoint, and what others send before theirs is in flight', () => {
    const t = new Trace('unaligned', 3).take('D(0) D(2) D(0) B(1,1)');
    expect(t.log).toEqual(['snapshot 1']);
    t.take('B(1,2) D(2) D(1) D(0)* B(1,0)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
    // All barriers first: nothing is in flight.
    t.take('D(0) B(2,0) B(2,1) B(2,2) D(2) D(0)');
    expect(t.log.slice(2)).toEqual(['snapshot 2', 'inputs 2']);
    t.take('B(5,1) D(2)* D(0)* D(2)* D(1) B(5,2) D(1) D(0)* D(2) D(1) B(5,0) D(0)');
    expect(t.log.slice(4)).toEqual(['snapshot 5', 'inputs 5']);
    expect(t.blocked).toEqual([]);
  });

  test('testMetrics: the snapshot does not wait, so the alignment takes no time', () => {
    expect(new Trace('unaligned', 3).take('B(1,1) D(0)* B(1,0) D(2)* B(1,2)').alignmentTimes).toEqual([0]);
  });

  test('testMultiChannelJumpingOverCheckpoint: a newer barrier aborts the checkpoint whose inputs are not complete', () => {
    const t = new Trace('unaligned', 3).take('B(1,1) B(1,2) D(0)* B(1,0) B(2,1) D(2)* B(2,0) B(3,2)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1', 'snapshot 2', 'abort 2 SUBSUMED', 'snapshot 3']);
    t.take('D(1)* D(0)* D(2) B(3,0) B(3,1)');
    expect(t.log.at(-1)).toBe('inputs 3');
  });

  test('testEndOfStreamWhileCheckpoint: with checkpoints after the end off, an end aborts what is pending', () => {
    const t = new Trace('unaligned', 3, featureOff).take('B(2,2) B(2,0) D(1)* E(1)');
    expect(t.log).toEqual(['snapshot 2', 'abort 2 INPUT_END_OF_STREAM']);
    t.take('D(0) D(2)');
  });

  test('testSingleChannelAbortCheckpoint: barriers and markers of one channel in turn', () => {
    const t = new Trace('unaligned', 1).take('B(1,0) B(2,0) X(4,0) B(5,0) X(6,0) D(0)');
    expect(t.log.filter((line) => !line.startsWith('inputs'))).toEqual([
      'snapshot 1',
      'snapshot 2',
      'abort 4 ON_CANCELLATION_BARRIER',
      'snapshot 5',
      'abort 6 ON_CANCELLATION_BARRIER',
    ]);
  });

  test('testMultiChannelAbortCheckpoint: a marker ends a checkpoint although its snapshot is taken', () => {
    const t = new Trace('unaligned', 3).take('B(1,1) B(1,2) D(0)* B(1,0) B(2,0) B(2,2) D(1)* X(2,1) D(1) D(0)');
    expect(t.log.slice(2)).toEqual(['snapshot 2', 'abort 2 ON_CANCELLATION_BARRIER']);
    t.take('X(4,1) B(4,2) D(2) B(4,0) B(5,2) D(0)* B(5,1) B(5,0)');
    expect(t.log.slice(4)).toEqual(['abort 4 ON_CANCELLATION_BARRIER', 'snapshot 5', 'inputs 5']);
  });

  test('testMissingCancellationBarriers: a marker that skips ids ends what is pending, and nothing stays in flight', () => {
    const t = new Trace('unaligned', 2).take('B(1,0) X(2,0) X(3,0) X(3,1) D(0) D(1)');
    expect(t.log).toEqual([
      'snapshot 1',
      'abort 1 ON_CANCELLATION_BARRIER',
      'abort 2 ON_CANCELLATION_BARRIER',
      'abort 3 ON_CANCELLATION_BARRIER',
    ]);
    expect(t.persisted.size).toBe(0);
  });

  test('testProcessCancellationBarrierBeforeProcessAndReceiveBarrier: a cancelled checkpoint does not start, and is aborted once', () => {
    const t = new Trace('unaligned', 2).take('X(1,0) B(1,1) D(0) D(1) B(1,0)');
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER']);
  });

  test('testTriggerCheckpointsWithEndOfPartition: the end of a channel counts as its barrier', () => {
    const t = new Trace('unaligned', 3).take('B(1,1) D(0)* B(1,0) D(1) E(2) E(0) E(1)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
  });

  test('an end of one channel among several that are missing ends its part only', () => {
    const t = new Trace('unaligned', 3).take('B(1,1) E(2) D(0)* B(1,0)');
    expect(t.log).toEqual(['snapshot 1', 'inputs 1']);
  });

  test('testStartAlignmentWithClosedChannels: only channels that are open are waited for', () => {
    const t = new Trace('unaligned', 4).take('E(1) E(2) B(3,3) D(3) D(0)* B(3,0) D(0)');
    expect(t.log).toEqual(['snapshot 3', 'inputs 3']);
    t.take('E(0) B(4,3)');
    expect(t.log.slice(2)).toEqual(['snapshot 4', 'inputs 4']);
  });

  test('what the coordinator gives up is in flight no longer', () => {
    const t = new Trace('unaligned', 2).take('B(1,0) D(1)* A(1) D(1) B(1,1)');
    expect(t.log).toEqual(['snapshot 1', 'abort 1 BY_COORDINATOR']);
    expect(new Trace('unaligned', 2).take('A(1) B(1,0) D(1) B(1,1)').log).toEqual(['abort 1 BY_COORDINATOR']);
  });

  test('savepoints are aligned, and so is what an edge has forced into line', () => {
    const t = new Trace('unaligned', 2).take('S(1,0)');
    expect(t.blocked).toEqual([0]);
    t.take('D(1) S(1,1) F(2,0)');
    expect(t.blocked).toEqual([0]);
    t.take('D(1) F(2,1)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2']);
    // What was forced into line on the way in may overtake again on the way out.
    expect(t.forwarded.map(({ isForcedAligned }) => isForcedAligned)).toEqual([undefined, undefined]);
    expect(t.forwarded[1]?.overtakesAfter).toBe(0);
  });
});
