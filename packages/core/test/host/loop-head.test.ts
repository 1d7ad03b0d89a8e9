import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/channel/channel.js';
import { barrier, batch, cancelMarker, END_OF_DATA, type RecordBatch } from '../../src/element/element.js';
import type { CheckpointId } from '../../src/element/ids.js';
import { LoopHead } from '../../src/host/loop-head.js';
import type { ClosedLog } from '../../src/host/loop-logs.js';
import { readChannelState } from '../../src/snapshot/channel-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { MemoryTemporaryFiles } from '../support/memory-temporary-files.js';

interface Note {
  text: string;
}

/** A loop's head whose feedback channels are filled by hand. */
class HeadBench {
  readonly channels: readonly Channel<unknown>[];
  readonly head: LoopHead<string>;
  readonly taken: unknown[] = [];
  readonly closed: ClosedLog<string>[] = [];
  readonly discarded: string[] = [];
  underWay: CheckpointId[] = [];

  constructor(channels = 1, options: { logged?: boolean; onRecords?: (batch: RecordBatch<unknown>) => void } = {}) {
    this.channels = Array.from({ length: channels }, () => new Channel<unknown>(Number.POSITIVE_INFINITY));
    const edge = { producer: 'body', output: 0, consumer: 'head', input: 0 };
    this.head = new LoopHead<string>({
      feedback: this.channels.map((channel, fromSubtask) => ({
        channel,
        name: { edge, fromSubtask, toSubtask: 0 },
        partitioning: { kind: 'rebalance' },
      })),
      serializer: defaultSerializer,
      logged: options.logged ?? true,
      bounds: { records: 1e6, bytes: 1e6 },
      temporaryFiles: new MemoryTemporaryFiles(),
      onArrival: () => undefined,
      onFailed: (error) => {
        throw error;
      },
      records: (records) => {
        this.taken.push(...records.records);
        options.onRecords?.(records);
      },
      closed: (log) => this.closed.push(log),
      discarded: (captured) => this.discarded.push(captured),
      underWay: () => this.underWay,
    });
  }

  send(channel: number, ...records: readonly unknown[]): void {
    this.channels[channel]?.send(batch(records));
  }
  sendBarrier(channel: number, id: CheckpointId): void {
    this.channels[channel]?.send(barrier(id));
  }
  all(): void {
    while (this.head.advance(1000));
  }
  /** Records in the log of a checkpoint, by the subtask that sent them. */
  log(id: CheckpointId): Record<number, unknown[]> | undefined {
    const log = this.closed.find(({ checkpointId }) => checkpointId === id);
    return (
      log &&
      Object.fromEntries(
        log.state.map((state) => [
          state.name.fromSubtask,
          readChannelState(state, state.bytes, defaultSerializer, 'log').flatMap(({ records }) => records),
        ]),
      )
    );
  }
}

describe('the head of a loop', () => {
  test('ABS paper, cyclic graph: logs Db1 and Db2, which come back behind its snapshot and before the barrier, and works on them as ever', () => {
    const bench = new HeadBench();
    bench.send(0, 'before');
    bench.all();
    bench.head.snapshotTaken(1, 'copy of the state');
    bench.send(0, 'Db1');
    bench.send(0, 'Db2');
    bench.all();
    expect(bench.closed).toEqual([]);
    bench.sendBarrier(0, 1);
    bench.send(0, 'after');
    bench.all();
    expect(bench.taken).toEqual(['before', 'Db1', 'Db2', 'after']);
    expect(bench.log(1)).toEqual({ 0: ['Db1', 'Db2'] });
    expect(bench.closed[0]?.captured).toBe('copy of the state');
  });

  test('ABS paper, cyclic graph: takes what the restored log holds before anything that comes', () => {
    const bench = new HeadBench();
    bench.send(0, 'new');
    bench.head.restore([batch(['Db1']), batch(['Db2'])]);
    expect(bench.head.isReplaying).toBe(true);
    bench.head.advance(1);
    bench.head.advance(1);
    expect(bench.taken).toEqual(['Db1', 'Db2']);
    expect(bench.head.isReplaying).toBe(false);
    bench.all();
    expect(bench.taken).toEqual(['Db1', 'Db2', 'new']);
  });

  test('logs again what it had restored and not taken yet, if a barrier overtakes that', () => {
    const bench = new HeadBench(2);
    bench.head.restore([batch(['Db1', 'Db2']), batch(['Db3'])]);
    bench.head.advance(1);
    bench.head.snapshotTaken(1, 'state');
    bench.send(1, 'new');
    bench.sendBarrier(0, 1);
    bench.sendBarrier(1, 1);
    bench.all();
    expect(bench.taken).toEqual(['Db1', 'Db2', 'Db3', 'new']);
    expect(bench.log(1)).toEqual({ 0: ['Db2', 'Db3'], 1: ['new'] });
  });

  test('logs behind the barrier of a savepoint to stop with, without letting anything move', () => {
    const bench = new HeadBench();
    bench.send(0, 1, 2, 3);
    bench.head.advance(1);
    bench.head.snapshotTaken(1, 'savepoint');
    bench.send(0, 4, 5);
    bench.sendBarrier(0, 1);
    while (bench.head.advanceStanding());
    expect(bench.taken).toEqual([1]);
    expect(bench.log(1)).toEqual({ 0: [2, 3, 4, 5] });
    // The job goes on after all.
    bench.send(0, 6);
    bench.all();
    expect(bench.taken).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('closes an empty log too, once the barrier is back from everywhere', () => {
    const bench = new HeadBench(2);
    bench.head.snapshotTaken(1, 'state');
    bench.sendBarrier(1, 1);
    bench.all();
    expect(bench.closed).toEqual([]);
    bench.sendBarrier(0, 1);
    bench.all();
    expect(bench.log(1)).toEqual({});
  });

  test('does not log what is behind the barrier while another channel has not brought it', () => {
    const bench = new HeadBench(2);
    bench.head.snapshotTaken(1, 'state');
    bench.send(0, 'a1');
    bench.sendBarrier(0, 1);
    bench.send(0, 'a2');
    bench.send(1, 'b1');
    bench.all();
    bench.send(1, 'b2');
    bench.sendBarrier(1, 1);
    bench.all();
    expect(bench.log(1)).toEqual({ 0: ['a1'], 1: ['b1', 'b2'] });
    expect(bench.taken.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  test('keeps a log for each of two checkpoints in flight', () => {
    const bench = new HeadBench();
    bench.head.snapshotTaken(1, 'first');
    bench.send(0, 'a');
    bench.all();
    bench.head.snapshotTaken(2, 'second');
    bench.send(0, 'b');
    bench.sendBarrier(0, 1);
    bench.send(0, 'c');
    bench.sendBarrier(0, 2);
    bench.send(0, 'd');
    bench.all();
    expect(bench.log(1)).toEqual({ 0: ['a', 'b'] });
    expect(bench.log(2)).toEqual({ 0: ['b', 'c'] });
    expect(bench.closed.map(({ captured }) => captured)).toEqual(['first', 'second']);
  });

  test('logs the rest of a batch that it had begun before the snapshot', () => {
    const bench = new HeadBench();
    bench.send(0, 1, 2, 3, 4, 5);
    bench.head.advance(2);
    bench.head.snapshotTaken(1, 'state');
    bench.sendBarrier(0, 1);
    bench.all();
    expect(bench.taken).toEqual([1, 2, 3, 4, 5]);
    expect(bench.log(1)).toEqual({ 0: [3, 4, 5] });
  });

  test('keeps event times with what it logs, also where only some records have one', () => {
    const bench = new HeadBench();
    bench.head.snapshotTaken(1, 'state');
    bench.send(0, 'untimed');
    bench.channels[0]?.send({ kind: 'batch', records: ['x', 'y'], timestamps: [10, 20] });
    bench.sendBarrier(0, 1);
    bench.all();
    const [state] = bench.closed[0]!.state;
    expect(readChannelState(state!, state!.bytes, defaultSerializer, 'log')).toEqual([
      { kind: 'batch', records: ['untimed', 'x', 'y'], timestamps: [-Infinity, 10, 20] },
    ]);
  });

  test('encodes what it logs before anybody can change it', () => {
    const bench = new HeadBench(1, {
      onRecords: ({ records }) => {
        for (const record of records as readonly Note[]) record.text = 'changed';
      },
    });
    bench.head.snapshotTaken(1, 'state');
    bench.send(0, { text: 'as it came' });
    bench.sendBarrier(0, 1);
    bench.all();
    expect(bench.taken).toEqual([{ text: 'changed' }]);
    expect(bench.log(1)).toEqual({ 0: [{ text: 'as it came' }] });
  });

  test.each<[string, (bench: HeadBench) => void]>([
    ['the coordinator gives up', (bench) => bench.head.aborted(1)],
    ['the loop gives up', (bench) => bench.channels[0]?.send(cancelMarker(1))],
  ])('throws the log of a checkpoint away that %s, and keeps those of others', (_who, giveUp) => {
    const bench = new HeadBench();
    bench.head.snapshotTaken(1, 'first');
    bench.head.snapshotTaken(2, 'second');
    bench.send(0, 'a');
    bench.all();
    giveUp(bench);
    bench.all();
    bench.sendBarrier(0, 1);
    bench.sendBarrier(0, 2);
    bench.all();
    expect(bench.discarded).toEqual(['first']);
    expect(bench.log(1)).toBeUndefined();
    expect(bench.log(2)).toEqual({ 0: ['a'] });
  });

  test('lets go of what was captured for pending checkpoints when it is closed', () => {
    const bench = new HeadBench();
    bench.head.snapshotTaken(1, 'first');
    bench.head.snapshotTaken(2, 'second');
    void bench.head.close();
    expect(bench.discarded).toEqual(['first', 'second']);
  });

  test('waits for nothing where loops are in no checkpoint', () => {
    const bench = new HeadBench(1, { logged: false });
    bench.head.snapshotTaken(1, 'state');
    bench.send(0, 'lost');
    bench.sendBarrier(0, 1);
    bench.all();
    expect(bench.log(1)).toEqual({});
    expect(bench.taken).toEqual(['lost']);
  });

  test('holds back what is behind a barrier that came round before its own', () => {
    const bench = new HeadBench(2);
    bench.underWay = [7];
    bench.send(0, 'before');
    bench.sendBarrier(0, 7);
    bench.send(0, 'after');
    bench.send(1, 'other');
    bench.all();
    expect(bench.taken).toEqual(['before', 'other']);
    bench.head.snapshotTaken(7, 'state');
    bench.sendBarrier(1, 7);
    bench.all();
    expect(bench.taken).toEqual(['before', 'other', 'after']);
    expect(bench.log(7)).toEqual({});
  });

  test('goes on behind such a barrier when its checkpoint is given up', () => {
    const bench = new HeadBench();
    bench.underWay = [7];
    bench.sendBarrier(0, 7);
    bench.send(0, 'after');
    bench.all();
    expect(bench.taken).toEqual([]);
    bench.underWay = [];
    bench.all();
    expect(bench.taken).toEqual(['after']);
  });

  test('takes a barrier that no record is in front of when records must wait', () => {
    const bench = new HeadBench(2);
    bench.head.snapshotTaken(1, 'state');
    bench.send(0, 'a');
    bench.sendBarrier(0, 1);
    bench.sendBarrier(1, 1);
    while (bench.head.advanceControl());
    expect(bench.taken).toEqual([]);
    expect(bench.head.isEmpty).toBe(false);
    bench.all();
    expect(bench.log(1)).toEqual({ 0: ['a'] });
    expect(bench.head.isEmpty).toBe(true);
  });

  test('fails for records that come when the loop is over, and drops them when a savepoint has them', () => {
    const drained = new HeadBench();
    drained.head.end('drain');
    drained.channels[0]?.send(END_OF_DATA);
    drained.send(0, 'late');
    expect(() => {
      drained.all();
    }).toThrow(expect.objectContaining({ code: 'FEEDBACK_AFTER_END' }));

    const suspended = new HeadBench();
    suspended.head.end('suspend');
    suspended.send(0, 'in the savepoint');
    suspended.all();
    expect(suspended.taken).toEqual([]);
  });

  describe('lets the input go', () => {
    const busy = (waiting: number): HeadBench => {
      const bench = new HeadBench();
      for (let i = 0; i < 20; i++) bench.send(0, i);
      bench.send(0, ...Array.from({ length: waiting }, (_, i) => i));
      for (let i = 0; i < 8; i++) {
        expect(bench.head.letsInputGo).toBe(false);
        bench.head.advance(1);
      }
      return bench;
    };

    test('after a while, and then goes first again itself', () => {
      const bench = busy(0);
      expect(bench.head.letsInputGo).toBe(true);
      bench.head.inputWent();
      expect(bench.head.letsInputGo).toBe(false);
    });

    test('not while much waits, so that a loop drains before it is filled', () => {
      expect(busy(5000).head.letsInputGo).toBe(false);
    });

    test('in any case when a barrier has to come through', () => {
      const bench = busy(5000);
      bench.underWay = [1];
      expect(bench.head.letsInputGo).toBe(true);
      bench.head.snapshotTaken(1, 'state');
      expect(bench.head.letsInputGo).toBe(false);
    });
  });

  type Step =
    | { readonly kind: 'send'; readonly channel: number; readonly size: number }
    | { readonly kind: 'return'; readonly channel: number }
    | { readonly kind: 'snapshot' }
    | { readonly kind: 'advance'; readonly max: number };
  const channel = fc.integer({ min: 0, max: 2 });
  const steps = fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ kind: fc.constant('send' as const), channel, size: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('return' as const), channel }),
      fc.record({ kind: fc.constant('snapshot' as const) }),
      fc.record({ kind: fc.constant('advance' as const), max: fc.integer({ min: 1, max: 5 }) }),
    ),
    { maxLength: 80 },
  );

  property.prop([steps], { numRuns: 300 })(
    'has in each log, channel by channel, what was sent before the barrier and not taken before the snapshot',
    (story) => {
      const bench = new HeadBench(3);
      /** What each channel carried: record numbers, and the ids of barriers as negative numbers. */
      const sent: number[][] = [[], [], []];
      const takenBefore = new Map<CheckpointId, ReadonlySet<unknown>>();
      const next = [1, 1, 1];
      let records = 0;
      let snapshots = 0;
      const sendBarrier = (to: number): void => {
        const id = next[to] as number;
        if (id > snapshots) return;
        next[to] = id + 1;
        sent[to]?.push(-id);
        bench.sendBarrier(to, id);
      };
      for (const step of story) {
        switch (step.kind) {
          case 'send': {
            const numbers = Array.from({ length: step.size }, () => ++records);
            sent[step.channel]?.push(...numbers);
            bench.send(step.channel, ...numbers);
            break;
          }
          case 'return':
            sendBarrier(step.channel);
            break;
          case 'snapshot':
            takenBefore.set(++snapshots, new Set(bench.taken));
            bench.head.snapshotTaken(snapshots, '');
            break;
          case 'advance':
            bench.head.advance(step.max);
        }
      }
      for (const to of sent.keys()) while ((next[to] as number) <= snapshots) sendBarrier(to);
      bench.all();
      for (const [id, taken] of takenBefore) {
        const expected = sent.map((all) =>
          all.slice(0, all.indexOf(-(id as number))).filter((n) => n > 0 && !taken.has(n)),
        );
        const log = bench.log(id);
        expect(sent.map((_, from) => log?.[from] ?? [])).toEqual(expected);
      }
      expect((bench.taken as number[]).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: records }, (_, i) => i + 1),
      );
    },
  );
});
