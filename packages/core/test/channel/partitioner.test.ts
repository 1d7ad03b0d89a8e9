import { fc, test as property } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { keyPartitioner, rebalancePartitioner } from '../../src/channel/partitioner.js';
import { keyGroupOf, keyGroupRange, subtaskOfKeyGroup } from '../../src/element/key-group.js';

const layout = fc
  .record({ maxParallelism: fc.integer({ min: 1, max: 32_767 }), wanted: fc.integer({ min: 1, max: 40 }) })
  .map(({ maxParallelism, wanted }) => ({ maxParallelism, channels: Math.min(wanted, maxParallelism) }));

describe('partitioning', () => {
  property.prop([layout, fc.array(fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' }), fc.boolean()))])(
    'by hash takes each key to the subtask that owns its key group',
    ({ maxParallelism, channels }, keys) => {
      const partitioner = keyPartitioner(channels, maxParallelism);
      for (const key of keys) {
        const group = keyGroupOf(key, maxParallelism);
        const channel = partitioner(key);
        expect(channel).toBe(subtaskOfKeyGroup(group, channels, maxParallelism));
        const { first, last } = keyGroupRange(channel, channels, maxParallelism);
        expect(group).toBeGreaterThanOrEqual(first);
        expect(group).toBeLessThanOrEqual(last);
      }
    },
  );

  property.prop([fc.integer({ min: 1, max: 40 }), fc.nat(100), fc.nat(500)])(
    'by turns gives each channel as many records as any other, give or take one',
    (channels, start, count) => {
      const partitioner = rebalancePartitioner(channels, start);
      const counts = new Array<number>(channels).fill(0);
      for (let i = 0; i < count; i++) counts[partitioner(i)]!++;
      expect(counts.reduce((sum, n) => sum + n, 0)).toBe(count);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    },
  );
});
