import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { keyPartitioner, type Partitioning } from '../../src/channel/partitioner.js';
import type { ChannelStateHandle } from '../../src/contracts/snapshot.js';
import { batch } from '../../src/element/element.js';
import { restoreLoop } from '../../src/host/restore-loop.js';
import { ChannelStateEncoder } from '../../src/snapshot/channel-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';

const edge = { producer: 'body', output: 1, consumer: 'loop', input: 0 };
const MAX = 128;
const byKey: Partitioning = { kind: 'hash', keyOf: (n: number) => n % 10 };

/** The log of what one subtask had sent to another. */
function logged(toSubtask: number, records: readonly number[]): ChannelStateHandle[] {
  const encoder = new ChannelStateEncoder({ edge, fromSubtask: 0, toSubtask }, defaultSerializer, { kind: 'loop' });
  encoder.add(batch(records));
  const encoded = encoder.finish();
  if (encoded === undefined) return [];
  const { kind, name, serializer, timed, count, bytes } = encoded;
  return [{ kind, ...name, serializer, timed, count, blob: { kind: 'inline', bytes } }];
}

async function restored(
  subtask: number,
  parallelism: number,
  handles: readonly ChannelStateHandle[],
  partitioning: Partitioning | undefined,
): Promise<readonly unknown[]> {
  const name = { edge, fromSubtask: 0, toSubtask: subtask };
  const batches = await restoreLoop({
    subtask,
    parallelism,
    maxParallelism: MAX,
    feedback: partitioning === undefined ? [] : [{ channel: new Channel(), name, partitioning }],
    serializer: defaultSerializer,
    handles,
    read: (blob) => Promise.resolve(blob.kind === 'inline' ? blob.bytes : new Uint8Array()),
  });
  return batches.flatMap(({ records }) => records);
}

describe('what went round a loop', () => {
  const widths = fc.integer({ min: 1, max: 6 });
  const records = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 60 });
  property.prop([
    records,
    widths,
    widths,
    fc.constantFrom<Partitioning>(byKey, { kind: 'rebalance' }, { kind: 'forward' }),
  ])(
    'is replayed by exactly one subtask at any other parallelism: by the one of its key, where it has one',
    async (numbers, from, to, partitioning) => {
      const ownerOf = (n: number, parallelism: number): number =>
        partitioning.kind === 'hash' ? keyPartitioner(parallelism, MAX)(n % 10) : n % parallelism;
      const handles = Array.from({ length: from }, (_, subtask) => subtask).flatMap((subtask) =>
        logged(
          subtask,
          numbers.filter((n) => ownerOf(n, from) === subtask),
        ),
      );
      const all: unknown[] = [];
      for (let subtask = 0; subtask < to; subtask++) {
        const own = from === to ? handles.filter(({ toSubtask }) => toSubtask === subtask) : handles;
        const mine = await restored(subtask, to, own, partitioning);
        if (partitioning.kind === 'hash') for (const n of mine) expect(ownerOf(n as number, to)).toBe(subtask);
        all.push(...mine);
      }
      expect((all as number[]).toSorted((a, b) => a - b)).toEqual(numbers.toSorted((a, b) => a - b));
    },
  );

  test('keeps its copies apart where it was broadcast, and cannot deal them to others', async () => {
    const broadcast: Partitioning = { kind: 'broadcast' };
    expect(await restored(1, 2, logged(1, [1, 2]), broadcast)).toEqual([1, 2]);
    await expect(restored(0, 3, [...logged(0, [1, 2]), ...logged(1, [2])], broadcast)).rejects.toMatchObject({
      code: 'CHECKPOINT_INCOMPATIBLE',
      recoverable: false,
    });
  });

  test('is not dropped in silence when the job has no such loop any more', async () => {
    await expect(restored(0, 1, logged(0, [1, 2]), undefined)).rejects.toThrow(
      "The checkpoint holds 2 records that went round loop 'loop', and the job has no such loop.",
    );
    expect(await restored(0, 1, [], undefined)).toEqual([]);
  });
});
