import { barrier, alignment, step } from '@weir/core/barrier';
import { describe, expect, test } from 'vitest';
import { Trace } from './trace.js';

// Titles carry the names of the tests in Flink's AlignedCheckpointsTest whose outcome is the expectation here.
const featureOff = { checkpointsAfterEnd: false };

describe('aligned, as in Flink', () => {
  test('testSingleChannelNoBarriers, testMultiChannelNoBarriers: without barriers nothing happens', () => {
    expect(new Trace('aligned', 1).take('D(0) D(0) D(0) E(0)').log).toEqual([]);
    const many = new Trace('aligned', 4).take('D(2) D(2) D(0) D(1) D(0) E(0) D(3) D(1) E(3) D(1) E(1) D(2) E(2)');
    expect(many.log).toEqual([]);
  });

  test('testSingleChannelWithBarriers: a single channel never waits', () => {
    const t = new Trace('aligned', 1).take('D(0) B(1,0) D(0) D(0) B(2,0) B(3,0) D(0) B(4,0) B(5,0) B(6,0) D(0) E(0)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2', 'snapshot 3', 'snapshot 4', 'snapshot 5', 'snapshot 6']);
    expect(t.alignmentTimes).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('testMultiChannelWithBarriers: channels are blocked from their barrier to the last one', () => {
    const t = new Trace('aligned', 3).take('D(0) D(2) D(0) B(1,1) B(1,2) D(0)');
    expect(t.blocked).toEqual([1, 2]);
    expect(t.log).toEqual([]);
    t.take('B(1,0)');
    expect(t.blocked).toEqual([]);
    expect(t.log).toEqual(['snapshot 1']);
    t.take('D(0) D(0) D(1) D(1) D(2) B(2,0) B(2,1) B(2,2) D(2) D(2) B(3,2) D(0) D(0) B(3,0) B(3,1)');
    t.take('B(4,1) B(4,2) B(4,0) D(0) E(0) E(1) E(2)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2', 'snapshot 3', 'snapshot 4']);
    expect(t.alignmentTimes).toEqual([3, 2, 4, 2]);
    expect(t.blocked).toEqual([]);
  });

  test('testMultiChannelJumpingOverCheckpoint: a newer barrier aborts the checkpoint before it starts its own', () => {
    const t = new Trace('aligned', 3, featureOff).take('B(1,1) B(1,2) D(0) B(1,0) D(1) D(0) B(2,1) D(2) B(2,0) D(2)');
    expect(t.pending).toBe(2);
    expect(t.blocked).toEqual([0, 1]);
    t.take('B(3,2)');
    expect(t.pending).toBe(3);
    expect(t.blocked).toEqual([2]);
    t.take('D(1) D(0) B(3,0)');
    expect(t.blocked).toEqual([0, 2]);
    t.take('B(4,1)');
    expect(t.pending).toBe(4);
    expect(t.blocked).toEqual([1]);
    t.take('D(2) D(0) E(0)');
    expect(t.blocked).toEqual([]);
    t.take('D(2) E(2) D(1) E(1)');
    expect(t.log).toEqual(['snapshot 1', 'abort 2 SUBSUMED', 'abort 3 SUBSUMED', 'abort 4 INPUT_END_OF_STREAM']);
  });

  test('testMetrics: the alignment is timed from the first barrier to the last', () => {
    const t = new Trace('aligned', 3);
    t.now = 10;
    t.take('B(1,1) D(0) D(2) B(1,0) D(2)');
    t.now = 25;
    t.take('B(1,2) D(0)');
    expect(t.alignmentTimes).toEqual([15]);

    const triggered = { kind: 'barrier', channel: 0, barrier: barrier(1, 4) } as const;
    const [, [snapshot]] = step(alignment('aligned', 1), triggered, 10);
    expect(snapshot).toEqual({ kind: 'snapshot', barrier: barrier(1, 4), startedAt: 10 });
  });

  test('testMissingCancellationBarriers: a marker that skips ids ends the pending checkpoint, and older markers are ignored', () => {
    const t = new Trace('aligned', 2).take('B(1,0) X(3,1)');
    expect(t.blocked).toEqual([]);
    t.take('X(2,0) X(3,0) D(0)');
    // Flink leaves 1 without an answer here.
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER', 'abort 3 ON_CANCELLATION_BARRIER']);
    expect(t.pending).toBeUndefined();
  });

  test('testStartAlignmentWithClosedChannels: only channels that are open are waited for', () => {
    const t = new Trace('aligned', 4).take('E(2) E(1) D(0) D(0) D(3) B(2,3) B(2,0)');
    expect(t.log).toEqual(['snapshot 2']);
    expect(t.blocked).toEqual([]);
    t.take('B(3,0) B(3,3)');
    expect(t.log).toEqual(['snapshot 2', 'snapshot 3']);
    t.take('D(0) D(0) D(3) E(0) D(3) B(4,3)');
    expect(t.log).toEqual(['snapshot 2', 'snapshot 3', 'snapshot 4']);
    expect(t.blocked).toEqual([]);
    t.take('D(3) E(3)');
    expect(t.log).toHaveLength(3);
  });

  test('testEndOfStreamWhileCheckpoint: with checkpoints after the end off, an end aborts what is pending', () => {
    const t = new Trace('aligned', 3, featureOff).take('B(1,0) B(1,1) B(1,2) D(0) D(0) D(2) B(2,2) B(2,0) D(1)');
    expect(t.blocked).toEqual([0, 2]);
    t.take('E(1)');
    expect(t.blocked).toEqual([]);
    t.take('E(2) D(0) E(0)');
    expect(t.log).toEqual(['snapshot 1', 'abort 2 INPUT_END_OF_STREAM']);
  });

  test('testSingleChannelAbortCheckpoint: barriers and markers of one channel in turn', () => {
    const t = new Trace('aligned', 1).take('D(0) B(1,0) D(0) B(2,0) D(0) X(4,0)');
    expect(t.pending).toBeUndefined();
    t.take('B(5,0) D(0) X(6,0) D(0)');
    expect(t.log).toEqual([
      'snapshot 1',
      'snapshot 2',
      'abort 4 ON_CANCELLATION_BARRIER',
      'snapshot 5',
      'abort 6 ON_CANCELLATION_BARRIER',
    ]);
    expect(t.alignmentTimes).toEqual([0, 0, 0]);
  });

  test('testMultiChannelAbortCheckpoint: a marker ends a checkpoint as the last, the first and a repeated word about it', () => {
    const t = new Trace('aligned', 3).take('D(0) B(1,1) B(1,2) D(0) B(1,0) D(0) D(2) B(2,0) B(2,2) D(1)');
    expect(t.blocked).toEqual([0, 2]);
    t.take('X(2,1)');
    expect(t.blocked).toEqual([]);
    t.take('D(2) D(1) B(3,1) B(3,2) B(3,0) D(0) D(1) X(4,1) B(4,2)');
    expect(t.blocked).toEqual([]);
    t.take('D(2) B(4,0)');
    expect(t.blocked).toEqual([]);
    t.take('D(0) D(1) D(2) B(5,2) B(5,1) B(5,0) D(0) D(1) X(6,1) X(6,2) B(6,0)');
    expect(t.blocked).toEqual([]);
    expect(t.log).toEqual([
      'snapshot 1',
      'abort 2 ON_CANCELLATION_BARRIER',
      'snapshot 3',
      'abort 4 ON_CANCELLATION_BARRIER',
      'snapshot 5',
      'abort 6 ON_CANCELLATION_BARRIER',
    ]);
  });

  test('testAbortOnCanceledBarriers: the next barrier does not abort a cancelled checkpoint again, and a late one is ignored', () => {
    const t = new Trace('aligned', 3).take('D(1) B(1,1) D(2) D(0) X(1,0)');
    expect(t.blocked).toEqual([]);
    t.take('D(1) B(2,1) D(2) D(0) B(1,2)');
    expect(t.blocked).toEqual([1]);
    t.take('D(0) D(2) B(2,0) B(2,2) D(0)');
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER', 'snapshot 2']);
    expect(t.blocked).toEqual([]);
  });

  test('testIgnoreCancelBarrierIfCheckpointSubsumed: a marker for a subsumed checkpoint is ignored', () => {
    const t = new Trace('aligned', 3).take('D(2) B(3,1) B(3,0) D(2)');
    expect(t.blocked).toEqual([0, 1]);
    t.take('B(5,2)');
    expect(t.blocked).toEqual([2]);
    t.take('D(1) D(0) X(3,0) D(0) D(1)');
    expect(t.pending).toBe(5);
    t.take('B(5,0) B(5,1) D(0)');
    expect(t.log).toEqual(['abort 3 SUBSUMED', 'snapshot 5']);
    expect(t.blocked).toEqual([]);
  });

  test('testTriggerCheckpointsWithEndOfPartition: the end of the last missing channel completes the checkpoint', () => {
    const t = new Trace('aligned', 3).take('B(1,0) B(1,1)');
    expect(t.blocked).toEqual([0, 1]);
    t.take('E(2)');
    expect(t.log).toEqual(['snapshot 1']);
    expect(t.blocked).toEqual([]);
  });

  test('testDeduplicateChannelsWithBothBarrierAndEndOfPartition: barrier and end of one channel count once', () => {
    const t = new Trace('aligned', 3).take('B(2,0) B(2,1) E(1)');
    expect(t.log).toEqual([]);
    expect(t.take('B(2,2)').log).toEqual(['snapshot 2']);
  });

  test('testTriggerCheckpointsAfterReceivedEndOfPartition: an ended channel counts for every later checkpoint', () => {
    const t = new Trace('aligned', 3).take('E(2) B(6,0) B(6,1) E(1) B(7,0)');
    expect(t.log).toEqual(['snapshot 6', 'snapshot 7']);
  });
});
