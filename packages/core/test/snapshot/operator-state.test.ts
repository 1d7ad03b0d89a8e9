import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlobWriter } from '../../src/contracts/checkpoint-storage.js';
import type { Serializer } from '../../src/contracts/serializer.js';
import type { Committable, CommittablesHandle, OperatorStateHandle } from '../../src/contracts/snapshot.js';
import { encodeCommittables, readCommittables, writeCommittables } from '../../src/snapshot/committables.js';
import { encodeOperatorState, readOperatorState, writeOperatorState } from '../../src/snapshot/operator-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { MemoryBlob } from './memory-blob.js';

const WHAT = "operator state 'splits' of operator 'flights'";
const REF = { id: 'msgpack', version: 1 };
const newer: Serializer = { ...defaultSerializer, version: 2 };
const migrating: Serializer = { ...newer, migrate: (from) => ({ old: defaultSerializer.decode(from) }) };
/** A serializer that is a class, as a stranger's may be. */
class Doubling implements Serializer<number> {
  readonly id = 'doubling';
  readonly version = 1;
  readonly #factor = 2;
  encode(value: number, out: { f64(value: number): void }): void {
    out.f64(value * this.#factor);
  }
  decode(from: { f64(): number }): number {
    return from.f64() / this.#factor;
  }
}

const anyValue = fc.oneof(fc.integer(), fc.string(), fc.array(fc.boolean()));

describe('operator state', () => {
  async function written(
    values: readonly unknown[],
    serializer: Serializer = defaultSerializer,
  ): Promise<[OperatorStateHandle, Uint8Array]> {
    const blob = new MemoryBlob();
    const encoded = encodeOperatorState({ name: 'splits', mode: 'list', serializer, values });
    return [await writeOperatorState(encoded, { createBlob: () => blob }), blob.bytes];
  }

  test('comes back in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyValue), async (values) => {
        const [handle, bytes] = await written(values);
        expect(handle).toMatchObject({ name: 'splits', mode: 'list', serializer: REF, count: values.length });
        expect(structuredClone(handle)).toEqual(handle);
        expect(readOperatorState(handle, bytes, defaultSerializer, WHAT)).toEqual(values);
      }),
    );
  });

  test('is what it was when it was encoded, whatever happens to the values afterwards', async () => {
    const position = { row: 1 };
    const encoded = encodeOperatorState({
      name: 's',
      mode: 'union',
      serializer: defaultSerializer,
      values: [position],
    });
    position.row = 2;
    const blob = new MemoryBlob({ isSlow: true });
    const writing = writeOperatorState(encoded, { createBlob: () => blob });
    expect(blob.take()).toBe(true);
    expect(readOperatorState(await writing, blob.bytes, defaultSerializer, WHAT)).toEqual([{ row: 1 }]);
  });

  test('is read by a serializer that is a class', async () => {
    const [handle, bytes] = await written([1, 2], new Doubling());
    expect(readOperatorState(handle, bytes, new Doubling() as Serializer, WHAT)).toEqual([1, 2]);
  });

  test('of an older version is migrated, or refused by name', async () => {
    const [handle, bytes] = await written([1]);
    expect(readOperatorState(handle, bytes, migrating, WHAT)).toEqual([{ old: 1 }]);
    expect(() => readOperatorState(handle, bytes, newer, WHAT)).toThrow(
      /^SERIALIZER_MISMATCH: operator state 'splits' of operator 'flights' was stored by serializer 'msgpack' version 1/,
    );
  });

  test('that is cut short, too long or not what the serializer writes is CHECKPOINT_UNREADABLE', async () => {
    const [handle, bytes] = await written([1, 'two', { three: 3 }]);
    const damaged = [...bytes.keys()].map((length) => bytes.slice(0, length));
    damaged.push(
      Buffer.concat([bytes, Buffer.of(0)]),
      bytes.map(() => 99),
    );
    for (const each of damaged) {
      expect(() => readOperatorState(handle, each, defaultSerializer, WHAT)).toThrow(/^CHECKPOINT_UNREADABLE/);
    }
  });

  test('removes the blob that could not be written, and passes the failure on', async () => {
    const failure = new Error('disk full');
    for (const method of ['write', 'finish'] as const) {
      const blob = new MemoryBlob();
      const failing: BlobWriter = Object.assign(blob, { [method]: () => Promise.reject(failure) });
      const encoded = encodeOperatorState({ name: 's', mode: 'list', serializer: defaultSerializer, values: [1] });
      await expect(writeOperatorState(encoded, { createBlob: () => failing })).rejects.toBe(failure);
      expect(blob.isAborted).toBe(true);
    }
  });
});

describe('committables', () => {
  const anyCommittable: fc.Arbitrary<Committable> = fc.record(
    {
      identity: fc.record(
        {
          job: fc.string(),
          lineage: fc.string(),
          sink: fc.string(),
          attempt: fc.maxSafeNat(),
          checkpointId: fc.maxSafeNat(),
          subtask: fc.nat(),
          sequence: fc.maxSafeNat(),
        },
        { noNullPrototype: true },
      ),
      payload: anyValue,
    },
    { noNullPrototype: true },
  );

  async function written(values: readonly Committable[]): Promise<[CommittablesHandle, Uint8Array]> {
    const blob = new MemoryBlob();
    const encoded = encodeCommittables({
      destination: { id: 'd', name: 'out' },
      serializer: defaultSerializer,
      values,
    });
    return [await writeCommittables(encoded, { createBlob: () => blob }), blob.bytes];
  }

  test('come back in order with their identity, and the handle tells the newest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommittable), async (values) => {
        const [handle, bytes] = await written(values);
        expect(handle).toMatchObject({ serializer: REF, count: values.length });
        expect(handle.newest).toBe(Math.max(0, ...values.map(({ identity }) => identity.checkpointId)));
        expect(structuredClone(handle)).toEqual(handle);
        expect(readCommittables(handle, bytes, defaultSerializer, WHAT)).toEqual(values);
      }),
    );
  });

  test('of another serializer are refused by name', async () => {
    const [handle, bytes] = await written([]);
    expect(() => readCommittables(handle, bytes, newer, "committables of sink 'out'")).toThrow(
      /^SERIALIZER_MISMATCH: committables of sink 'out'/,
    );
  });

  test('that are cut short or too long are CHECKPOINT_UNREADABLE', async () => {
    const [handle, bytes] = await written(fc.sample(anyCommittable, { numRuns: 2, seed: 3 }));
    for (const each of [
      ...[...bytes.keys()].map((length) => bytes.slice(0, length)),
      Buffer.concat([bytes, Buffer.of(0)]),
    ]) {
      expect(() => readCommittables(handle, each, defaultSerializer, WHAT)).toThrow(/^CHECKPOINT_UNREADABLE/);
    }
  });
});
