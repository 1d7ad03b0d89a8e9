import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { ByteReader, ByteWriter, isWeirError, type Serializer } from '@weir/core/contracts';
import { partsOf } from './operator-harness/frozen-records.js';
import type { TestFunction } from './suite.js';

export interface SerializerSuiteOptions<T> {
  readonly serializer: Serializer<T>;
  /** What must come back equal, in the sense of `assert.deepStrictEqual`. */
  readonly values: readonly T[];
  /** A serializer as another process has it, which has written nothing yet. Default: the serializer itself. */
  readonly fresh?: (() => Serializer<T>) | undefined;
  /** What must be refused with VALUE_NOT_SERIALIZABLE, because it would not come back equal. */
  readonly refused?: readonly unknown[] | undefined;
  /** Bytes that older versions wrote, and what `migrate` makes of them. */
  readonly older?: readonly { readonly version: number; readonly bytes: Uint8Array; readonly value: T }[] | undefined;
}

/** What the Serializer contract promises for `values`. */
export function serializerSuite<T>(test: TestFunction, options: SerializerSuiteOptions<T>): void {
  const { serializer, values, refused = [], older = [] } = options;
  assert.ok(values.length > 0, 'serializerSuite needs values to try');
  const fresh = options.fresh ?? ((): Serializer<T> => serializer);
  const encode = (value: T, out: ByteWriter): void => {
    // Whoever made it may not have kept to the type.
    const anyKind: { encode(value: T, out: ByteWriter): unknown } = serializer;
    const returned = anyKind.encode(value, out);
    if (!(returned instanceof Promise)) return;
    returned.catch(() => undefined);
    assert.fail('encode returned a promise');
  };
  const bytesOf = (value: T): Uint8Array => {
    const out = new ByteWriter();
    encode(value, out);
    return out.toBytes();
  };
  const each = (body: (value: T) => void): void => {
    for (const [i, value] of values.entries())
      naming(`value ${String(i)}, ${inspect(value, { depth: 2 })}`, () => body(value));
  };

  test('says by id and version who wrote the bytes', () => {
    assert.ok(typeof serializer.id === 'string' && serializer.id !== '', 'the id is empty');
    assert.ok(
      Number.isSafeInteger(serializer.version) && serializer.version >= 0,
      `the version is ${String(serializer.version)}`,
    );
    const { id, version } = fresh();
    assert.deepStrictEqual({ id, version }, { id: serializer.id, version: serializer.version }, 'in another process');
  });

  test('gives every value back equal', () => {
    each((value) => {
      assert.deepStrictEqual(serializer.decode(new ByteReader(bytesOf(value))), value);
    });
  });

  test('writes behind what is written already, and reads no more than it wrote', () => {
    each((value) => {
      const out = new ByteWriter();
      out.u32(0xdeadbeef);
      encode(value, out);
      const end = out.length;
      out.u32(0xdeadbeef);
      const from = new ByteReader(out.toBytes(), 4);
      assert.deepStrictEqual(serializer.decode(from), value);
      assert.equal(from.position, end, 'the position after reading');
      assert.equal(new ByteReader(out.toBytes()).u32(), 0xdeadbeef, 'what was written before');
    });
  });

  test('makes bytes that stand for themselves: readable elsewhere, in any order', () => {
    const written = values.map((value) => ({ value, bytes: bytesOf(value) }));
    const again = values.map((value) => ({ value, bytes: bytesOf(value) }));
    for (const { value, bytes } of [...written, ...again].reverse()) {
      assert.deepStrictEqual(fresh().decode(new ByteReader(bytes)), value);
    }
  });

  test('gives a value of its own each time', () => {
    each((value) => {
      const bytes = bytesOf(value);
      const [one, other] = [serializer.decode(new ByteReader(bytes)), serializer.decode(new ByteReader(bytes))];
      const [inOne, inValue] = [objectsIn(one), objectsIn(value)];
      for (const object of objectsIn(other)) {
        assert.ok(!inOne.has(object), `one object for two readings: ${inspect(object)}`);
        assert.ok(!inValue.has(object), `the object that was written: ${inspect(object)}`);
      }
    });
  });

  test('gives values that do not change with the bytes that they were read from', () => {
    each((value) => {
      const bytes = bytesOf(value);
      const before = bytes.slice();
      const read = serializer.decode(new ByteReader(bytes));
      assert.deepStrictEqual(bytes, before, 'the bytes, which others read too');
      bytes.fill(0xff);
      assert.deepStrictEqual(read, value);
    });
  });

  test('leaves a value as it was', () => {
    each((value) => {
      const first = serializer.decode(new ByteReader(bytesOf(value)));
      assert.deepStrictEqual(serializer.decode(new ByteReader(bytesOf(value))), first);
      assert.deepStrictEqual(value, first);
    });
  });

  test('fails where bytes are missing, and goes on with the next value', () => {
    each((value) => {
      const bytes = bytesOf(value);
      for (const length of new Set([0, 1, bytes.length >> 1, bytes.length - 1])) {
        if (length < 0 || length >= bytes.length) continue;
        assert.throws(
          () => serializer.decode(new ByteReader(bytes.slice(0, length))),
          `${String(length)} of ${String(bytes.length)} bytes were enough`,
        );
        assert.deepStrictEqual(serializer.decode(new ByteReader(bytes)), value, 'the next value');
      }
    });
  });

  if (refused.length > 0) {
    test('refuses what would not come back equal, and goes on with the next value', () => {
      for (const [i, value] of refused.entries()) {
        naming(`refused value ${String(i)}, ${inspect(value, { depth: 2 })}`, () => {
          // Whether a value is of the serializer's type is what the test asks.
          assert.throws(
            () => {
              encode(value as T, new ByteWriter());
            },
            (error) => isWeirError(error, 'VALUE_NOT_SERIALIZABLE'),
          );
        });
      }
      each((value) => {
        assert.deepStrictEqual(serializer.decode(new ByteReader(bytesOf(value))), value);
      });
    });
  }

  if (older.length > 0) {
    test('reads what its older versions wrote, and no more than that', () => {
      for (const { version, bytes, value } of older) {
        naming(`version ${String(version)}`, () => {
          const from = new ByteReader(Buffer.concat([bytes, Buffer.of(0xee)]));
          assert.ok(serializer.migrate !== undefined, 'there is no migrate');
          assert.deepStrictEqual(serializer.migrate(from, version), value);
          assert.equal(from.position, bytes.length, 'the position after reading');
        });
      }
    });
  }
}

/** A value and all that can be reached from it and be changed. */
function objectsIn(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value) || isForAll(value)) return found;
  found.add(value);
  if (!ArrayBuffer.isView(value)) for (const part of partsOf(value)) objectsIn(part, found);
  return found;
}

/** One object for everybody does no harm, as long as nobody can change it. */
function isForAll(value: object): boolean {
  return Object.isFrozen(value) && partsOf(value).every((part) => typeof part !== 'object' || part === null);
}

function naming(what: string, body: () => void): void {
  try {
    body();
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
