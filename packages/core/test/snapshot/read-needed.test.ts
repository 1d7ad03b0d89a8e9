import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { RestorePlan } from '../../src/contracts/coordinator.js';
import type { BlobPart, FileBlob, SectionsHandle, StateMeta } from '../../src/contracts/snapshot.js';
import { KeyedSectionWriter } from '../../src/snapshot/keyed-section-writer.js';
import { readKeyedGroups } from '../../src/snapshot/keyed-section-reader.js';
import { readNeeded } from '../../src/snapshot/read-needed.js';
import { MemoryBlob } from './memory-blob.js';

const TOTAL: StateMeta = { name: 'total', kind: 'value', serializer: { id: 'msgpack', version: 1 } };
const MAX = 20;

/** A blob in a file with a section for each group, and who reads how much of it. */
async function storedGroups(
  groups: readonly number[],
): Promise<{ handle: SectionsHandle; reads: (BlobPart | 'all')[]; stored: Pick<RestorePlan, 'read' | 'readPart'> }> {
  const memory = new MemoryBlob();
  const writer = new KeyedSectionWriter({ range: { first: 0, last: MAX }, watermark: 7, createBlob: () => memory });
  for (const keyGroup of groups) {
    const rows = Uint8Array.from({ length: 1 + (keyGroup % 5) }, () => keyGroup);
    await writer.section({ keyGroup, state: TOTAL, count: 1, rows });
  }
  const written = await writer.finish();
  const { bytes } = memory;
  const blob: FileBlob = { kind: 'blob', path: 'state', length: bytes.length, algorithm: 'crc32', checksum: 0 };
  const reads: (BlobPart | 'all')[] = [];
  return {
    handle: { ...(written as SectionsHandle), blob },
    reads,
    stored: {
      read: async () => {
        reads.push('all');
        return bytes;
      },
      readPart: async (_blob, part) => {
        reads.push(part);
        return bytes.slice(part.offset, part.offset + part.length);
      },
    },
  };
}
const groupsIn = async (...how: Parameters<typeof readNeeded>): Promise<readonly number[]> => {
  const { handle, bytes } = await readNeeded(...how);
  return [...readKeyedGroups(handle, bytes, how[1], 'test')].flatMap(({ sections }) =>
    sections.map(({ keyGroup, rows }) => (rows.every((byte) => byte === keyGroup) ? keyGroup : -1)),
  );
};
const someGroups = fc.uniqueArray(fc.nat(MAX), { minLength: 1 }).map((groups) => groups.toSorted((a, b) => a - b));

describe('keyed state that several subtasks share', () => {
  property.prop([someGroups, fc.array(fc.nat(MAX), { maxLength: 4 })])(
    'is read once altogether: the parts meet, and do not overlap',
    async (groups, cuts) => {
      const { handle, reads, stored } = await storedGroups(groups);
      const edges = [...new Set([0, ...cuts, MAX + 1])].toSorted((a, b) => a - b);
      const found: number[] = [];
      for (const [i, first] of edges.slice(0, -1).entries())
        found.push(...(await groupsIn(handle, { first, last: (edges[i + 1] as number) - 1 }, stored)));
      expect(found).toEqual(groups);
      const length = handle.blob.kind === 'blob' ? handle.blob.length : 0;
      expect(reads.reduce((sum, read) => sum + (read === 'all' ? length : read.length), 0)).toBe(length);
    },
  );

  test('is not read at all where nothing of it is wanted', async () => {
    const { handle, reads, stored } = await storedGroups([3, 9]);
    expect(await groupsIn(handle, { first: 4, last: 8 }, stored)).toEqual([]);
    expect(reads).toEqual([]);
  });

  test('is read and verified as a whole where all of it is wanted, and by a storage that reads no parts', async () => {
    const { handle, reads, stored } = await storedGroups([3, 9]);
    expect(await groupsIn(handle, { first: 0, last: MAX }, stored)).toEqual([3, 9]);
    expect(await groupsIn(handle, { first: 9, last: 9 }, { read: stored.read })).toEqual([9]);
    expect(reads).toEqual(['all', 'all']);
  });

  test('is refused where a part of it is not as it was written', async () => {
    const { handle, stored } = await storedGroups([3, 9]);
    const damaged: typeof stored = {
      ...stored,
      readPart: async (blob, part) => {
        const bytes = Uint8Array.from((await stored.readPart?.(blob, part)) ?? []);
        bytes[bytes.length - 1]! ^= 1;
        return bytes;
      },
    };
    await expect(groupsIn(handle, { first: 9, last: 9 }, damaged)).rejects.toMatchObject({
      code: 'CHECKPOINT_UNREADABLE',
    });
  });
});
