import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { batch, FINAL_WATERMARK, type StreamElement } from '../../src/element/element.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { timestampsOperator, type TimestampsDefinition } from '../../src/operator/timestamps.js';
import { OperatorBench } from '../support/operator-bench.js';

const timesOf = (out: readonly StreamElement<unknown>[]): readonly number[] =>
  out.flatMap((element) => (element.kind === 'watermark' ? [element.time] : []));
const watermark = (time: number) => ({ kind: 'watermark', time }) as const;
const idle = (is: boolean) => ({ kind: 'idle', idle: is }) as const;

function open(change: Partial<TimestampsDefinition<number>> = {}): Promise<OperatorBench> {
  const make = (context: OperatorContext): Operator =>
    timestampsOperator<number>(context, {
      timestampOf: (n) => n,
      maxOutOfOrdernessMs: 0,
      idleAfterMs: undefined,
      watermarkIntervalMs: 0,
      ...change,
    });
  return OperatorBench.open(make);
}

describe('timestamps', () => {
  test('stand beside each record, and a watermark behind a batch that brings time forward', async () => {
    const bench = await open({ maxOutOfOrdernessMs: 10 });
    bench.send(batch([100, 90, 95]));
    bench.send(batch([99]));
    bench.send(batch([101]));
    expect(bench.out).toEqual([
      { kind: 'batch', records: [100, 90, 95], timestamps: [100, 90, 95] },
      watermark(89),
      { kind: 'batch', records: [99], timestamps: [99] },
      { kind: 'batch', records: [101], timestamps: [101] },
      watermark(90),
    ]);
  });

  property.prop([fc.array(fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 5 })), fc.nat({ max: 300 })])(
    'never call a record late that comes within the disorder allowed for',
    async (batches, maxOutOfOrdernessMs) => {
      const bench = await open({ maxOutOfOrdernessMs });
      let latest = Number.NEGATIVE_INFINITY;
      for (const times of batches) {
        const before = Math.max(...timesOf(bench.out), Number.NEGATIVE_INFINITY);
        for (const time of times) if (time >= latest - maxOutOfOrdernessMs) expect(time).toBeGreaterThan(before);
        bench.send(batch(times));
        latest = Math.max(latest, ...times);
      }
      const told = timesOf(bench.out);
      expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
      expect(told.at(-1) ?? Number.NEGATIVE_INFINITY).toBe(latest - maxOutOfOrdernessMs - 1);
    },
  );

  test('tell no more than one watermark in an interval, and the last one at its end', async () => {
    const bench = await open({ watermarkIntervalMs: 200 });
    for (let time = 1; time <= 100; time++) bench.send(batch([time]));
    expect(timesOf(bench.out)).toEqual([0]);
    await bench.clock.advance(199);
    expect(timesOf(bench.out)).toEqual([0]);
    await bench.clock.advance(1);
    expect(timesOf(bench.out)).toEqual([0, 99]);
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test('take the place of whatever was known of event time before, save that it has ended', async () => {
    const bench = await open();
    bench.send({ kind: 'batch', records: [5], timestamps: [5000] });
    bench.send(watermark(9000));
    bench.send(idle(true));
    bench.send(FINAL_WATERMARK);
    expect(bench.out).toEqual([{ kind: 'batch', records: [5], timestamps: [5] }, watermark(4), FINAL_WATERMARK]);
  });

  test.each([Number.NaN, Infinity, undefined])(
    'fail under the name of the operator where a record has none: %s',
    async (time) => {
      const bench = await open({ timestampOf: () => time as number });
      bench.send(batch([1]));
      expect(bench.errors).toEqual([
        expect.objectContaining({
          code: 'OPERATOR_FAILED',
          message: expect.stringMatching(/operator.*timestampOf gave/),
        }),
      ]);
    },
  );

  test('leave nothing on the clock once the operator is closed', async () => {
    const bench = await open({ watermarkIntervalMs: 200, idleAfterMs: 1000 });
    bench.send(batch([1]));
    bench.send(batch([2]));
    expect(bench.clock.pendingTimers).toBe(2);
    await bench.operator.close?.('failed');
    expect(bench.clock.pendingTimers).toBe(0);
  });
});

describe('an input that is idle', () => {
  test('says so after the time given, with the last watermark in front, and again when a record comes', async () => {
    const bench = await open({ idleAfterMs: 1000, watermarkIntervalMs: 5000 });
    bench.send(batch([1]));
    await bench.clock.advance(600);
    bench.send(batch([2]));
    await bench.clock.advance(999);
    expect(bench.out.slice(2)).toEqual([{ kind: 'batch', records: [2], timestamps: [2] }]);
    await bench.clock.advance(1);
    expect(bench.out.slice(3)).toEqual([watermark(1), idle(true)]);
    await bench.clock.advance(10_000);
    bench.send(batch([7]));
    expect(bench.out.slice(5)).toEqual([idle(false), { kind: 'batch', records: [7], timestamps: [7] }, watermark(6)]);
    await bench.clock.advance(1000);
    expect(bench.out.at(-1)).toEqual(idle(true));
  });

  test('may never have had a record', async () => {
    const bench = await open({ idleAfterMs: 1000 });
    await bench.clock.advance(1000);
    expect(bench.out).toEqual([idle(true)]);
  });

  test('is not idle any more when it ends: everybody hears the final watermark', async () => {
    const bench = await open({ idleAfterMs: 1000 });
    await bench.clock.advance(1000);
    bench.send(FINAL_WATERMARK);
    expect(bench.out).toEqual([idle(true), idle(false), FINAL_WATERMARK]);
    expect(bench.clock.pendingTimers).toBe(0);
  });
});
