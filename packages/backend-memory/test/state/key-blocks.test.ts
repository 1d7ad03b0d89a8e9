import { fc, test as property } from '@fast-check/vitest';
import { ByteWriter, encodeKeyBlock, type Key } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { KeyBlocks } from '../../src/state/key-blocks.js';

const keys: fc.Arbitrary<Key> = fc.oneof(
  fc.string({ maxLength: 60, unit: 'grapheme' }),
  fc.string({ minLength: 40, maxLength: 45 }),
  fc.integer(),
  fc.boolean(),
  fc.tuple(fc.string(), fc.integer()),
);
/** An entry gets another key, or is written. */
const steps = fc.array(fc.record({ at: fc.nat({ max: 5 }), key: fc.option(keys, { nil: undefined }) }));

function blockOf(key: Key): Uint8Array {
  const out = new ByteWriter();
  encodeKeyBlock(key, out);
  return out.toBytes();
}

function written(blocks: KeyBlocks, at: number, key: Key): Uint8Array {
  const out = new ByteWriter(0);
  const keys: Key[] = [];
  keys[at] = key;
  blocks.write(at, keys, out);
  return out.toBytes();
}

describe('the blocks of the keys of a page', () => {
  property.prop([steps])('are those of the keys that are there now', (history) => {
    const blocks = new KeyBlocks();
    const present = new Map<number, Key>();
    for (const { at, key } of history) {
      if (key !== undefined) {
        blocks.replaced(at);
        present.set(at, key);
      }
      const now = present.get(at);
      if (now !== undefined) expect(written(blocks, at, now)).toEqual(blockOf(now));
    }
  });

  test('are right also when those of keys that have gone were thrown away', () => {
    const blocks = new KeyBlocks();
    blocks.replaced(0);
    expect(written(blocks, 0, 'stays')).toEqual(blockOf('stays'));
    for (let i = 0; i < 2000; i++) {
      blocks.replaced(1);
      const key = `key ${String(i)}`;
      expect(written(blocks, 1, key)).toEqual(blockOf(key));
      expect(written(blocks, 0, 'stays')).toEqual(blockOf('stays'));
    }
  });
});
