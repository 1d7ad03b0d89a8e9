import { fc, test as property } from '@fast-check/vitest';
import { createReferenceStateBackend, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import type { OperatorSnapshot } from '../../src/contracts/snapshot.js';
import { batch, BATCH_SIZE, FINAL_WATERMARK } from '../../src/element/element.js';
import { keyGroupOf } from '../../src/element/key-group.js';
import { coProcessOperator } from '../../src/operator/co-process.js';
import type { Emit, KeyContext, TimerContext } from '../../src/operator/key-context.js';
import { keyedProcessOperator, type KeyedProcessDefinition } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { valueState } from '../../src/state/descriptors.js';
import { OperatorBench, type OperatorBenchOptions } from '../support/operator-bench.js';
import { operatorContext } from '../support/operator-context.js';
import { StageBench } from '../support/stage-bench.js';

/** What a record asks of its key's timers. */
interface Order {
  readonly key: string;
  readonly register?: readonly number[];
  readonly remove?: readonly number[];
  readonly registerLater?: readonly number[];
  readonly removeLater?: readonly number[];
}
const STATE = { count: valueState({ initial: () => 0 }) };
type State = typeof STATE;
type NoStates = Readonly<Record<string, never>>;

/** Does what records say, counts per key, and tells of each call. A timer at a multiple of ten registers another, three later. */
const obeying: KeyedProcessDefinition<Order, string, State, string> = {
  keyOf: ({ key }) => key,
  state: STATE,
  onRecord({ register = [], remove = [], registerLater = [], removeLater = [] }, { state, timers }) {
    state.count.update(state.count.value() + 1);
    for (const time of register) timers.registerEventTime(time);
    for (const time of remove) timers.deleteEventTime(time);
    for (const time of registerLater) timers.registerProcessingTime(time);
    for (const time of removeLater) timers.deleteProcessingTime(time);
  },
  onTimer(time, { key, state, timers, domain }: TimerContext<string, State>, emit: Emit<string>) {
    state.count.update(state.count.value() + 1);
    emit(`${domain} ${String(time)} of ${key}, call ${String(state.count.value())}`);
    if (time % 10 !== 0) return;
    if (domain === 'event') timers.registerEventTime(time + 3);
    else timers.registerProcessingTime(time + 3);
  },
};
const make = (context: OperatorContext): Operator => keyedProcessOperator(context, obeying);
const watermark = (time: number) => ({ kind: 'watermark', time }) as const;

/** The same, worked out by hand. */
class Model {
  readonly out: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #timers = {
    event: new Map<string, readonly [string, number]>(),
    processing: new Map<string, readonly [string, number]>(),
  };

  record({ key, register = [], remove = [], registerLater = [], removeLater = [] }: Order): void {
    this.#count(key);
    for (const time of register) this.#timers.event.set(`${key} ${String(time)}`, [key, time]);
    for (const time of remove) this.#timers.event.delete(`${key} ${String(time)}`);
    for (const time of registerLater) this.#timers.processing.set(`${key} ${String(time)}`, [key, time]);
    for (const time of removeLater) this.#timers.processing.delete(`${key} ${String(time)}`);
  }
  until(domain: 'event' | 'processing', now: number): void {
    const timers = this.#timers[domain];
    for (;;) {
      const due = [...timers].filter(([, [, time]]) => time <= now);
      due.sort(([, [a, s]], [, [b, t]]) => s - t || (a < b ? -1 : 1));
      const [first] = due;
      if (first === undefined) return;
      const [name, [key, time]] = first;
      timers.delete(name);
      this.out.push(`${domain} ${String(time)} of ${key}, call ${String(this.#count(key))}`);
      if (time % 10 === 0) timers.set(`${key} ${String(time + 3)}`, [key, time + 3]);
    }
  }
  #count(key: string): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}

const times = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 3 });
const order: fc.Arbitrary<Order> = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  register: times,
  remove: times,
  registerLater: times,
  removeLater: times,
});
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('record' as const), order }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('watermark' as const), by: fc.integer({ min: 0, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clock' as const), by: fc.integer({ min: 0, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), parts: fc.integer({ min: 1, max: 3 }) }) },
);

/** One operator in as many instances as there are parts of the key space; each snapshot is dealt out anew. */
class Instances {
  readonly clock = new VirtualClock();
  readonly out: string[] = [];
  #benches: { readonly bench: OperatorBench; readonly last: number; taken: number }[] = [];

  async open(parts: number): Promise<void> {
    const restore = (await Promise.all(this.#benches.map(({ bench }) => bench.snapshot()))).flat();
    for (const { bench } of this.#benches) await bench.operator.close?.('failed');
    this.#benches = [];
    for (let part = 0; part < parts; part++) {
      const keyGroups = { first: Math.ceil((128 * part) / parts), last: Math.ceil((128 * (part + 1)) / parts) - 1 };
      const options: OperatorBenchOptions = { clock: this.clock, keyGroups, restore };
      this.#benches.push({ bench: await OperatorBench.open(make, options), last: keyGroups.last, taken: 0 });
    }
    await this.settle();
  }
  record(order: Order): void {
    const group = keyGroupOf(order.key, 128);
    this.#benches.find(({ last }) => group <= last)?.bench.send(batch([order]));
  }
  watermark(time: number): void {
    for (const { bench } of this.#benches) bench.send(watermark(time));
  }
  async settle(): Promise<void> {
    await this.clock.settle();
    for (const entry of this.#benches) {
      const all = [...entry.bench.errors, ...entry.bench.records];
      this.out.push(...(all.slice(entry.taken) as string[]));
      entry.taken = all.length;
    }
  }
}

describe('timers', () => {
  property.prop([fc.array(happening, { maxLength: 40, size: 'max' })])(
    'call what a naive model calls, in its order, wherever in between everything is restored',
    async (happenings) => {
      const instances = new Instances();
      await instances.open(1);
      const model = new Model();
      let eventTime = 0;
      for (const happening of happenings) {
        switch (happening.kind) {
          case 'record':
            instances.record(happening.order);
            model.record(happening.order);
            break;
          case 'watermark': {
            // One that brings nothing new sets nothing off.
            if (happening.by === 0) break;
            eventTime += happening.by;
            instances.watermark(eventTime);
            model.until('event', eventTime);
            break;
          }
          case 'clock':
            await instances.clock.advance(happening.by);
            break;
          case 'restore':
            // At one part only: the order between subtasks is nobody's.
            await instances.open(1);
        }
        await instances.settle();
        model.until('processing', instances.clock.now());
      }
      instances.watermark(Infinity);
      model.until('event', Infinity);
      await instances.settle();
      expect(instances.out).toEqual(model.out);
    },
  );

  property.prop([fc.array(happening, { maxLength: 30, size: 'max' })])(
    'go with their keys to however many subtasks there are after a restore',
    async (happenings) => {
      const rescaled = new Instances();
      const steady = new Instances();
      await rescaled.open(1);
      await steady.open(1);
      let eventTime = 0;
      for (const happening of happenings) {
        // The same watermark once more is no news, save to a subtask that had no state to keep it with.
        if (happening.kind === 'watermark' && happening.by === 0) continue;
        for (const instances of [rescaled, steady]) {
          if (happening.kind === 'record') instances.record(happening.order);
          if (happening.kind === 'watermark') instances.watermark(eventTime + happening.by);
          if (happening.kind === 'clock') await instances.clock.advance(happening.by);
          if (happening.kind === 'restore' && instances === rescaled) await instances.open(happening.parts);
          await instances.settle();
        }
        if (happening.kind === 'watermark') eventTime += happening.by;
      }
      for (const instances of [rescaled, steady]) {
        instances.watermark(Infinity);
        await instances.clock.advance(100);
        await instances.settle();
      }
      expect(rescaled.out.toSorted()).toEqual(steady.out.toSorted());
    },
  );

  test('are called with their key, their state, and their own time as event time; those of the clock without one (ST-06)', async () => {
    const seen: unknown[] = [];
    const bench = await OperatorBench.open((context) =>
      keyedProcessOperator(context, {
        ...obeying,
        onTimer(time, { key, state, timestamp, domain, timers }: TimerContext<string, State>, emit: Emit<string>) {
          seen.push([time, key, state.count.value(), timestamp, domain, timers.currentWatermark(), timers.now()]);
          emit(key);
        },
      }),
    );
    bench.send({ kind: 'batch', records: [{ key: 'a', register: [5] }], timestamps: [1] });
    bench.send(batch([{ key: 'b', registerLater: [3] }]));
    bench.send(watermark(7));
    await bench.clock.advance(4);
    expect(seen).toEqual([
      [5, 'a', 1, 5, 'event', 7, 0],
      [3, 'b', 1, undefined, 'processing', 7, 3],
    ]);
    expect(bench.out).toEqual([
      { kind: 'batch', records: ['a'], timestamps: [5] },
      watermark(7),
      { kind: 'batch', records: ['b'] },
    ]);
  });

  test('that are due leave before the watermark that set them off, and those registered meanwhile too', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(batch([{ key: 'a', register: [10, 20, 30] }]));
    bench.send(watermark(25));
    expect(bench.records).toEqual([
      'event 10 of a, call 2',
      'event 13 of a, call 3',
      'event 20 of a, call 4',
      'event 23 of a, call 5',
    ]);
    expect(bench.out.map(({ kind }) => kind)).toEqual(['batch', 'watermark']);
  });

  test('for a time that has passed are called with the next watermark', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(watermark(50));
    bench.send(batch([{ key: 'a', register: [7] }]));
    expect(bench.records).toEqual([]);
    bench.send(watermark(51));
    expect(bench.records).toEqual(['event 7 of a, call 2']);
  });

  test('of one time and many keys are called in the order of the keys', async () => {
    const bench = await OperatorBench.open(make);
    const keys = ['m', 'z', 'a', 'q'];
    bench.send(batch(keys.map((key) => ({ key, register: [5, 5] }))));
    bench.send(watermark(5));
    expect(bench.records).toEqual(keys.toSorted().map((key) => `event 5 of ${key}, call 2`));
  });

  test('for the end of event time are called by the final watermark', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(batch([{ key: 'a', register: [Number.MAX_SAFE_INTEGER] }]));
    bench.send(FINAL_WATERMARK);
    expect(bench.records).toHaveLength(1);
  });

  test('that fell due while nothing ran are called in the order of their times, once the operator is open', async () => {
    const clock = new VirtualClock();
    const before = await OperatorBench.open(make, { clock });
    before.send(
      batch([
        { key: 'b', registerLater: [3, 2] },
        { key: 'a', registerLater: [1, 500], removeLater: [2] },
      ]),
    );
    const restore = await before.snapshot();
    await before.operator.close?.('failed');
    await clock.advance(100);
    expect(before.records).toEqual([]);
    const log: string[] = [];
    const after = await OperatorBench.open(
      (context) => keyedProcessOperator(context, { ...obeying, open: () => void log.push('open') }),
      { clock, restore },
    );
    log.push(...(after.records as string[]));
    await clock.settle();
    expect([...log, ...after.records]).toEqual([
      'open',
      'processing 1 of a, call 2',
      'processing 2 of b, call 2',
      'processing 3 of b, call 3',
    ]);
  });

  test('leave nothing behind in the state, and nothing on the clock once their operator is closed', async () => {
    const bench = await OperatorBench.open((context) =>
      keyedProcessOperator(context, {
        ...obeying,
        state: {} as State,
        onRecord: onRecordAlone,
        onTimer: () => undefined,
      }),
    );
    bench.send(
      batch([
        { key: 'a', register: [1], registerLater: [1, 99] },
        { key: 'a', removeLater: [99] },
      ]),
    );
    bench.send(watermark(1));
    await bench.clock.advance(1);
    expect((await bench.snapshot()).flatMap(({ keyed }) => keyed.flatMap(({ states }) => states))).toEqual([]);
    bench.send(batch([{ key: 'a', registerLater: [1000] }]));
    expect(bench.clock.pendingTimers).toBe(1);
    await bench.operator.close?.('finished');
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test('of two inputs are those of one key, and go by the event time of both', async () => {
    const bench = await OperatorBench.open((context) =>
      coProcessOperator(context, {
        firstKeyOf: (key: string) => key,
        secondKeyOf: (key: string) => key.toLowerCase(),
        state: {},
        onFirst: (_key, { timers }: KeyContext<string, NoStates>) => {
          timers.registerEventTime(10);
        },
        onSecond: (_key, { timers }: KeyContext<string, NoStates>) => {
          timers.deleteEventTime(10);
        },
        onTimer: (time, { key }, emit: Emit<string>) => {
          emit(`${key} ${String(time)}`);
        },
      }),
    );
    bench.send(batch(['a', 'b']));
    bench.send(batch(['B']), 1);
    bench.send(watermark(10));
    expect(bench.records).toEqual(['a 10']);
  });
});

describe('a burst of timers', () => {
  const BURST = 5000;
  const burst = (hasDemand: () => boolean): StageBench =>
    new StageBench(hasDemand, (flow) => {
      const context: OperatorContext = operatorContext({
        flow,
        openKeyedState: async (states) =>
          createReferenceStateBackend().open({ ...context, operator: context.uid, states }),
      });
      return [
        keyedProcessOperator<number, number, NoStates, number>(context, {
          keyOf: (n) => n,
          state: {},
          onRecord: (n, { timers }) => {
            timers.registerEventTime(n);
          },
          onTimer: (time, _context, emit) => {
            emit(time);
          },
        }),
      ];
    });
  const numbers = Array.from({ length: BURST }, (_, i) => i);

  test('stops when the flow closes, and holds the watermark back until it is through', async () => {
    let most = BURST;
    const bench: StageBench = burst(() => bench.records.length < most);
    await bench.open();
    bench.send(batch(numbers));
    most = 0;
    bench.send(watermark(BURST));
    bench.send(batch([-1]));
    expect(bench.out).toEqual([]);
    most = 1;
    bench.flow.resume();
    expect(bench.records).toEqual(numbers.slice(0, BATCH_SIZE));
    most = Infinity;
    await bench.drain();
    expect(bench.records).toEqual(numbers);
    expect(bench.out.map(({ kind }) => kind)).toEqual([...Array.from({ length: 5 }, () => 'batch'), 'watermark']);
  });

  test('gets through although the flow is closed whenever it looks', async () => {
    const bench = burst(() => false);
    await bench.open();
    bench.send(batch(numbers.slice(0, 3)));
    await bench.drain();
    bench.send(watermark(BURST));
    await bench.drain();
    expect(bench.records).toEqual([0, 1, 2]);
  });

  test('of the clock lets go when the flow closes, and goes on in a turn of its own', async () => {
    let looks = 0;
    const bench = await OperatorBench.open(make, {
      context: {
        flow: {
          isOpen: () => ++looks % 2 === 0,
          suspend: (resume) => {
            resume();
          },
          waitFor: () => undefined,
        },
      },
    });
    const late = Array.from({ length: 200 }, (_, i) => ({ key: `k${String(i).padStart(3, '0')}`, registerLater: [1] }));
    bench.send(batch(late));
    await bench.clock.advance(1);
    expect(bench.records).toHaveLength(200);
    expect(bench.out.filter(({ kind }) => kind === 'batch').length).toBeGreaterThan(1);
  });
});

describe('timers that are misused', () => {
  const withHandlers = (
    onRecord: (record: Order, context: KeyContext<string, State>) => undefined,
    change: Partial<typeof obeying> = {},
  ): Promise<OperatorBench> =>
    OperatorBench.open((context) => keyedProcessOperator(context, { ...obeying, onRecord, ...change }));

  test('are refused to an operator that has no onTimer, whose watermark they tell all the same', async () => {
    const seen: number[] = [];
    const bench = await withHandlers(
      (_record, { timers }) => {
        seen.push(timers.currentWatermark());
        timers.registerEventTime(1);
      },
      { onTimer: undefined },
    );
    bench.send(watermark(4));
    bench.send(batch([{ key: 'a' }]));
    expect(seen).toEqual([4]);
    expect(bench.errors).toEqual([
      expect.objectContaining({ code: 'PROTOCOL_VIOLATION', message: expect.stringMatching(/operator.*no onTimer/) }),
    ]);
  });

  test.each([Number.NaN, Infinity])('are refused at %s', async (time) => {
    const bench = await withHandlers((_record, { timers }) => {
      timers.registerProcessingTime(time);
    });
    bench.send(batch([{ key: 'a' }]));
    expect(bench.errors).toEqual([expect.objectContaining({ code: 'PROTOCOL_VIOLATION' })]);
  });

  test('fail the attempt where they are used after the handler has returned, and change nothing', async () => {
    const letters: (() => void)[] = [];
    let kept: KeyContext<string, State>['timers'] | undefined;
    const bench = await OperatorBench.open(
      (context) =>
        keyedProcessOperator(context, {
          ...obeying,
          onRecord: (_record, { timers }: KeyContext<string, State>) => {
            kept = timers;
          },
        }),
      { context: { runInMailbox: (letter) => letters.push(letter) } },
    );
    bench.send(batch([{ key: 'a' }]));
    kept?.registerEventTime(3);
    bench.send(watermark(5));
    expect(bench.records).toEqual([]);
    expect(() => letters[0]?.()).toThrow(/PROTOCOL_VIOLATION.*used timers after its handler/);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
      /Operator operator.*boom/,
    ],
    ['returns a promise', () => Promise.reject(new Error('unheard')) as unknown as undefined, /returned a promise/],
  ])('fail under the name of their operator: onTimer %s', async (_what, onTimer, message) => {
    const failing = (): undefined => onTimer();
    const bench = await OperatorBench.open((context) =>
      keyedProcessOperator(context, { ...obeying, onTimer: failing }),
    );
    bench.send(batch([{ key: 'a', register: [1] }]));
    bench.send(watermark(1));
    expect(bench.errors).toEqual([
      expect.objectContaining({ code: 'OPERATOR_FAILED', message: expect.stringMatching(message) }),
    ]);
  });

  test('cannot be restored by an operator that has no onTimer any more', async () => {
    const before = await OperatorBench.open(make);
    before.send(batch([{ key: 'a', register: [1] }]));
    const restore = await before.snapshot();
    await expect(
      OperatorBench.open((context) => keyedProcessOperator(context, { ...obeying, onTimer: undefined }), { restore }),
    ).rejects.toThrow(/CHECKPOINT_INCOMPATIBLE.*holds timers of operator 'operator'.*no onTimer/);
  });
});

describe('the watermark of keyed state', () => {
  const watching =
    (seen: number[]) =>
    (context: OperatorContext): Operator =>
      keyedProcessOperator(context, {
        ...obeying,
        onRecord: (_record, { state, timers }: KeyContext<string, State>) => {
          state.count.update(1);
          seen.push(timers.currentWatermark());
        },
      });

  test('is in each key group of a snapshot, and is what the operator knows after a restore', async () => {
    const seen: number[] = [];
    const bench = await OperatorBench.open(watching(seen));
    bench.send(batch([{ key: 'a' }]));
    bench.send(watermark(42));
    const restored = await OperatorBench.open(watching(seen), { restore: await bench.snapshot() });
    restored.send(batch([{ key: 'a' }]));
    expect(seen).toEqual([Number.NEGATIVE_INFINITY, 42]);
    // One that is no news sets nothing off, but goes on: whoever comes next may know less.
    restored.send(watermark(40));
    restored.send(batch([{ key: 'a' }]));
    expect(seen.at(-1)).toBe(42);
    expect(restored.out).toEqual([watermark(40)]);
  });

  test('is in key groups without state too: what was forgotten is late all the same when it comes again', async () => {
    const seen: number[] = [];
    const bench = await OperatorBench.open(watching([]));
    bench.send(watermark(42));
    const restore = await bench.snapshot();
    expect(restore.flatMap(({ keyed }) => keyed.map((handle) => 'groups' in handle && handle.groups.length))).toEqual([
      128,
    ]);
    const group = keyGroupOf('a', 128);
    const restored = await OperatorBench.open(watching(seen), { restore, keyGroups: { first: group, last: group } });
    restored.send(batch([{ key: 'a' }]));
    expect(seen).toEqual([42]);
  });

  test('is after a restore the smallest of the groups that a subtask has then', async () => {
    const seen: number[] = [];
    const halves = [
      { first: 0, last: 63, time: 10 },
      { first: 64, last: 127, time: 30 },
    ];
    const parts: OperatorSnapshot[] = [];
    for (const { time, ...keyGroups } of halves) {
      const bench = await OperatorBench.open(watching([]), { keyGroups });
      bench.send(watermark(time));
      parts.push(...(await bench.snapshot()));
    }
    const group = keyGroupOf('a', 128);
    for (const first of [0, group]) {
      const keyGroups = { first, last: Math.max(group, 64) };
      const restored = await OperatorBench.open(watching(seen), { restore: parts, keyGroups });
      restored.send(batch([{ key: 'a' }]));
    }
    expect(group).toBeGreaterThan(63);
    expect(seen).toEqual([10, 30]);
  });

  test('is forgotten where it was the final one: whoever restores may have more to come', async () => {
    const seen: number[] = [];
    const bench = await OperatorBench.open(watching([]));
    bench.send(batch([{ key: 'a' }]));
    bench.send(FINAL_WATERMARK);
    const restored = await OperatorBench.open(watching(seen), { restore: await bench.snapshot() });
    restored.send(batch([{ key: 'a' }]));
    expect(seen).toEqual([Number.NEGATIVE_INFINITY]);
  });
});

function onRecordAlone(
  { register = [], registerLater = [], removeLater = [] }: Order,
  { timers }: KeyContext<string, State>,
): undefined {
  for (const time of register) timers.registerEventTime(time);
  for (const time of registerLater) timers.registerProcessingTime(time);
  for (const time of removeLater) timers.deleteProcessingTime(time);
}
