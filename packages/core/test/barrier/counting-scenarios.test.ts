import { describe, expect, test } from 'vitest';
import { Trace } from './trace.js';

// Titles carry the names of the tests in Flink's CheckpointBarrierTrackerTest whose outcome is the expectation here.
const featureOff = { checkpointsAfterEnd: false };

describe('counting, as in Flink', () => {
  test('testSingleChannelWithBarriers, testSingleChannelWithSkippedBarriers: a single channel triggers at once', () => {
    const t = new Trace('counting', 1).take('D(0) B(1,0) D(0) B(3,0) D(0) B(4,0) B(6,0) D(0) B(7,0) B(10,0) D(0)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 3', 'snapshot 4', 'snapshot 6', 'snapshot 7', 'snapshot 10']);
  });

  test('testMultiChannelWithBarriers: data flows between the first barrier and the last', () => {
    const t = new Trace('counting', 3).take('D(0) D(2) B(1,1) B(1,2) D(2) D(1) B(1,0) D(0) D(1) B(2,0) B(2,1) B(2,2)');
    t.take('D(2) B(3,2) D(2) D(2) B(3,0) B(3,1) B(4,1) B(4,2) B(4,0) D(0)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2', 'snapshot 3', 'snapshot 4']);
  });

  test('testMultiChannelSkippingCheckpoints: what can not complete any more is dropped without a word', () => {
    const t = new Trace('counting', 3).take('B(1,1) B(1,2) D(2) D(1) B(1,0) D(0) B(2,0) B(2,1) B(2,2) D(2)');
    t.take('B(3,2) D(2) D(2) B(4,0) D(0) D(1) D(2) B(4,1) D(1) B(4,2) D(0)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2', 'snapshot 4']);
    expect(t.pending).toBeUndefined();
  });

  test('testCompleteCheckpointsOnLateBarriers: several checkpoints are under way at once', () => {
    const t = new Trace('counting', 3).take(
      'D(1) B(2,1) B(2,0) B(2,2) D(1) B(3,1) B(3,2) D(0) B(4,2) B(4,1) B(3,0) B(4,0)',
    );
    expect(t.log).toEqual(['snapshot 2', 'snapshot 3', 'snapshot 4']);
    t.take('B(5,1) D(0) B(5,0) B(5,2) B(6,1) B(6,0) B(7,1) B(7,2) B(8,2) B(8,1) B(9,1) B(7,0) B(9,2) B(10,2)');
    expect(t.log.slice(3)).toEqual(['snapshot 5', 'snapshot 7']);
    t.take('B(8,0) D(1) B(9,0) D(2) B(10,0) B(10,1)');
    expect(t.log.slice(5)).toEqual(['snapshot 8', 'snapshot 9', 'snapshot 10']);
  });

  test('testNextFirstCheckpointBarrierOvertakesCancellationBarrier: each checkpoint has its own alignment time', () => {
    const t = new Trace('counting', 2).take('B(1,1) B(2,1) X(1,0) B(2,0)');
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER', 'snapshot 2']);
    expect(t.alignmentTimes).toEqual([2]);
  });

  test('testTwoLastBarriersOneByOne: each checkpoint has its own alignment time', () => {
    const t = new Trace('counting', 2).take('B(1,1) B(2,1) B(1,0) B(2,0)');
    expect(t.log).toEqual(['snapshot 1', 'snapshot 2']);
    expect(t.alignmentTimes).toEqual([2, 2]);
  });

  test('testSingleChannelAbortCheckpoint: barriers and markers of one channel in turn', () => {
    const t = new Trace('counting', 1).take('D(0) B(1,0) D(0) B(2,0) X(4,0) B(5,0) D(0) X(6,0) D(0)');
    expect(t.log).toEqual([
      'snapshot 1',
      'snapshot 2',
      'abort 4 ON_CANCELLATION_BARRIER',
      'snapshot 5',
      'abort 6 ON_CANCELLATION_BARRIER',
    ]);
  });

  test('testMultiChannelAbortCheckpoint: a marker ends a checkpoint as the last, the first and a repeated word about it', () => {
    const t = new Trace('counting', 3).take(
      'B(1,1) B(1,2) D(2) B(1,0) B(2,0) B(2,2) D(0) X(2,1) D(2) B(3,1) B(3,2) B(3,0)',
    );
    t.take('X(4,1) B(4,2) D(0) B(4,0) B(5,2) B(5,1) B(5,0) X(6,1) X(6,2) B(6,0) D(0)');
    expect(t.log).toEqual([
      'snapshot 1',
      'abort 2 ON_CANCELLATION_BARRIER',
      'snapshot 3',
      'abort 4 ON_CANCELLATION_BARRIER',
      'snapshot 5',
      'abort 6 ON_CANCELLATION_BARRIER',
    ]);
  });

  test('testInterleavedCancellationBarriers: each checkpoint is aborted once', () => {
    const t = new Trace('counting', 3).take('B(1,0) X(2,0) X(1,1) X(2,1) X(1,2) X(2,2) D(0)');
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER', 'abort 2 ON_CANCELLATION_BARRIER']);
  });

  test('testMetrics, testSingleChannelMetrics: the alignment is timed from the first barrier to the last', () => {
    expect(new Trace('counting', 3).take('B(1,1) D(0) D(2) B(1,0) D(2) B(1,2)').alignmentTimes).toEqual([5]);
    expect(new Trace('counting', 1).take('D(0) B(1,0) D(0)').alignmentTimes).toEqual([0]);
  });

  test('testTriggerCheckpointsWithEndOfPartition: of all that an end completes only the newest is taken', () => {
    const t = new Trace('counting', 3).take('B(1,0) B(2,0) B(2,1) B(3,0) B(4,0) B(4,1) B(5,1) E(2)');
    expect(t.log).toEqual(['snapshot 4']);
    expect(t.pending).toBe(5);
    t.take('B(3,1) B(5,0)');
    expect(t.log).toEqual(['snapshot 4', 'snapshot 5']);
  });

  test('testDeduplicateChannelsWithBothBarrierAndEndOfPartition: barrier and end of one channel count once', () => {
    const t = new Trace('counting', 3).take('B(2,0) B(2,1) E(1)');
    expect(t.log).toEqual([]);
    expect(t.take('B(2,2)').log).toEqual(['snapshot 2']);
  });

  test('testTriggerCheckpointsAfterReceivedEndOfPartition: an ended channel counts for every later checkpoint', () => {
    const t = new Trace('counting', 3).take('E(2) B(5,0) B(6,0) B(6,1) E(1) B(7,0)');
    expect(t.log).toEqual(['snapshot 6', 'snapshot 7']);
  });

  test('testNoFastPathWithChannelFinishedDuringCheckpoints: the last open channel completes what is pending, once', () => {
    const t = new Trace('counting', 2).take('B(1,0) E(0) B(1,1)');
    expect(t.log).toEqual(['snapshot 1']);
    expect(t.pending).toBeUndefined();
  });

  test('testCompleteAndRemoveAbortedCheckpointWithEndOfPartition: an end does not bring an aborted checkpoint back', () => {
    const t = new Trace('counting', 3).take('X(4,0) B(4,1) B(5,1) E(2)');
    expect(t.log).toEqual(['abort 4 ON_CANCELLATION_BARRIER']);
    expect(t.pending).toBe(5);
  });

  test('testAbortCheckpointsAfterEndOfPartitionReceived: markers abort older checkpoints as well', () => {
    const t = new Trace('counting', 3).take('E(2) B(5,0) B(6,0) X(6,1) E(1) X(7,0)');
    expect(t.log).toEqual([
      'abort 5 ON_CANCELLATION_BARRIER',
      'abort 6 ON_CANCELLATION_BARRIER',
      'abort 7 ON_CANCELLATION_BARRIER',
    ]);
  });

  test('testNoFastPathWithChannelFinishedDuringCheckpointsCancel: the last open channel cancels what is pending', () => {
    const t = new Trace('counting', 2).take('B(1,0) E(0) X(1,1)');
    expect(t.log).toEqual(['abort 1 ON_CANCELLATION_BARRIER']);
    expect(t.pending).toBeUndefined();
  });

  test('with checkpoints after the end off, an end aborts all that are pending', () => {
    const t = new Trace('counting', 3, featureOff).take('B(1,0) B(2,0) E(2) B(1,1) B(2,1) B(3,0) B(3,1)');
    expect(t.log).toEqual(['abort 1 INPUT_END_OF_STREAM', 'abort 2 INPUT_END_OF_STREAM', 'snapshot 3']);
  });

  test('at most 50 checkpoints are tracked: the oldest is dropped without a word', () => {
    const t = new Trace('counting', 2);
    for (let id = 1; id <= 51; id++) t.take(`B(${id},0)`);
    t.take('B(1,1)');
    expect(t.log).toEqual([]);
    t.take('B(2,1)');
    expect(t.log).toEqual(['snapshot 2']);
  });
});
