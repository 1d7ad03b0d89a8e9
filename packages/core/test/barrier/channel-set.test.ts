import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ChannelSet } from '../../src/barrier/channel-set.js';

const change = fc.record({ channel: fc.nat(140), isAdded: fc.boolean() });

describe('ChannelSet', () => {
  test.prop([fc.nat(140), fc.array(change, { maxLength: 60 })])(
    'holds what a Set holds after the same changes, and none of them changes an older one',
    (channels, changes) => {
      let set = ChannelSet.all(channels);
      const model = new Set(Array.from({ length: channels }, (_, channel) => channel));
      for (const { channel, isAdded } of changes) {
        const before = [...set];
        const next = isAdded ? set.with(channel) : set.without(channel);
        expect([...set]).toEqual(before);
        if (isAdded) model.add(channel);
        else model.delete(channel);
        set = next;
        expect([...set]).toEqual([...model].toSorted((a, b) => a - b));
        expect(set.size).toBe(model.size);
        expect(set.has(channel)).toBe(isAdded);
      }
    },
  );

  it('has no channel that it never had, however large', () => {
    expect(ChannelSet.NONE.has(0)).toBe(false);
    expect(ChannelSet.all(32).has(32)).toBe(false);
    expect(ChannelSet.all(31).has(31)).toBe(false);
  });
});
