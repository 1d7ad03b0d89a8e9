import { describe, expect, test } from 'vitest';
import { BATCH_SIZE } from '../../src/element/element.js';
import { ChunkSize } from '../../src/stage/chunk-size.js';

/** The size after `chunks` chunks of records that take `msPerRecord` each, and the longest of them. */
function settle(chunk: ChunkSize, msPerRecord: number, chunks = 100): { size: number; longestMs: number } {
  let longestMs = 0;
  for (let i = 0; i < chunks; i++) {
    const ms = chunk.size * msPerRecord;
    longestMs = Math.max(longestMs, ms);
    chunk.gave(0);
    chunk.took(ms);
  }
  return { size: chunk.size, longestMs };
}

describe('the size of a chunk', () => {
  test.each([0, 0.0001, 0.001, 0.01, 0.1, 1, 10, 1000])(
    'settles where a chunk of records of %d ms takes about half a millisecond, or holds one record, or a whole batch',
    (msPerRecord) => {
      const { size } = settle(new ChunkSize(), msPerRecord);
      expect(size).toBeGreaterThanOrEqual(1);
      expect(size).toBeLessThanOrEqual(BATCH_SIZE);
      if (size > 1) expect(size * msPerRecord).toBeLessThanOrEqual(1);
      if (size < BATCH_SIZE) expect(size * msPerRecord).toBeGreaterThanOrEqual(0.125);
    },
  );

  test('starts small: nobody knows yet what a record costs, and a batch of slow ones would hold the thread for long', () => {
    const chunk = new ChunkSize();
    expect(chunk.size).toBeLessThanOrEqual(BATCH_SIZE / 16);
    expect(settle(chunk, 0, 11).size).toBe(BATCH_SIZE);
  });

  test('grows back when records become cheap again, within a few chunks', () => {
    const chunk = new ChunkSize();
    settle(chunk, 50);
    expect(chunk.size).toBe(1);
    expect(settle(chunk, 0, 11).size).toBe(BATCH_SIZE);
  });

  test.each([1, 5, 100, 100_000])('holds no more records than become a few batches, at %d for each', (perRecord) => {
    const chunk = new ChunkSize();
    let most = 0;
    for (let i = 0; i < 100; i++) {
      const given = chunk.size * perRecord;
      chunk.took(0);
      chunk.gave(given);
      if (i > 50) most = Math.max(most, given);
    }
    expect(most).toBeLessThanOrEqual(Math.max(2 * perRecord, 8 * BATCH_SIZE));
    expect(chunk.size * perRecord).toBeGreaterThanOrEqual(Math.min(BATCH_SIZE, perRecord));
  });

  test('begins with a record or two: nobody knows yet what they become', () => {
    expect(new ChunkSize().size).toBe(1);
  });
});
