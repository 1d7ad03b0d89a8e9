import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { AlignmentAction, AlignmentMode } from '../../src/barrier/modes.js';
import { Channel } from '../../src/channel/channel.js';
import {
  barrier,
  batch,
  cancelMarker,
  END_OF_CHANNEL,
  END_OF_DATA,
  type RecordBatch,
  type StreamElement,
} from '../../src/element/element.js';
import type { InFlightCapture } from '../../src/host/in-flight-capture.js';
import { InputGate } from '../../src/host/input-gate.js';
import { readChannelState } from '../../src/snapshot/channel-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';

/** What a gate told its subtask, one line each. */
class GateBench {
  readonly channels: readonly Channel<unknown>[];
  readonly gate: InputGate;
  readonly heard: string[] = [];
  readonly batches: RecordBatch<unknown>[] = [];
  readonly announced: number[] = [];
  readonly inFlight = new Set<InFlightCapture>();
  woken = 0;

  constructor(channels: number, mode: AlignmentMode = 'aligned') {
    this.channels = Array.from({ length: channels }, () => new Channel());
    this.gate = new InputGate(
      this.channels.map((channel, input) => ({
        channel,
        input,
        name: { edge: { producer: 'p', output: 0, consumer: 'c', input }, fromSubtask: 0, toSubtask: 0 },
        partitioning: { kind: 'rebalance' },
      })),
      mode,
      () => 0,
      {
        records: (input, records) => {
          this.batches.push(records);
          this.heard.push(`${String(input)}:${records.records.join(',')}`);
        },
        alignment: (action, inFlight) => {
          this.heard.push(shown(action));
          if (inFlight !== undefined) this.inFlight.add(inFlight);
        },
        announced: ({ checkpointId }) => this.announced.push(checkpointId),
        time: (signal) => this.heard.push(signal.kind === 'watermark' ? `time ${signal.time}` : `idle ${signal.idle}`),
        endOfData: ({ drain }) => this.heard.push(`end, ${drain ? 'drain' : 'suspend'}`),
      },
      () => this.woken++,
    );
  }

  send(channel: number, ...elements: readonly StreamElement<unknown>[]): void {
    for (const element of elements) this.channels[channel]?.send(element);
  }

  /** Takes what waits for nothing. */
  overtake(): readonly string[] {
    while (this.gate.isOvertaken) this.gate.advanceOvertaking();
    return this.heard;
  }

  all(max = 1000): readonly string[] {
    while (this.gate.advance(max));
    return this.heard;
  }
}
const shown = (action: AlignmentAction): string => {
  switch (action.kind) {
    case 'block':
      return `block ${action.channel}`;
    case 'unblock-all':
      return 'unblock';
    case 'let-overtake':
      return `let overtake ${action.checkpointId}`;
    case 'snapshot':
      return `snapshot ${action.barrier.checkpointId}`;
    case 'persist':
      return `persist ${action.channels.join()}`;
    case 'persisted':
      return `persisted ${action.channel}`;
    case 'inputs-complete':
      return `inputs ${action.checkpointId}`;
    case 'abort':
      return `abort ${action.checkpointId} ${action.reason ?? 'as told'}`;
  }
};

describe('an input gate', () => {
  test('takes from its channels in turn, so that a full one does not keep the others waiting', () => {
    const bench = new GateBench(3);
    for (let i = 0; i < 20; i++) bench.send(0, batch([`a${i}`]));
    bench.send(1, batch(['b0']), batch(['b1']));
    bench.send(2, batch(['c0']));
    bench.all();
    expect(bench.heard.slice(0, 6)).toEqual(['0:a0', '1:b0', '2:c0', '0:a1', '1:b1', '0:a2']);
  });

  test('hands a batch over in chunks of what is asked for, before it takes anything else', () => {
    const bench = new GateBench(2);
    bench.send(0, { kind: 'batch', records: [1, 2, 3, 4, 5], timestamps: [10, 20, 30, 40, 50] });
    bench.send(1, batch(['x']));
    bench.gate.advance(2);
    bench.gate.advance(2);
    bench.gate.advance(100);
    expect(bench.batches).toEqual([
      { kind: 'batch', records: [1, 2], timestamps: [10, 20] },
      { kind: 'batch', records: [3, 4], timestamps: [30, 40] },
      { kind: 'batch', records: [5], timestamps: [50] },
    ]);
    expect(bench.all().slice(3)).toEqual(['1:x']);
  });

  test('hands a batch that fits over as it is', () => {
    const bench = new GateBench(1);
    const whole = batch([1, 2, 3]);
    bench.send(0, whole);
    bench.gate.advance(3);
    expect(bench.batches[0]).toBe(whole);
  });

  test('takes nothing from a channel behind a barrier until the barriers of the others have come', () => {
    const bench = new GateBench(2);
    bench.send(0, batch(['before']), barrier(1), batch(['after']), END_OF_DATA);
    bench.send(1, batch(['x']));
    expect(bench.all()).toEqual(['0:before', '1:x', 'block 0']);
    bench.send(1, batch(['y']), barrier(1), batch(['z']));
    expect(bench.all().slice(3)).toEqual(['1:y', 'snapshot 1', 'unblock', '0:after', '1:z']);
  });

  test('goes on with blocked channels when the coordinator gives the checkpoint up', () => {
    const bench = new GateBench(2);
    bench.send(0, barrier(1), batch(['after']));
    expect(bench.all()).toEqual(['block 0']);
    bench.gate.abort(1);
    expect(bench.all()).toEqual(['block 0', 'abort 1 as told', 'unblock', '0:after']);
    bench.send(1, barrier(1), batch(['late barriers change nothing']));
    expect(bench.all().slice(4)).toEqual(['1:late barriers change nothing']);
  });

  test('passes a cancel marker on, and declines', () => {
    const bench = new GateBench(2);
    bench.send(0, barrier(1));
    bench.send(1, cancelMarker(1));
    expect(bench.all()).toEqual(['block 0', 'abort 1 CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER', 'unblock']);
  });

  test('blocks nothing where barriers are only counted', () => {
    const bench = new GateBench(2, 'counting');
    bench.send(0, barrier(1), batch(['after']));
    bench.send(1, batch(['x']), barrier(1));
    expect(bench.all()).toEqual(['1:x', '0:after', 'snapshot 1']);
  });

  test('without demand takes only control elements that no record is in front of', () => {
    const bench = new GateBench(2);
    bench.send(0, barrier(1));
    bench.send(1, batch(['x']), barrier(1));
    expect(bench.gate.advanceControl()).toBe(true);
    expect(bench.gate.advanceControl()).toBe(false);
    expect(bench.heard).toEqual(['block 0']);
    bench.gate.advance(10);
    expect(bench.gate.advanceControl()).toBe(true);
    expect(bench.heard).toEqual(['block 0', '1:x', 'snapshot 1', 'unblock']);
  });

  test('without demand takes nothing at all while a batch is half read', () => {
    const bench = new GateBench(2);
    bench.send(0, batch([1, 2]));
    bench.send(1, barrier(1));
    bench.gate.advance(1);
    expect(bench.gate.advanceControl()).toBe(false);
    expect(bench.all()).toEqual(['0:1', '0:2', 'block 1']);
  });

  test('ends once every channel is past end of data, and drains only if all of them did; barriers still come', () => {
    const bench = new GateBench(2);
    bench.send(0, END_OF_DATA, END_OF_DATA);
    expect(bench.all()).toEqual([]);
    bench.send(1, { kind: 'end-of-data', drain: false });
    expect(bench.all()).toEqual(['end, suspend']);
    bench.send(0, barrier(1));
    bench.send(1, barrier(1));
    expect(bench.all().slice(1)).toEqual(['block 0', 'snapshot 1', 'unblock']);
  });

  test('does not wait for the barriers of a channel that has ended', () => {
    const bench = new GateBench(2);
    bench.send(0, barrier(1));
    bench.send(1, END_OF_DATA, END_OF_CHANNEL);
    expect(bench.all()).toEqual(['block 0', 'snapshot 1', 'unblock']);
    bench.send(0, barrier(2));
    expect(bench.all().slice(3)).toEqual(['snapshot 2']);
  });

  test('tells the smallest watermark of its channels, and no longer waits for one that is idle or past end of data', () => {
    const bench = new GateBench(3);
    bench.send(0, { kind: 'watermark', time: 10 });
    bench.send(1, { kind: 'watermark', time: 7 });
    bench.send(2, { kind: 'idle', idle: true });
    expect(bench.all()).toEqual(['time 7']);
    bench.send(1, END_OF_DATA);
    expect(bench.all()).toEqual(['time 7', 'time 10']);
  });

  test('skips empty batches', () => {
    const bench = new GateBench(1);
    bench.send(0, batch([]), batch([]), batch(['x']));
    expect(bench.all()).toEqual(['0:x']);
  });

  test('is woken when something comes into an empty channel', () => {
    const bench = new GateBench(2);
    bench.send(1, batch(['x']), batch(['y']));
    expect(bench.woken).toBe(1);
  });

  test('takes a barrier that overtakes in the middle of a batch: its rest and what waits behind it are in flight', async () => {
    const bench = new GateBench(2);
    bench.send(0, batch([1, 2, 3]), batch([4]));
    bench.gate.advance(1);
    expect(bench.gate.isOvertaken).toBe(false);
    bench.channels[0]?.overtake({ ...barrier(1), overtakesAfter: 0 });
    bench.send(0, batch([5]));
    expect([bench.gate.isOvertaken, bench.woken]).toEqual([true, 2]);
    bench.gate.advanceOvertaking();
    expect(bench.heard).toEqual(['0:1', 'let overtake 1', 'persist 0,1', 'snapshot 1', 'persisted 0']);
    bench.send(1, batch(['x']), END_OF_DATA);
    bench.all();
    bench.channels[1]?.overtake({ ...barrier(1), overtakesAfter: 0 });
    bench.send(1, batch(['y']));
    bench.gate.advanceOvertaking();
    expect(bench.heard.slice(-2)).toEqual(['persisted 1', 'inputs 1']);
    expect(bench.inFlight.size).toBe(1);
    const [capture] = bench.inFlight;
    const encoded = (await capture?.encoded()) ?? [];
    const flying = encoded.map(({ bytes, ...handle }) => readChannelState(handle, bytes, defaultSerializer, 'it'));
    expect(flying).toEqual([[batch([2, 3, 4])], [batch(['x'])]]);
    expect(bench.all().filter((line) => line.startsWith('0:'))).toEqual(['0:1', '0:2,3', '0:4', '0:5']);
  });

  test('at a timeout lets barriers overtake that wait in its channels, and snapshots at once if it has begun to align', async () => {
    const late = { ...barrier(1), overtakesAfter: 5 };
    const bench = new GateBench(3);
    bench.send(0, late, batch(['behind']));
    bench.send(1, batch(['a']), late);
    bench.send(2, batch(['b']));
    bench.gate.advance(100);
    expect([bench.heard, bench.announced]).toEqual([['block 0'], [1, 1]]);
    bench.gate.timeout(1);
    // Not before its subtask has nothing half done.
    expect(bench.heard.slice(1)).toEqual([]);
    bench.gate.advanceOvertaking();
    expect(bench.heard.slice(1)).toEqual(['let overtake 1', 'persist 1,2', 'snapshot 1']);
    while (bench.gate.isOvertaken) bench.gate.advanceOvertaking();
    expect(bench.heard.slice(4)).toEqual(['persisted 1']);
    bench.all();
    bench.send(2, END_OF_DATA, END_OF_CHANNEL);
    bench.all();
    // Channel 0 stays blocked until all are in.
    expect(bench.heard.slice(5)).toEqual(['1:a', '2:b', 'persisted 2', 'inputs 1', 'unblock', '0:behind']);
    const [capture] = bench.inFlight;
    expect((await capture?.encoded())?.map(({ name, count }) => [name.edge.input, count])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('lets a barrier overtake that comes after the timeout, whichever has come before it', () => {
    const late = { ...barrier(1), overtakesAfter: 5 };
    const bench = new GateBench(3);
    bench.send(0, batch(['a']), late);
    bench.send(1, batch(['b']));
    bench.gate.timeout(1);
    bench.send(1, late);
    expect(bench.overtake()).toEqual([
      'let overtake 1',
      'let overtake 1',
      'let overtake 1',
      'persist 0,1,2',
      'snapshot 1',
      'persisted 0',
      'persisted 1',
    ]);
    bench.all();
    bench.send(2, batch(['c']), late);
    expect(bench.overtake().slice(7)).toEqual(['0:a', '1:b', 'let overtake 1', 'persisted 2', 'inputs 1']);
  });

  test('lets barriers overtake when one has come that has overtaken upstream, before any timeout here', () => {
    const bench = new GateBench(3);
    bench.send(1, batch(['b']), { ...barrier(1), overtakesAfter: 5 });
    bench.channels[0]?.overtake({ ...barrier(1), overtakesAfter: 0 });
    bench.send(2, batch(['c']));
    expect(bench.overtake()).toEqual(['let overtake 1', 'persist 0,1,2', 'snapshot 1', 'persisted 0', 'persisted 1']);
    bench.send(2, { ...barrier(1), overtakesAfter: 5 });
    expect(bench.overtake().slice(5)).toEqual(['let overtake 1', 'persisted 2', 'inputs 1']);
  });

  test.each<[string, StreamElement<unknown>, AlignmentMode]>([
    ['of a savepoint', { ...barrier(1, 0, 'savepoint'), overtakesAfter: 5 }, 'aligned'],
    ['that is forced into line', { ...barrier(1), overtakesAfter: 5, isForcedAligned: true }, 'aligned'],
    ['where barriers are only counted', { ...barrier(1), overtakesAfter: 5 }, 'counting'],
  ])('after a timeout leaves a barrier in its place %s', (_which, waiting, mode) => {
    const bench = new GateBench(2, mode);
    bench.send(0, batch(['a']), waiting);
    bench.send(1, waiting);
    bench.gate.timeout(1);
    bench.send(0, batch(['b']));
    expect(bench.gate.isOvertaken).toBe(false);
    expect(bench.all().filter((line) => !/^(block|unblock|let)/.test(line))).toEqual(['0:a', 'snapshot 1', '0:b']);
  });

  test('after a timeout leaves barriers in their place whose checkpoint is given up', () => {
    const late = { ...barrier(1), overtakesAfter: 5 };
    const bench = new GateBench(2);
    bench.send(0, late);
    bench.all();
    bench.gate.timeout(1);
    bench.gate.abort(1);
    bench.send(1, batch(['b']), late);
    expect(bench.gate.isOvertaken).toBe(false);
    expect(bench.all()).toEqual(['block 0', 'abort 1 as told', 'unblock', '1:b']);
  });

  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('records' as const), channel: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('barrier' as const), channel: fc.nat(2) }) },
      { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('take' as const, 'overtake' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('timeout' as const) }) },
    ),
    { maxLength: 40 },
  );
  property.prop([steps])(
    'after a timeout no record keeps a barrier waiting, and none is counted twice or not at all',
    async (all) => {
      const bench = new GateBench(3);
      const before = [0, 0, 0];
      const passed = new Set<number>();
      const pass = (channel: number): void => {
        if (passed.has(channel)) return;
        passed.add(channel);
        bench.send(channel, { ...barrier(1), overtakesAfter: 5 });
      };
      for (const step of all) {
        if (step.kind === 'take' && !bench.gate.isOvertaken) bench.gate.advance(1);
        if (step.kind === 'overtake') bench.gate.advanceOvertaking();
        if (step.kind === 'timeout') bench.gate.timeout(1);
        if (step.kind === 'barrier') pass(step.channel);
        if (step.kind !== 'records') continue;
        bench.send(step.channel, batch([0, 1]));
        if (!passed.has(step.channel)) (before[step.channel] as number) += 2;
      }
      bench.gate.timeout(1);
      for (const channel of [0, 1, 2]) pass(channel);
      const heard = [...bench.overtake()];
      const snapshot = heard.indexOf('snapshot 1');
      expect(snapshot).not.toBe(-1);
      const [capture] = bench.inFlight;
      // It has completed aligned before the timeout, or all of it is here now.
      expect(heard.includes('inputs 1')).toBe(capture !== undefined);
      const flying = (await capture?.encoded()) ?? [];
      const counted = [0, 1, 2].map((channel) => {
        const inFlight = flying.filter(({ name }) => name.edge.input === channel);
        const taken = heard.slice(0, snapshot).filter((line) => line.startsWith(`${String(channel)}:`));
        return taken.length + inFlight.reduce((sum, { count }) => sum + count, 0);
      });
      expect(counted).toEqual(before);
    },
  );

  test('forgets what is in flight of a checkpoint that is given up', async () => {
    const bench = new GateBench(2);
    bench.channels[0]?.overtake({ ...barrier(1), overtakesAfter: 0 });
    bench.gate.advanceOvertaking();
    bench.send(1, batch(['x']));
    bench.all();
    const [capture] = bench.inFlight;
    bench.gate.abort(1);
    expect(bench.heard.at(-1)).toBe('abort 1 as told');
    expect(await capture?.encoded()).toEqual([]);
  });

  property.prop([
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.record({ channel: fc.nat(3), size: fc.integer({ min: 0, max: 20 }) }), { maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
  ])('hands over all records of each channel in order, whatever the chunks', (count, sends, chunks) => {
    const bench = new GateBench(count);
    const sent: number[][] = Array.from({ length: count }, () => []);
    let next = 0;
    for (const { channel, size } of sends) {
      const records = Array.from({ length: size }, () => next++);
      bench.send(channel % count, batch(records));
      sent[channel % count]?.push(...records);
    }
    for (let i = 0; bench.gate.advance(chunks[i % chunks.length] as number); i++);
    const got: number[][] = Array.from({ length: count }, () => []);
    for (const [i, { records }] of bench.batches.entries())
      got[Number(bench.heard[i]?.split(':')[0])]?.push(...(records as number[]));
    expect(got).toEqual(sent);
  });
});
