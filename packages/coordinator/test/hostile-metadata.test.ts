import { crc32 } from 'node:zlib';
import { decodeMetadata, encodeMetadata, isWeirError } from '@weir/core/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fit } from '../src/restore.js';
import { Process } from './harness.js';
import { metadataOf, planOf } from './plan.js';

test('metadata with a right checksum and any bytes between are restored or refused by name, at once', () => {
  const handle = {
    range: { first: 0, last: 127 },
    format: 'canonical' as const,
    states: [{ name: 'n', kind: 'value' as const, serializer: { id: 'msgpack', version: 1 } }],
    groups: [{ keyGroup: 3, offset: 0, length: 7 }],
    blob: { kind: 'blob' as const, path: 'b', length: 7, algorithm: 'crc32' as const, checksum: 0 },
  };
  const [numbers, out] = metadataOf().operators;
  const keyed = { ...numbers!, subtasks: [{ ...numbers!.subtasks[0]!, keyed: [handle] }] };
  const original = encodeMetadata(metadataOf({ operators: [keyed, out!] }));
  const { context } = new Process({ plan: planOf({ parallelism: 4 }) });
  const outcomes = new Set<string>();
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }), (changes) => {
      const body = original.subarray(0, -4).slice();
      for (const [at, byte] of changes) body[12 + (at % (body.length - 12))] = byte;
      const bytes = Buffer.concat([body, Buffer.alloc(4)]);
      bytes.writeUInt32BE(crc32(body), body.length);
      try {
        fit(context, decodeMetadata(bytes, 'here'));
        outcomes.add('restored');
      } catch (error) {
        if (!isWeirError(error)) throw error;
        outcomes.add(error.code);
      }
    }),
    { numRuns: 2000 },
  );
  expect([...outcomes]).toEqual(
    expect.arrayContaining(['restored', 'CHECKPOINT_UNREADABLE', 'CHECKPOINT_INCOMPATIBLE']),
  );
});
