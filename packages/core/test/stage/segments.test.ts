import { fc, test as property } from '@fast-check/vitest';
import { Observable, type Subscriber } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch, BATCH_SIZE, type RecordBatch, type StreamElement } from '../../src/element/element.js';
import { flatMapOperator } from '../../src/operator/flat-map.js';
import type { Flow } from '../../src/operator/flow.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { mapOperator } from '../../src/operator/stateless.js';
import { inSegments, Relay, segmentOf } from '../../src/stage/segments.js';
import { StageFlow } from '../../src/stage/stage-flow.js';
import { Stage } from '../../src/stage/stage.js';

/** Operators of a stage, each with the flow of its segment, around a stage that hands out what its output may take. */
class LongStage {
  readonly relay = new Relay();
  readonly out: unknown[] = [];
  readonly errors: unknown[] = [];
  hasDemand = true;
  readonly flow = new StageFlow(
    () => this.relay.isEmpty && this.hasDemand,
    () => undefined,
  );
  readonly stage: Stage;

  constructor(operators: readonly ((flow: Flow) => Operator)[]) {
    this.stage = new Stage({
      operators: operators.map((create, place) => ({
        uid: `o${String(place)}`,
        operator: create(this.flow.inSegment(segmentOf(place))),
      })),
      inputs: 1,
      output: (element) => {
        if (element.kind === 'batch') this.out.push(...element.records);
        else this.out.push(element.kind);
      },
      failed: (error) => this.errors.push(error),
      drained: () => this.flow.drained(),
      failureOf: (_uid, error) => error,
      relay: this.relay,
    });
  }

  send(...records: readonly number[]): void {
    this.stage.accept(0, batch(records));
  }
  /** Goes on with what is suspended. */
  resume(): void {
    while (this.flow.isSuspended) this.flow.resume();
  }
}

const context = (flow: Flow): OperatorContext => ({ uid: 'x', job: 'test', subtask: 0, flow }) as OperatorContext;
const plus =
  (n: number) =>
  (flow: Flow): Operator =>
    mapOperator<number, number>(context(flow), (x) => x + n);
const twice = (flow: Flow): Operator => flatMapOperator<number, number>(context(flow), (x) => [2 * x, 2 * x + 1]);
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('a long stage', () => {
  test('is cut into segments of its operators in order, and a short one into none', () => {
    for (const count of [1, 2, 64, 65, 128, 1000]) {
      const all = many(count, (i) => i);
      const segments = inSegments(all);
      expect(segments.flat()).toEqual(all);
      for (const [segment, places] of segments.entries())
        for (const place of places) expect(segmentOf(place)).toBe(segment);
    }
    expect(inSegments(many(64, (i) => i))).toHaveLength(1);
  });

  test('of 10,000 operators passes records and watermarks on, and closes', async () => {
    const job = new LongStage(many(10_000, () => plus(1)));
    await job.stage.restoreAndOpen(() => undefined);
    job.send(0, 1, 2);
    job.stage.time({ kind: 'watermark', time: 1 });
    job.send(3);
    expect(job.out).toEqual([10_000, 10_001, 10_002, 'watermark', 10_003]);
    await job.stage.close('finished');
    expect(job.errors).toEqual([]);
  });

  test('fails with the error of an operator in any of its segments', () => {
    for (const place of [0, 70, 199]) {
      const error = new Error(`at ${String(place)}`);
      const failing = (flow: Flow): Operator =>
        mapOperator(context(flow), () => {
          throw error;
        });
      const job = new LongStage(many(200, (i) => (i === place ? failing : plus(1))));
      job.send(1);
      expect(job.errors).toMatchObject([{ cause: error }]);
    }
  });

  property.prop([
    fc.array(fc.record({ place: fc.nat(299), twice: fc.boolean() }), { maxLength: 9 }),
    fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    fc.array(fc.boolean(), { maxLength: 40 }),
  ])(
    'emits what a chain of calls would, in its order, however often the output has no demand',
    (steps, batches, demand) => {
      const doubling = new Set(steps.filter((step) => step.twice).map(({ place }) => place));
      const job = new LongStage(many(300, (i) => (doubling.has(i) ? twice : plus(1))));
      let asked = 0;
      for (const records of batches) {
        job.hasDemand = demand[asked++] ?? true;
        job.send(...records);
        job.hasDemand = true;
        job.resume();
      }
      const through = (records: readonly number[]): readonly number[] => {
        let now = records;
        for (let place = 0; place < 300; place++)
          now = doubling.has(place) ? now.flatMap((x) => [2 * x, 2 * x + 1]) : now.map((x) => x + 1);
        return now;
      };
      expect(job.out).toEqual(batches.flatMap(through));
    },
  );

  test('keeps no more of an expansion in one segment than the next has taken', () => {
    let drawn = 0;
    const endless = (flow: Flow): Operator =>
      flatMapOperator<number, number>(context(flow), function* () {
        for (;;) yield drawn++;
      });
    const job = new LongStage(many(300, (i) => (i === 100 ? endless : plus(0))));
    job.flow.begin({ isOver: () => true });
    job.send(1);
    const perStep = drawn;
    for (let step = 0; step < 20; step++) job.flow.resume();
    // Behind it is all but the batch that is being filled.
    expect(drawn - job.out.length).toBeLessThan(BATCH_SIZE);
    expect(drawn).toBeLessThanOrEqual(21 * perStep);
  });

  test('goes on with what is nearer to its tail first', () => {
    const resumed: number[] = [];
    const flow = new StageFlow(
      () => true,
      () => undefined,
    );
    for (const segment of [0, 2, 1, 2]) flow.inSegment(segment).suspend(() => resumed.push(segment));
    flow.inSegment(3).hold?.(1, () => resumed.push(3));
    while (flow.isSuspended) flow.resume();
    expect(resumed).toEqual([3, 2, 2, 1, 0]);
  });

  test('what an operator emits by itself, outside of any element, is through when it goes on', () => {
    let target: Subscriber<StreamElement<number>> | undefined;
    const emitting = (): Operator => ({
      connect: (source: Observable<StreamElement<number>>) =>
        new Observable<StreamElement<number>>((output) => {
          target = output;
          return source.subscribe(output);
        }),
    });
    const job = new LongStage(many(300, (i) => (i === 70 ? emitting : plus(1))));
    target?.next(batch([5]) satisfies RecordBatch<number>);
    expect(job.out).toEqual([5 + 229]);
  });

  test('prepares, captures and finishes its operators in the order of a short one', async () => {
    const heard: string[] = [];
    const listening = (place: number) => (): Operator => ({
      connect: (source: Observable<StreamElement<number>>) => source,
      prepare: () => void heard.push(`prepare ${String(place)}`),
      capture: () => void heard.push(`capture ${String(place)}`),
      finish: () => void heard.push(`finish ${String(place)}`),
      close: async () => void heard.push(`close ${String(place)}`),
    });
    const count = 130;
    const job = new LongStage(many(count, listening));
    expect(job.stage.prepare(1)).toBeUndefined();
    job.stage.capture(1);
    expect(job.stage.finish()).toBeUndefined();
    await job.stage.close('finished');
    const down = many(count, (i) => i);
    const up = down.toReversed();
    expect(heard).toEqual([
      ...down.map((i) => `prepare ${String(i)}`),
      ...up.map((i) => `capture ${String(i)}`),
      ...down.map((i) => `finish ${String(i)}`),
      ...up.map((i) => `close ${String(i)}`),
    ]);
  });
});
