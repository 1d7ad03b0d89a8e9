import { describe, expect, test } from 'vitest';
import { causesOf, isRecoverable, isWeirError, messageOf, together, WeirError } from '../src/errors.js';
import { HOSTILE } from './support/hostile-errors.js';

describe('the text of what was thrown', () => {
  test.each([
    ['an error', new Error('boom'), 'boom'],
    ['a text', 'boom', 'boom'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('boom'), 'Symbol(boom)'],
    ['an object without a prototype', Object.create(null), '[object Object]'],
    [
      'an object whose toString throws',
      {
        toString() {
          throw new Error('no text');
        },
      },
      '[object Object]',
    ],
  ])('can be had of %s', (_what, thrown, text) => {
    expect(messageOf(thrown)).toBe(text);
  });
});

test('a failure can be recovered from unless an error in its chain of causes says otherwise', () => {
  const final = new WeirError('KEY_INVALID', 'no key', { recoverable: false });
  expect(isRecoverable(new Error('boom'))).toBe(true);
  expect(isRecoverable(new Error('boom', { cause: { recoverable: false } }))).toBe(false);
  expect(isRecoverable(new WeirError('OPERATOR_FAILED', 'user code threw', { cause: final }))).toBe(false);
  const circle = new Error('boom');
  circle.cause = circle;
  expect(isRecoverable(circle)).toBe(true);
});

test('of several errors none is lost: the first has all of them as its cause, and says what each said', () => {
  const first = new WeirError('SINK_FAILED', 'no flush', { recoverable: false });
  const second = new Error('no close');
  expect(together([first])).toBe(first);
  expect(together([first, first])).toBe(first);
  expect(together([first, second])).toMatchObject({
    code: 'SINK_FAILED',
    message: 'SINK_FAILED: no flush; and no close',
    recoverable: false,
    cause: { errors: [first, second] },
  });
  expect(together([second, first])).toMatchObject({ errors: [second, first] });
});

describe.each(HOSTILE)('%s that was thrown', (_what, make) => {
  test('has a text, is no error of weir, and has an end to its causes', () => {
    const thrown = make();
    expect(messageOf(thrown)).toMatch(/./u);
    expect(isWeirError(thrown)).toBe(false);
    expect(isRecoverable(thrown)).toBe(true);
    expect([...causesOf(thrown)].length).toBeLessThanOrEqual(100);
  });

  test('is written as JSON as the cause of an error of weir', () => {
    const thrown = make();
    const error = new WeirError('SINK_FAILED', 'it broke', { cause: new Error('in between', { cause: thrown }) });
    const written = JSON.parse(JSON.stringify(error)) as { cause: { cause?: { message: string } | string } };
    expect(written).toMatchObject({ name: 'WeirError', code: 'SINK_FAILED', message: 'SINK_FAILED: it broke' });
    expect(written).toMatchObject({ recoverable: true, cause: { name: 'Error', message: 'in between' } });
    const { cause } = written.cause;
    if (thrown !== undefined) expect(typeof cause === 'object' ? cause.message : cause).toBe(messageOf(thrown));
  });
});

test('an error without a message is called by its name and code', () => {
  const refused = Object.assign(new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')]), {
    code: 'ECONNREFUSED',
  });
  expect(messageOf(refused)).toBe('AggregateError (ECONNREFUSED)');
  expect(JSON.parse(JSON.stringify(new WeirError('STORAGE_FAILED', 'gone', { cause: refused })))).toMatchObject({
    cause: { code: 'ECONNREFUSED', errors: ['::1 refused', '127.0.0.1 refused'] },
  });
});

test('a chain of causes that leads back into itself is written as JSON once', () => {
  const inner = new Error('inner');
  const outer = new WeirError('SINK_FAILED', 'outer', { cause: inner });
  inner.cause = outer;
  expect(JSON.parse(JSON.stringify(outer))).toEqual({
    name: 'WeirError',
    code: 'SINK_FAILED',
    message: 'SINK_FAILED: outer',
    recoverable: true,
    cause: { name: 'Error', message: 'inner' },
  });
});
