import { alignment, barrier, isBlocked, step } from '@weir/core/barrier';
import { describe, expect, test } from 'vitest';
import { Trace } from './trace.js';

describe('the order of actions', () => {
  test('the barrier leaves before the channels are unblocked', () => {
    const [waiting] = step(alignment('aligned', 2), { kind: 'barrier', channel: 0, barrier: barrier(1) }, 5);
    const [, actions] = step(waiting, { kind: 'barrier', channel: 1, barrier: barrier(1) }, 9);
    expect(actions).toEqual([{ kind: 'snapshot', barrier: barrier(1), startedAt: 5 }, { kind: 'unblock-all' }]);
  });

  test('an old checkpoint is over before a newer one blocks its first channel', () => {
    const [waiting] = step(alignment('aligned', 2), { kind: 'barrier', channel: 0, barrier: barrier(1) }, 0);
    const [, actions] = step(waiting, { kind: 'barrier', channel: 1, barrier: barrier(2) }, 0);
    expect(actions).toEqual([
      { kind: 'abort', checkpointId: 1, reason: 'CHECKPOINT_DECLINED_SUBSUMED' },
      { kind: 'unblock-all' },
      { kind: 'block', channel: 1 },
    ]);
  });

  test('a step leaves the state that it was given as it was', () => {
    const before = alignment('aligned', 2);
    step(before, { kind: 'barrier', channel: 0, barrier: barrier(1) }, 0);
    expect(before).toEqual(alignment('aligned', 2));
    expect(isBlocked(before, 0)).toBe(false);
  });

  test.each(['aligned', 'unaligned', 'counting'] as const)(
    '%s: nothing comes from a channel that has ended',
    (mode) => {
      const [ended] = step(alignment(mode, 2), { kind: 'end-of-channel', channel: 0 }, 0);
      expect(step(ended, { kind: 'barrier', channel: 0, barrier: barrier(1) }, 0)).toEqual([ended, []]);
      expect(step(ended, { kind: 'cancel', channel: 0, checkpointId: 1 }, 0)).toEqual([ended, []]);
      expect(step(ended, { kind: 'end-of-channel', channel: 0 }, 0)).toEqual([ended, []]);
    },
  );

  test('a savepoint is aligned like a checkpoint', () => {
    const savepoint = barrier(1, 7, 'savepoint');
    const [, actions] = step(alignment('aligned', 1), { kind: 'barrier', channel: 0, barrier: savepoint }, 9);
    expect(actions).toEqual([{ kind: 'snapshot', barrier: savepoint, startedAt: 9 }]);
  });
});

describe.each(['aligned', 'counting'] as const)('%s, when the coordinator aborts', (mode) => {
  test('a pending checkpoint ends at once and its channels are unblocked', () => {
    const t = new Trace(mode, 3).take('B(1,0) B(1,1) A(1)');
    expect(t.log).toEqual(['abort 1 BY_COORDINATOR']);
    expect(t.blocked).toEqual([]);
    expect(t.pending).toBeUndefined();
    t.take('B(1,2) B(2,0) B(2,1) B(2,2)');
    expect(t.log).toEqual(['abort 1 BY_COORDINATOR', 'snapshot 2']);
  });

  test('a checkpoint whose barrier has not come is aborted by its first barrier, without blocking', () => {
    const t = new Trace(mode, 2).take('A(1)');
    expect(t.log).toEqual([]);
    t.take('B(1,0)');
    expect(t.blocked).toEqual([]);
    t.take('D(0) B(1,1)');
    expect(t.log).toEqual(['abort 1 BY_COORDINATOR']);
  });

  test('a marker for it is passed on, and nobody declines what the coordinator gave up itself', () => {
    expect(new Trace(mode, 2).take('A(3) X(3,0) X(3,1)').log).toEqual(['abort 3 BY_COORDINATOR']);
  });

  test('a checkpoint that is over here is not aborted again', () => {
    expect(new Trace(mode, 2).take('B(1,0) B(1,1) A(1)').log).toEqual(['snapshot 1']);
    expect(new Trace(mode, 2).take('X(1,0) A(1)').log).toEqual(['abort 1 ON_CANCELLATION_BARRIER']);
  });

  test('neighbours go on', () => {
    const t = new Trace(mode, 2).take('A(2) A(4) B(1,0) B(1,1) B(2,0) B(2,1) B(3,0) B(3,1) B(4,0)');
    expect(t.log).toEqual(['snapshot 1', 'abort 2 BY_COORDINATOR', 'snapshot 3', 'abort 4 BY_COORDINATOR']);
  });

  test('what is remembered is bounded: ids far below the largest count as aborted too', () => {
    const t = new Trace(mode, 1);
    for (let id = 2; id <= 300; id++) t.take(`A(${id})`);
    t.take('B(1,0) B(100,0) B(300,0) B(301,0)');
    expect(t.log).toEqual([
      'abort 1 BY_COORDINATOR',
      'abort 100 BY_COORDINATOR',
      'abort 300 BY_COORDINATOR',
      'snapshot 301',
    ]);
  });
});

test('aborted checkpoints are forgotten once a newer one has begun, and at most 128 are remembered', () => {
  let state = alignment('aligned', 1);
  for (let id = 1; id <= 300; id++) [state] = step(state, { kind: 'abort', checkpointId: id }, 0);
  expect(state.abortedIds).toEqual(Array.from({ length: 128 }, (_, i) => 173 + i));
  [state] = step(state, { kind: 'barrier', channel: 0, barrier: barrier(298) }, 0);
  expect(state.abortedIds).toEqual([299, 300]);
});

test('counting: an aborted newer checkpoint does not end an older one', () => {
  const t = new Trace('counting', 2).take('A(2) B(1,0) B(2,0) B(1,1)');
  expect(t.log).toEqual(['abort 2 BY_COORDINATOR', 'snapshot 1']);
});

test('aligned: the barrier of an aborted newer checkpoint ends an older one, which can not complete any more', () => {
  const t = new Trace('aligned', 2).take('A(2) B(1,0) B(2,1)');
  expect(t.log).toEqual(['abort 1 SUBSUMED', 'abort 2 BY_COORDINATOR']);
  expect(t.blocked).toEqual([]);
});
