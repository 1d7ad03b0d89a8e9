import { describe, expect, test } from 'vitest';
import { WeirError } from '../src/errors.js';
import { classifyFailure, isIoFailure } from '../src/failures.js';

const system = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'read' });

describe('a failure of the outside', () => {
  test.each([
    'EMFILE',
    'ENFILE',
    'EIO',
    'EAGAIN',
    'ENOSPC',
    'ETIMEDOUT',
    'ECONNRESET',
    'EBUSY',
    'ESTALE',
    'EAI_AGAIN',
    'ENEW',
  ])('may pass by itself (%s), wherever in the chain of causes it is', (code) => {
    expect(classifyFailure(system(code))).toBe('transient');
    expect(classifyFailure(new Error('reading', { cause: system(code) }))).toBe('transient');
    expect(classifyFailure(new WeirError('CHECKPOINT_UNREADABLE', 'reading', { cause: system(code) }))).toBe(
      'transient',
    );
  });

  test.each(['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ELOOP', 'EROFS', 'ENXIO'])(
    'does not pass by itself (%s)',
    (code) => {
      expect(classifyFailure(system(code))).toBe('permanent');
      expect(classifyFailure(new WeirError('STORAGE_FAILED', 'listing', { cause: system(code) }))).toBe('permanent');
    },
  );

  test('does not pass where anything in the chain says so', () => {
    const final = new WeirError('KEY_INVALID', 'no key', { recoverable: false, cause: system('EIO') });
    expect(classifyFailure(new Error('outer', { cause: final }))).toBe('permanent');
  });

  test('is damage where zlib says so, unless it had no memory', () => {
    expect(classifyFailure(Object.assign(new Error(), { code: 'Z_DATA_ERROR', errno: -3 }))).toBe('permanent');
    expect(classifyFailure(Object.assign(new Error(), { code: 'Z_MEM_ERROR', errno: -4 }))).toBe('transient');
  });

  test('may pass if a storage says no more than that it failed', () => {
    expect(classifyFailure(new WeirError('STORAGE_FAILED', 'no answer within 5 ms'))).toBe('transient');
    expect(
      classifyFailure(new WeirError('CHECKPOINT_FAILED', 'x', { cause: new WeirError('STORAGE_FAILED', '') })),
    ).toBe('transient');
  });

  test.each([
    new RangeError('out of bounds'),
    new Error('boom'),
    Object.assign(new Error(), { code: 'ERR_INVALID_ARG_TYPE' }),
    new WeirError('STORAGE_LOCKED', 'held'),
    'text',
    undefined,
  ])('tells nothing of itself otherwise (%s)', (error) => {
    expect(classifyFailure(error)).toBe('unknown');
    expect(isIoFailure(error)).toBe(false);
  });

  test('is one of input or output, whether it passes or not', () => {
    expect(isIoFailure(system('ENOENT'))).toBe(true);
    expect(isIoFailure(new Error('outer', { cause: system('EIO') }))).toBe(true);
    expect(isIoFailure(Object.assign(new Error(), { code: 'EAI_AGAIN' }))).toBe(true);
    expect(isIoFailure(Object.assign(new Error(), { syscall: 'read' }))).toBe(true);
    expect(isIoFailure(new WeirError('STORAGE_FAILED', ''))).toBe(true);
  });
});
