import { describe, expect, test } from 'vitest';
import type { SubtaskReport } from '../../src/contracts/coordinator.js';
import type { KeyedCapture } from '../../src/contracts/state-backend.js';
import type { CheckpointId } from '../../src/element/ids.js';
import { Scheduler } from '../../src/host/scheduler.js';
import { SnapshotWrites } from '../../src/host/snapshot-writes.js';
import { encodeCapture, type EncodedCapture } from '../../src/snapshot/encode-capture.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { deferred } from '../support/deferred.js';
import { memoryLocation, type OnWrite } from '../support/memory-location.js';
import { TickingClock } from '../support/ticking-clock.js';

const TIMING = { alignmentMs: 3, syncMs: 1 };

class WritesBench {
  readonly clock = new TickingClock();
  readonly reports: SubtaskReport[] = [];
  readonly failures: unknown[] = [];
  readonly attempt = new AbortController();
  readonly writes: SnapshotWrites;
  progress = 0;
  released = 0;
  written = 0;

  constructor(
    options: { readonly onWrite?: OnWrite; readonly isPending?: boolean; readonly report?: () => void } = {},
  ) {
    const { onWrite, isPending = true } = options;
    this.writes = new SnapshotWrites(
      {
        id: { stage: 's', index: 1 },
        attempt: 4,
        keyGroups: { first: 0, last: 127 },
        clock: this.clock,
        scheduler: new Scheduler(this.clock),
        signal: this.attempt.signal,
        location: (id) => (isPending ? memoryLocation(id, onWrite) : undefined),
        report: (report) => {
          this.reports.push(report);
          options.report?.();
        },
        onFailed: (error) => this.failures.push(error),
      },
      () => this.progress++,
    );
  }

  /** A capture of ten sections in slices, and one value of operator state. */
  capture(): readonly EncodedCapture[] {
    const keyed: KeyedCapture = {
      write: async (out, slice) => {
        const serializer = { id: defaultSerializer.id, version: defaultSerializer.version };
        for (let keyGroup = 0; keyGroup < 10; keyGroup++) {
          await slice.next();
          await out.section({
            keyGroup,
            state: { name: 'x', kind: 'value', serializer },
            count: 1,
            rows: new Uint8Array(9),
          });
          this.written++;
        }
      },
      release: () => this.released++,
    };
    const values = [{ position: 7 }];
    return [
      encodeCapture('op', {
        keyed,
        operatorState: [{ name: 'splits', mode: 'list', serializer: defaultSerializer, values }],
      }),
    ];
  }

  start(id: CheckpointId = 1): void {
    this.writes.start(id, this.capture(), TIMING);
  }
}

describe('a snapshot that is written', () => {
  test('is acknowledged once, with its size and how long it took, and released', async () => {
    const bench = new WritesBench();
    bench.start();
    await bench.clock.settle();
    expect(bench.reports).toEqual([
      {
        kind: 'ack',
        attempt: 4,
        subtask: { stage: 's', index: 1 },
        checkpointId: 1,
        stateBytes: expect.any(Number),
        writtenBytes: expect.any(Number),
        snapshot: expect.objectContaining({ operators: [expect.objectContaining({ uid: 'op' })] }),
        ...TIMING,
        asyncMs: expect.any(Number),
      },
    ]);
    expect(bench.released).toBe(1);
  });

  test('of nothing is acknowledged too', async () => {
    const bench = new WritesBench();
    bench.writes.start(1, [], TIMING);
    await bench.clock.settle();
    expect(bench.reports).toEqual([expect.objectContaining({ kind: 'ack', stateBytes: 0 })]);
  });

  test('lets a subtask look after each slice whether it may go on', async () => {
    const bench = new WritesBench();
    bench.start();
    await bench.clock.settle();
    expect(bench.progress).toBeGreaterThanOrEqual(10);
  });

  test('of a checkpoint that is no longer pending is released, and not written', async () => {
    const bench = new WritesBench({ isPending: false });
    bench.start();
    await bench.clock.settle();
    expect([bench.released, bench.written, bench.reports]).toEqual([1, 0, []]);
  });

  test('that fails is declined: an I/O error under its own reason', async () => {
    for (const [error, reason] of [
      [Object.assign(new Error('ENOSPC'), { syscall: 'write' }), 'IO_EXCEPTION'],
      [new Error('cannot encode'), 'CHECKPOINT_ASYNC_EXCEPTION'],
    ] as const) {
      const bench = new WritesBench({ onWrite: () => Promise.reject(error) });
      bench.start();
      await bench.clock.settle();
      expect(bench.reports).toEqual([expect.objectContaining({ kind: 'decline', reason, error, checkpointId: 1 })]);
      expect(bench.released).toBe(1);
    }
  });

  test.each<[string, (bench: WritesBench) => void | Promise<void>]>([
    ['its checkpoint is aborted', (bench) => bench.writes.abort(1)],
    ['the attempt fails', (bench) => bench.attempt.abort(new Error('poison'))],
    ['the subtask is closed', (bench) => bench.writes.close()],
  ])('is released and not answered when %s', async (_what, end) => {
    const bench = new WritesBench();
    bench.start();
    await bench.clock.run(3);
    expect(bench.written).toBeGreaterThan(0);
    await Promise.all([end(bench), bench.clock.settle()]);
    expect([bench.released, bench.reports]).toEqual([1, []]);
  });

  test('is given up alone: others go on', async () => {
    const bench = new WritesBench();
    bench.start(1);
    bench.start(2);
    await bench.clock.run(3);
    bench.writes.abort(1);
    await bench.clock.settle();
    expect(bench.reports).toEqual([expect.objectContaining({ kind: 'ack', checkpointId: 2 })]);
  });

  test('is waited for when the subtask is closed, also where the storage takes its time', async () => {
    const write = deferred();
    const bench = new WritesBench({ onWrite: () => write.promise });
    bench.start();
    await bench.clock.settle();
    let isClosed = false;
    const closed = bench.writes.close().then(() => {
      isClosed = true;
    });
    await bench.clock.settle();
    expect(isClosed).toBe(false);
    write.resolve();
    await closed;
    expect(bench.reports).toEqual([]);
  });

  test('fails the attempt if its answer cannot be delivered', async () => {
    const bench = new WritesBench({
      report: () => {
        throw new Error('nobody listens');
      },
    });
    bench.start();
    await bench.clock.settle();
    expect(bench.reports).toHaveLength(1);
    expect(bench.failures).toEqual([expect.objectContaining({ message: 'nobody listens' })]);
    await bench.writes.close();
  });
});
