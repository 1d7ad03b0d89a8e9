import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { barrier, batch } from '../../src/element/element.js';
import { FeedbackQueue } from '../../src/host/feedback-queue.js';
import { FeedbackSpill } from '../../src/host/feedback-spill.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { deferred } from '../support/deferred.js';
import { MemoryTemporaryFiles } from '../support/memory-temporary-files.js';

const NAME = { edge: { producer: 'body', output: 0, consumer: 'loop', input: 0 }, fromSubtask: 0, toSubtask: 0 };

/** Queues that share little memory and a disk. */
class QueueBench {
  readonly channels: readonly Channel<unknown>[];
  readonly queues: readonly FeedbackQueue[];
  readonly spill: FeedbackSpill;
  readonly failures: unknown[] = [];
  readonly files: MemoryTemporaryFiles;
  readonly room: ConstructorParameters<typeof FeedbackQueue>[2];

  constructor(
    channels: number,
    options: { maxRecords?: number; maxBytes?: number; files?: MemoryTemporaryFiles } = {},
  ) {
    this.files = options.files ?? new MemoryTemporaryFiles();
    const onFailed = (error: unknown): void => void this.failures.push(error);
    this.spill = new FeedbackSpill({
      loop: 'loop',
      files: this.files,
      maxBytes: options.maxBytes ?? 1e9,
      onFailed,
      onProgress: () => undefined,
    });
    this.room = {
      serializer: defaultSerializer,
      maxRecords: options.maxRecords ?? 10,
      spill: this.spill,
      onArrival: () => undefined,
      onFailed,
      inMemory: 0,
    };
    this.channels = Array.from({ length: channels }, () => new Channel<unknown>(Number.POSITIVE_INFINITY));
    this.queues = this.channels.map((channel) => new FeedbackQueue(channel, NAME, this.room));
  }

  /** What a queue gives now: records, and the ids of barriers as negative numbers. */
  take(queue: FeedbackQueue): readonly number[] {
    const { next } = queue;
    if (next === undefined) return [];
    queue.take();
    if (next.kind === 'batch') return next.records as number[];
    return next.kind === 'barrier' ? [-(next.checkpointId as number)] : [];
  }
  /** Everything, waiting for the disk where that is needed. */
  async all(queue: FeedbackQueue): Promise<readonly number[]> {
    const taken: number[] = [];
    while (!queue.isEmpty) {
      taken.push(...this.take(queue));
      if (queue.next === undefined) await new Promise((resolve) => setImmediate(resolve));
      if (this.failures.length > 0) break;
    }
    return taken;
  }
}
const numbers = (count: number, first = 0): number[] => Array.from({ length: count }, (_, i) => first + i);

describe('a feedback queue', () => {
  type Step =
    | { readonly kind: 'send'; readonly to: number; readonly size: number }
    | { readonly kind: 'barrier'; readonly to: number }
    | { readonly kind: 'take'; readonly from: number }
    | { readonly kind: 'wait' };
  const channel = fc.integer({ min: 0, max: 1 });
  const steps = fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ kind: fc.constant('send' as const), to: channel, size: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ kind: fc.constant('barrier' as const), to: channel }),
      fc.record({ kind: fc.constant('take' as const), from: channel }),
      fc.record({ kind: fc.constant('wait' as const) }),
    ),
    { maxLength: 60 },
  );

  property.prop([steps, fc.integer({ min: 1, max: 40 })], { numRuns: 200 })(
    'gives what came in the order in which it came, however little fits into memory',
    async (story, maxRecords) => {
      const bench = new QueueBench(2, { maxRecords });
      const sent: number[][] = [[], []];
      const taken: number[][] = [[], []];
      let next = 0;
      for (const step of story) {
        switch (step.kind) {
          case 'send': {
            const records = numbers(step.size, (next += 100));
            sent[step.to]?.push(...records);
            bench.channels[step.to]?.send(batch(records));
            break;
          }
          case 'barrier':
            sent[step.to]?.push(-++next);
            bench.channels[step.to]?.send(barrier(next));
            break;
          case 'take':
            taken[step.from]?.push(...bench.take(bench.queues[step.from]!));
            break;
          case 'wait':
            await Promise.resolve();
        }
      }
      for (const [index, queue] of bench.queues.entries()) taken[index]?.push(...(await bench.all(queue)));
      expect(taken).toEqual(sent);
      expect(bench.failures).toEqual([]);
      expect(bench.room.inMemory).toBe(0);
      expect(bench.queues.map(({ records }) => records)).toEqual([0, 0]);
      await bench.spill.close();
      expect(bench.files.open).toBe(0);
    },
  );

  test('holds in memory what fits, and writes the rest', async () => {
    const bench = new QueueBench(1, { maxRecords: 10 });
    const [channel, queue] = [bench.channels[0]!, bench.queues[0]!];
    channel.send(batch(numbers(10)));
    expect(bench.room.inMemory).toBe(10);
    for (let i = 0; i < 100; i++) channel.send(batch(numbers(1000, i * 1000)));
    expect(bench.room.inMemory).toBe(10);
    expect(queue.records).toBe(100_010);
    expect(channel.hasDemand).toBe(true);
    const all = await bench.all(queue);
    expect(all).toEqual([...numbers(10), ...numbers(100_000)]);
    expect(bench.files.bytes).toBeGreaterThan(64 * 1024);
    // What was read is gone, although nobody has closed anything.
    expect(bench.files.open).toBe(0);
  });

  test('gives disk space back file by file while it goes on spilling', async () => {
    const bench = new QueueBench(1, { maxRecords: 1 });
    const [channel, queue] = [bench.channels[0]!, bench.queues[0]!];
    const text = 'x'.repeat(60_000);
    let most = 0;
    channel.send(batch([text]));
    for (let round = 0; round < 600; round++) {
      channel.send(batch([text]));
      channel.send(batch([text]));
      if (round > 50) {
        // As much as comes, in one batch.
        while (queue.next === undefined) await new Promise((resolve) => setImmediate(resolve));
        queue.take();
      }
      most = Math.max(most, bench.files.open);
    }
    expect(bench.files.created).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(2);
    await bench.spill.close();
  });

  test('fails by name when more waits than may be on disk, and a restart does not help', () => {
    const bench = new QueueBench(1, { maxRecords: 10, maxBytes: 100_000 });
    for (let i = 0; i < 200; i++) bench.channels[0]?.send(batch(numbers(1000)));
    expect(bench.failures[0]).toMatchObject({ code: 'FEEDBACK_OVERFLOW', recoverable: false });
    expect(String(bench.failures[0])).toMatch(/More than maxFeedbackBytes = 100000 bytes of records wait in loop loop/);
  });

  test('fails by name when the disk does, which may pass', async () => {
    const full = new Error('no space left on device');
    const bench = new QueueBench(1, { files: new MemoryTemporaryFiles(() => Promise.reject(full)) });
    for (let i = 0; i < 100; i++) bench.channels[0]?.send(batch(numbers(1000)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(bench.failures[0]).toMatchObject({ code: 'FEEDBACK_OVERFLOW', recoverable: true, cause: full });
  });

  test('says when the disk is behind, and waits for it when it is closed', async () => {
    const disk = deferred();
    const bench = new QueueBench(1, { files: new MemoryTemporaryFiles(() => disk.promise) });
    const text = 'x'.repeat(100_000);
    expect(bench.spill.isOverBudget).toBe(false);
    bench.channels[0]?.send(batch(numbers(10)));
    for (let i = 0; i < 50; i++) bench.channels[0]?.send(batch([text]));
    expect(bench.spill.isOverBudget).toBe(true);
    const closed = bench.spill.close();
    disk.resolve();
    await closed;
    expect(bench.spill.isOverBudget).toBe(false);
    expect(bench.files.open).toBe(0);
    // What an attempt that has ended still sends makes no file.
    for (let i = 0; i < 50; i++) bench.channels[0]?.send(batch([text]));
    await new Promise((resolve) => setImmediate(resolve));
    expect(bench.files.open).toBe(0);
  });
});
