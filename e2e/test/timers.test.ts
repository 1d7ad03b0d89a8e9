import {
  aggregatingState,
  coProcess,
  keyBy,
  keyedProcess,
  reducingState,
  subtaskProcess,
  unionListState,
  valueState,
  broadcastState,
  type Emit,
} from '@weir/core/operators';
import { checkOperator, elapse, watermark } from '@weir/testkit';
import { test, vi } from 'vitest';
import { plugins } from './support/memory-disk.js';

// Dozens of jobs each, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

interface Reading {
  readonly sensor: string;
  readonly at: number;
  readonly value: number;
}
const reading = (sensor: string, at: number, value: number): Reading => ({ sensor, at, value });

test('event-time timers are called at the same places, in the same order, whatever happens', async () => {
  await checkOperator(
    (readings) =>
      readings.pipe(
        keyBy(({ sensor }) => sensor),
        keyedProcess({
          uid: 'windows',
          state: {
            largest: reducingState<number>({ reduce: Math.max }),
            mean: aggregatingState<number, { sum: number; count: number }, number>({
              create: () => ({ sum: 0, count: 0 }),
              add: ({ sum, count }, value) => ({ sum: sum + value, count: count + 1 }),
              result: ({ sum, count }) => sum / count,
            }),
          },
          onRecord({ at, value }, { state, timers }, _emit: Emit<string>) {
            state.largest.add(value);
            state.mean.add(value);
            timers.registerEventTime(at - (at % 10) + 9);
            if (value < 0) timers.deleteEventTime(at - (at % 10) + 9);
          },
          onTimer(time, { key, state, timestamp }, emit) {
            emit(
              `${key} ${String(time)} ${String(timestamp)}: ${String(state.largest.value())} ${String(state.mean.value())}`,
            );
            state.largest.clear();
            state.mean.clear();
          },
        }),
      ),
    {
      plugins,
      timestampOf: ({ at }: Reading) => at,
      input: [
        reading('b', 1, 5),
        reading('a', 3, 7),
        reading('a', 4, 8),
        watermark(8),
        watermark(9),
        reading('a', 12, 1),
        reading('b', 14, -1),
        watermark(25),
        reading('a', 31, 2),
      ],
      expected: ['a 9 9: 8 7.5', 'b 9 9: 5 5', 'a 19 19: 1 1', 'a 39 39: 2 2'],
    },
  );
});

test('processing-time timers are called when their time has come, once, over any crash', async () => {
  await checkOperator(
    (words) =>
      words.pipe(
        keyBy((word) => word),
        keyedProcess({
          uid: 'reminders',
          state: { started: valueState<number>() },
          onRecord(_word, { state, timers }, _emit: Emit<string>) {
            const before = state.started.value();
            if (before !== undefined) timers.deleteProcessingTime(before + 1000);
            state.started.update(timers.now());
            timers.registerProcessingTime(timers.now() + 1000);
          },
          onTimer(time, { key, state }, emit) {
            emit(`${key} after ${String(time - (state.started.value() ?? 0))}`);
            state.started.clear();
          },
        }),
      ),
    {
      plugins,
      input: ['a', elapse(600), 'b', 'a', elapse(500), elapse(500), 'c', elapse(600), 'too late'],
      expected: ['a after 1000', 'b after 1000'],
    },
  );
});

test('coProcess has timers over both inputs', async () => {
  await checkOperator(
    (readings) => {
      const first = readings.pipe(keyBy(({ sensor }: Reading) => sensor));
      const second = readings.pipe(keyBy(({ sensor }: Reading) => sensor));
      return first.pipe(
        coProcess(second, {
          uid: 'both',
          state: { count: valueState({ initial: () => 0 }) },
          onFirst({ at }, { state, timers }, _emit: Emit<string>) {
            state.count.update(state.count.value() + 1);
            timers.registerEventTime(at + 5);
          },
          onSecond({ at, value }, { state, timers }) {
            state.count.update(state.count.value() + 10);
            if (value < 0) timers.registerEventTime(at + 6);
          },
          onTimer(time, { key, state }, emit) {
            emit(`${key} ${String(time)} ${String(state.count.value())}`);
          },
        }),
      );
    },
    {
      plugins,
      compare: 'in-any-order',
      timestampOf: ({ at }: Reading) => at,
      input: [reading('a', 1, 1), reading('b', 2, -1), watermark(6), watermark(20), reading('a', 30, -1)],
      expected: ['a 6 11', 'b 7 11', 'b 8 11', 'a 35 22', 'a 36 22'],
    },
  );
});

test('subtaskProcess keeps lists and maps of its subtask', async () => {
  await checkOperator(
    (numbers) =>
      numbers.pipe(
        subtaskProcess({
          uid: 'sums',
          state: { sum: unionListState<number>(), squares: broadcastState<number, number>() },
          onRecord(n: number, { state: { sum, squares } }, emit: Emit<string>) {
            const [before = 0] = sum.values();
            sum.replace([before + n]);
            squares.set(n, n * n);
            emit(`${String(before + n)} ${[...squares.entries()].map(([, square]) => square).join(' ')}`);
          },
        }),
      ),
    {
      plugins,
      input: [1, 2, 3],
      // At more parallelism one subtask reads everything, the others have no sum.
      expected: ['1 1', '3 1 4', '6 1 4 9'],
    },
  );
});
