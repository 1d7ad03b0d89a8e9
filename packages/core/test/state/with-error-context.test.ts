import { expect, test } from 'vitest';
import type { Serializer } from '../../src/contracts/serializer.js';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';
import { WeirError, isWeirError } from '../../src/errors.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { withErrorContext } from '../../src/state/with-error-context.js';

function thrownBy(action: () => void): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return expect.fail('nothing was thrown');
}

test('a refusal names operator, state and the place inside the value, once each, and restarting does not help', () => {
  const placed = withErrorContext(defaultSerializer, 'delay-by-origin', 'total');
  const error = thrownBy(() => placed.encode({ cb: () => 1 }, new ByteWriter()));
  if (!isWeirError(error, 'VALUE_NOT_SERIALIZABLE')) return expect.fail(String(error));
  expect(error.message).toMatch(
    /^VALUE_NOT_SERIALIZABLE: state 'total' of operator 'delay-by-origin': value\.cb is a function/,
  );
  expect(error.message.match(/VALUE_NOT_SERIALIZABLE/g)).toHaveLength(1);
  expect(error.recoverable).toBe(false);
  expect(error.cause).toBeInstanceOf(WeirError);
});

test('whatever else the serializer throws is passed on as it is', () => {
  const failure = new Error('out of paper');
  const placed = withErrorContext(
    {
      ...defaultSerializer,
      encode: () => {
        throw failure;
      },
    },
    'op',
    'st',
  );
  expect(thrownBy(() => placed.encode(1, new ByteWriter()))).toBe(failure);
});

test('identity, decoding and migration stay those of the serializer, also of one that is a class', () => {
  class Versioned implements Serializer<number> {
    readonly id = 'numbers';
    readonly version = 3;
    readonly #offset = 100;
    encode(value: number, out: ByteWriter): void {
      out.f64(value + this.#offset);
    }
    decode(from: ByteReader): number {
      return from.f64() - this.#offset;
    }
    migrate(from: ByteReader, version: number): number {
      return from.f64() - this.#offset + version;
    }
  }
  const placed = withErrorContext(new Versioned(), 'op', 'st');
  const out = new ByteWriter();
  placed.encode(5, out);
  expect(placed).toMatchObject({ id: 'numbers', version: 3 });
  expect(placed.decode(new ByteReader(out.view()))).toBe(5);
  expect(placed.migrate?.(new ByteReader(out.view()), 2)).toBe(7);
  expect('migrate' in withErrorContext(defaultSerializer, 'op', 'st')).toBe(false);
});
