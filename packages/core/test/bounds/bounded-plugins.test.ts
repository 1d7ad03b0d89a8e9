import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { BoundedCalls } from '../../src/bounds/bounded-calls.js';
import { boundedSink } from '../../src/bounds/bounded-sink.js';
import { boundedSource } from '../../src/bounds/bounded-source.js';
import { boundedStorage } from '../../src/bounds/bounded-storage.js';
import { writtenInTime } from '../../src/bounds/bounded-state.js';
import type {
  BlobWriter,
  CheckpointLocation,
  CheckpointStorage,
  JobStorage,
  StorageLock,
} from '../../src/contracts/checkpoint-storage.js';
import { SILENT } from '../../src/contracts/logger.js';
import { NO_METRICS } from '../../src/contracts/metrics.js';
import type { Sink, SinkWriterContext } from '../../src/contracts/sink.js';
import type { FileBlob } from '../../src/contracts/snapshot.js';
import type { ReaderContext, Source, SourceReader } from '../../src/contracts/source.js';
import { deferred } from '../support/deferred.js';

const SECOND = 1000;
const NEVER = new Promise<never>(() => undefined);

function bench(): { readonly calls: BoundedCalls; readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  const timeouts = { storage: SECOND, source: SECOND, sink: SECOND, state: SECOND };
  const calls = new BoundedCalls({
    job: 'orders',
    timeouts,
    clock,
    logger: SILENT,
    metrics: NO_METRICS,
    emit: () => undefined,
  });
  return { calls, clock };
}

async function jobStorage(calls: BoundedCalls, job: Partial<JobStorage>): Promise<JobStorage> {
  const storage = { type: 'fake', capabilities: { durable: true, locks: true }, open: async () => job };
  const scope = { job: 'orders', clock: new VirtualClock(), logger: SILENT };
  return boundedStorage(storage as unknown as CheckpointStorage, calls).open(scope);
}

function failure(promise: Promise<unknown>): { error?: unknown; isSettled: boolean } {
  const seen: { error?: unknown; isSettled: boolean } = { isSettled: false };
  promise.then(
    () => (seen.isSettled = true),
    (error: unknown) => Object.assign(seen, { error, isSettled: true }),
  );
  return seen;
}

describe('a storage', () => {
  test('that makes a location too late has it discarded, and a lock released', async () => {
    const { calls, clock } = bench();
    const made = deferred<CheckpointLocation>();
    const locked = deferred<StorageLock>();
    const given: string[] = [];
    const job = await jobStorage(calls, { create: () => made.promise, lock: () => locked.promise });
    const created = failure(job.create(1));
    const lock = failure(job.lock({ waitMs: 500, signal: new AbortController().signal }));
    await clock.advance(SECOND);
    expect(created.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
    expect(lock.isSettled).toBe(false);
    await clock.advance(500);
    expect(lock.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
    made.resolve({ discard: async () => void given.push('discarded') } as unknown as CheckpointLocation);
    locked.resolve({ release: async () => void given.push('released') } as unknown as StorageLock);
    await clock.settle();
    expect(given).toEqual(['discarded', 'released']);
  });

  test('that uploads while a blob is finished may take its time for as long as bytes move', async () => {
    const { calls, clock } = bench();
    const blob = { moved: 0, write: () => undefined, finish: () => NEVER, abort: () => NEVER };
    const location = { id: 1, createBlob: () => blob as BlobWriter };
    const job = await jobStorage(calls, { create: async () => location as unknown as CheckpointLocation });
    const writer = (await job.create(1)).createBlob();
    expect(writer.write(Uint8Array.of(1))).toBeUndefined();
    const finished = failure(writer.finish());
    for (let i = 0; i < 20; i++) {
      blob.moved += 10;
      await clock.advance(200);
    }
    expect(finished.isSettled).toBe(false);
    await clock.advance(1.5 * SECOND);
    expect(finished.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });

  test('has a second more for each mebibyte that it is to read', async () => {
    const { calls, clock } = bench();
    const job = await jobStorage(calls, { read: () => NEVER });
    const blob: FileBlob = { kind: 'blob', path: 'a', length: 5 << 20, algorithm: 'crc32', checksum: 0 };
    const read = failure(job.read({ id: 1, pointer: 'chk-1', complete: true }, blob));
    await clock.advance(5.9 * SECOND);
    expect(read.isSettled).toBe(false);
    await clock.advance(0.3 * SECOND);
    expect(read.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });
});

describe('a source', () => {
  const source = (open: () => Promise<SourceReader<number>>): Source<number> => ({
    grade: 'replayable',
    bounded: false,
    enumerator: () => {
      throw new Error('not asked for');
    },
    open,
  });
  const context = {} as ReaderContext;

  test('that opens a reader too late has it closed', async () => {
    const { calls, clock } = bench();
    const opened = deferred<SourceReader<number>>();
    const reader = failure(
      boundedSource(
        source(() => opened.promise),
        'in',
        calls,
      ).open({ id: 'a' }, undefined, context),
    );
    await clock.advance(SECOND);
    expect(reader.error).toMatchObject({
      code: 'CALL_TIMED_OUT',
      message: expect.stringContaining('source in, split a'),
    });
    let closed = 0;
    opened.resolve({
      poll: () => 'end',
      position: () => 0,
      close: async () => {
        closed++;
      },
    });
    await clock.settle();
    expect(closed).toBe(1);
  });

  test('may have no records for ever, and its poll ends when the reader is closed, even if neither answers', async () => {
    const { calls, clock } = bench();
    const stubborn: SourceReader<number> = { poll: () => NEVER, position: () => 0, close: () => NEVER };
    const reader = await boundedSource(
      source(async () => stubborn),
      'in',
      calls,
    ).open({ id: 'a' }, undefined, context);
    const polled = failure(Promise.resolve(reader.poll(10)));
    await clock.advance(1000 * SECOND);
    expect(polled.isSettled).toBe(false);
    const closed = failure(reader.close());
    await clock.advance(SECOND / 4);
    expect([polled, closed]).toEqual([{ isSettled: true }, { isSettled: true }]);
  });
});

describe('a sink', () => {
  test('is not hanging while it waits for a barrier, or for a commit of its own', async () => {
    const { calls, clock } = bench();
    const barrier = deferred();
    const sink: Sink<number> = {
      grade: 'at-least-once',
      open: (context) => ({
        write: () => context.nextBarrier?.(new AbortController().signal).then(() => NEVER),
        close: () => undefined,
      }),
    };
    const context = { nextBarrier: () => barrier.promise, commitNow: () => NEVER } as unknown as SinkWriterContext;
    const writer = await boundedSink(sink, 'out', calls).open(context);
    const written = failure(Promise.resolve(writer.write([1])));
    await clock.advance(60 * SECOND);
    expect(written.isSettled).toBe(false);
    barrier.resolve();
    await clock.advance(2 * SECOND);
    expect(written.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });
});

describe('a state backend', () => {
  test('is not hanging while what it writes to, or its turn, keeps it waiting', async () => {
    const { calls, clock } = bench();
    const turn = deferred();
    const capture = writtenInTime(
      {
        write: async (_out, slice) => {
          await slice.next();
          await NEVER;
        },
        release: () => undefined,
      },
      { uid: 'counts', calls },
    );
    const written = failure(
      capture.write({ section: () => undefined }, { isOver: () => true, next: () => turn.promise }),
    );
    await clock.advance(60 * SECOND);
    expect(written.isSettled).toBe(false);
    turn.resolve();
    await clock.advance(2 * SECOND);
    expect(written.error).toMatchObject({ code: 'CALL_TIMED_OUT' });
  });
});
