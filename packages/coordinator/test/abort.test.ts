import { WeirError, type AbortReason } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { ABORTS, checkpointFailed, reasonOf } from '../src/abort.js';

test('exactly the reasons that come before any subtask is asked are pre-flight', () => {
  const preFlight = (Object.keys(ABORTS) as AbortReason[]).filter((reason) => ABORTS[reason].preFlight);
  expect(preFlight.sort()).toEqual([
    'IO_EXCEPTION',
    'MINIMUM_TIME_BETWEEN_CHECKPOINTS',
    'NOT_ALL_REQUIRED_TASKS_RUNNING',
    'PERIODIC_SCHEDULER_SHUTDOWN',
    'TOO_MANY_CHECKPOINT_REQUESTS',
  ]);
});

describe('the reason for a failed set-up', () => {
  const enospc = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
  });
  test.each([
    ['a system error', enospc, 'IO_EXCEPTION'],
    [
      'a system error deep in the chain of causes',
      new Error('outer', { cause: new Error('inner', { cause: enospc }) }),
      'IO_EXCEPTION',
    ],
    ['a failed storage', new WeirError('STORAGE_FAILED', 'taken'), 'IO_EXCEPTION'],
    ['anything else', new TypeError('oops'), 'TRIGGER_CHECKPOINT_FAILURE'],
    ['a thrown string', 'oops', 'TRIGGER_CHECKPOINT_FAILURE'],
    [
      'an error code that is not a system error',
      Object.assign(new Error('x'), { code: 'ERR_X' }),
      'TRIGGER_CHECKPOINT_FAILURE',
    ],
  ])('%s', (_title, error, reason) => {
    expect(reasonOf(error, 'TRIGGER_CHECKPOINT_FAILURE')).toBe(reason);
  });

  test('a circle of causes ends', () => {
    const error = new Error('snake');
    error.cause = error;
    expect(reasonOf(error, 'TRIGGER_CHECKPOINT_FAILURE')).toBe('TRIGGER_CHECKPOINT_FAILURE');
  });
});

test('the error names job, checkpoint, reason and cause', () => {
  const error = checkpointFailed('orders', 42, 'CHECKPOINT_DECLINED', new Error('disk on fire'));
  expect(error.code).toBe('CHECKPOINT_FAILED');
  expect(error.message).toContain('Checkpoint 42 of job orders was aborted: CHECKPOINT_DECLINED');
  expect(error.message).toContain('disk on fire');
  expect(checkpointFailed('orders', undefined, 'TOO_MANY_CHECKPOINT_REQUESTS').message).toContain('was refused');
});
