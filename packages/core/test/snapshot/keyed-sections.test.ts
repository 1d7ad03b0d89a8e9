import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SectionsHandle, StateMeta } from '../../src/contracts/snapshot.js';
import type { KeyedGroup, KeyedSection } from '../../src/contracts/state-backend.js';
import { isWeirError } from '../../src/errors.js';
import { KeyedSectionWriter } from '../../src/snapshot/keyed-section-writer.js';
import { readKeyedGroups } from '../../src/snapshot/keyed-section-reader.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { expectAllDamageIsNoticed } from './damage.js';
import { MemoryBlob } from './memory-blob.js';

const TOTAL: StateMeta = { name: 'total', kind: 'value', serializer: { id: 'msgpack', version: 1 } };
const RECENT: StateMeta = { name: 'recent', kind: 'list', serializer: { id: 'my-codec', version: 300 } };
const ALL = { first: 0, last: 127 };
const WHAT = "keyed state of operator 'delays' in chk-7";

function section(keyGroup: number, state: StateMeta = TOTAL, rows = Uint8Array.of(keyGroup, 1, 2)): KeyedSection {
  return { keyGroup, state, count: rows.length, rows };
}

async function written(
  sections: readonly KeyedSection[],
  watermark?: number,
): Promise<{ handle: SectionsHandle | undefined; bytes: Uint8Array }> {
  const blob = new MemoryBlob();
  const writer = new KeyedSectionWriter({ range: ALL, watermark, createBlob: () => blob });
  for (const each of sections) expect(writer.section(each)).toBe(undefined);
  return { handle: await writer.finish(), bytes: blob.bytes };
}

function read(handle: SectionsHandle | undefined, bytes: Uint8Array, wanted = ALL): KeyedGroup[] {
  return handle === undefined ? [] : [...readKeyedGroups(handle, bytes, wanted, WHAT)];
}

const anySections: fc.Arbitrary<KeyedSection[]> = fc
  .array(
    fc.tuple(
      fc.integer({ min: 0, max: 20 }),
      fc.constantFrom(TOTAL, RECENT),
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
    ),
  )
  .map((parts) => parts.map((part) => section(...part)).sort((a, b) => a.keyGroup - b.keyGroup));
const anyWatermark = fc.oneof(fc.constantFrom(undefined, -Infinity, Infinity, 0, -1), fc.double({ noNaN: true }));

describe('keyed sections', () => {
  test('come back in order, grouped, with the watermark, and only those of the wanted groups', async () => {
    await fc.assert(
      fc.asyncProperty(
        anySections,
        anyWatermark,
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 0, max: 20 }),
        async (sections, watermark, first, length) => {
          const { handle, bytes } = await written(sections, watermark);
          const wanted = { first, last: first + length };
          const inside = sections.filter(({ keyGroup }) => keyGroup >= wanted.first && keyGroup <= wanted.last);
          const groups = read(handle, bytes, wanted);
          const got = groups.flatMap((group) => {
            expect(Object.is(group.watermark, watermark)).toBe(true);
            for (const each of group.sections) expect(each.keyGroup).toBe(group.keyGroup);
            return group.sections.map((each) => ({ ...each, rows: Uint8Array.from(each.rows) }));
          });
          expect(got).toEqual(inside);
          expect(groups.map(({ keyGroup }) => keyGroup)).toEqual([...new Set(inside.map(({ keyGroup }) => keyGroup))]);
        },
      ),
    );
  });

  test('lie in the blob as the handle says: ascending, contiguous, every state once', async () => {
    const { handle, bytes } = await written([section(3), section(3, RECENT), section(9)]);
    expect(handle).toMatchObject({ range: ALL, format: 'canonical', states: [TOTAL, RECENT] });
    const [three, nine] = handle!.groups;
    expect(three).toMatchObject({ keyGroup: 3, offset: 0 });
    expect(nine).toEqual({ keyGroup: 9, offset: three!.length, length: bytes.length - three!.length });
  });

  test('give a handle that is plain data, also for a state that carries its serializer', async () => {
    const { handle } = await written([section(3, { ...TOTAL, serializer: defaultSerializer })]);
    expect(structuredClone(handle)).toMatchObject({ states: [TOTAL] });
  });

  test('without any row make no blob and no handle', async () => {
    let blobs = 0;
    const createBlob = (): MemoryBlob => {
      blobs++;
      return new MemoryBlob();
    };
    const writer = new KeyedSectionWriter({ range: ALL, watermark: 5, createBlob });
    expect(writer.section(section(3, TOTAL, new Uint8Array(0)))).toBe(undefined);
    expect(await writer.finish()).toBe(undefined);
    expect(blobs).toBe(0);
  });

  test('wait until the blob has taken what came before', async () => {
    const blob = new MemoryBlob({ isSlow: true });
    const writer = new KeyedSectionWriter({ range: ALL, watermark: 5, createBlob: () => blob });
    const sections = [section(3), section(3, RECENT), section(9)];
    for (const each of sections) {
      const taken = writer.section(each);
      expect(taken).toBeInstanceOf(Promise);
      expect(() => writer.section(each)).toThrow(/PROTOCOL_VIOLATION.*before the one before it was taken/);
      let isTaken = false;
      const settled = Promise.resolve(taken).then(() => {
        isTaken = true;
      });
      expect(blob.take()).toBe(true);
      await Promise.resolve();
      expect(isTaken).toBe(false);
      expect(blob.take()).toBe(true);
      await settled;
    }
    expect(blob.bytes).toEqual((await written(sections, 5)).bytes);
  });

  test('are all forgotten with the blob once it has failed to take one', async () => {
    const blob = new MemoryBlob();
    const failure = new Error('disk full');
    const writer = new KeyedSectionWriter({
      range: ALL,
      watermark: undefined,
      createBlob: () => Object.assign(blob, { write: () => Promise.reject(failure) }),
    });
    await expect(writer.section(section(1))).rejects.toBe(failure);
    expect(() => writer.section(section(2))).toThrow(/PROTOCOL_VIOLATION/);
    await expect(writer.finish()).rejects.toThrow(/PROTOCOL_VIOLATION/);
    expect(blob.isFinished).toBe(false);
  });

  test.each([
    ['of an earlier group', [section(4), section(3)], 'key group 3 came after key group 4'],
    ['below the range', [section(1)], 'outside of the range 2 to 5'],
    ['above the range', [section(6)], 'outside of the range 2 to 5'],
    ['of a state that changed', [section(3), section(3, { ...TOTAL, kind: 'map' })], 'differs in kind or serializer'],
    [
      'of a state whose serializer changed',
      [section(3), section(4, { ...TOTAL, serializer: { id: 'msgpack', version: 2 } })],
      'differs in kind or serializer',
    ],
  ])('%s are refused', (_, sections, says) => {
    const writer = new KeyedSectionWriter({
      range: { first: 2, last: 5 },
      watermark: undefined,
      createBlob: () => new MemoryBlob(),
    });
    let message = '';
    try {
      for (const each of sections) void writer.section(each);
    } catch (error) {
      if (isWeirError(error, 'PROTOCOL_VIOLATION')) message = error.message;
    }
    expect(message).toContain(says);
  });
});

describe('damaged keyed sections', () => {
  test('are noticed, whatever bit is flipped and wherever they end', async () => {
    const { handle, bytes } = await written([section(3), section(3, RECENT), section(9)], 5);
    expectAllDamageIsNoticed(
      bytes,
      (damaged) => read(handle, damaged),
      /key group [39] of keyed state of operator 'delays' in chk-7/,
    );
  });

  test('of groups that nobody wants do not matter', async () => {
    const { handle, bytes } = await written([section(3), section(9)]);
    bytes.fill(0, handle!.groups[1]!.offset);
    expect(read(handle, bytes, { first: 0, last: 8 })).toHaveLength(1);
    expect(() => read(handle, bytes, { first: 9, last: 9 })).toThrow(/CHECKPOINT_UNREADABLE: key group 9/);
  });

  test('are noticed when the handle is that of other bytes', async () => {
    const { handle, bytes } = await written([section(3), section(9), section(9, RECENT)]);
    const [three, nine] = handle!.groups;
    const handles: SectionsHandle[] = [
      { ...handle!, groups: [{ ...three!, keyGroup: 4 }] },
      { ...handle!, groups: [{ ...three!, length: bytes.length }] },
      { ...handle!, groups: [{ ...nine!, offset: nine!.offset + 1 }] },
      { ...handle!, groups: [{ ...nine!, length: nine!.length - 1 }] },
      { ...handle!, groups: [{ ...three!, length: 0 }] },
      { ...handle!, states: [TOTAL] },
      { ...handle!, states: [RECENT, TOTAL] },
    ];
    for (const each of handles) expect(() => read(each, bytes)).toThrow(/^CHECKPOINT_UNREADABLE: key group/);
  });
});
