import { describe, expect, test } from 'vitest';
import { isRecoverable, messageOf, together, WeirError } from '../src/errors.js';

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
