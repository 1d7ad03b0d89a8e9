import {
  broadcast,
  coProcess,
  filter,
  flatMap,
  keyBy,
  keyedProcess,
  listState,
  map,
  mapState,
  rebalance,
  rx,
  scan,
  union,
  valueState,
  type Emit,
} from '@weir/core/operators';
import { checkOperator } from '@weir/testkit';
import { filter as rxFilter, map as rxMap, mergeMap, of } from 'rxjs';
import { expect, test, vi } from 'vitest';
import { plugins } from './support/memory-disk.js';

// Dozens of jobs each, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

interface Flight {
  readonly origin: string;
  readonly delay: number;
}
const flights: readonly Flight[] = [
  { origin: 'ATL', delay: 5 },
  { origin: 'ORD', delay: 0 },
  { origin: 'ATL', delay: 12 },
  { origin: 'DFW', delay: 7 },
  { origin: 'ORD', delay: 3 },
  { origin: 'ATL', delay: -4 },
  { origin: 'DFW', delay: 9 },
];
const options = { plugins, input: flights };

test('map, filter and flatMap make the same of the same records, whatever happens', async () => {
  const runs = await checkOperator(
    (flights) =>
      flights.pipe(
        map(({ origin, delay }) => `${origin} ${String(delay)}`),
        filter((line) => !line.endsWith(' 0')),
        flatMap((line) => line.split(' ')),
      ),
    {
      ...options,
      expected: ['ATL', '5', 'ATL', '12', 'DFW', '7', 'ORD', '3', 'ATL', '-4', 'DFW', '9'],
    },
  );
  // 4 without checkpoints, 3 with something between any two records, 4 with single crashes, 3 at each wider parallelism, 1 from one into another.
  expect(runs).toHaveLength(4 + 3 + 4 + 6 + 1);
});

test('flatMap stops inside a long iterable and goes on there', async () => {
  const length = 5000;
  await checkOperator(
    (numbers) =>
      numbers.pipe(
        flatMap(function* (n) {
          for (let i = 0; i < length; i++) yield n * length + i;
        }),
        filter((n) => n % 500 === 0),
      ),
    { plugins, input: [0, 1, 2], expected: Array.from({ length: 30 }, (_, i) => i * 500) },
  );
});

test('rx runs RxJS operators for each record', async () => {
  await checkOperator(
    (numbers) =>
      numbers.pipe(
        rx(
          rxFilter((n: number) => n % 2 === 1),
          mergeMap((n) => of(n, n * 10)),
          rxMap((n) => `<${String(n)}>`),
        ),
      ),
    { plugins, input: [1, 2, 3, 4, 5], expected: ['<1>', '<10>', '<3>', '<30>', '<5>', '<50>'] },
  );
});

test('keyedProcess keeps a value for each key', async () => {
  await checkOperator(
    (flights) =>
      flights.pipe(
        keyBy(({ origin }) => origin),
        keyedProcess({
          state: { total: valueState({ initial: () => 0 }), last: valueState<Flight>() },
          onRecord(flight, { key, state }, emit: Emit<string>) {
            const { delay: before } = state.last.value() ?? { delay: 0 };
            state.total.update(state.total.value() + flight.delay);
            state.last.update(flight);
            emit(`${key}: ${String(before)} -> ${String(flight.delay)}, ${String(state.total.value())} in all`);
          },
        }),
      ),
    {
      ...options,
      expected: [
        'ATL: 0 -> 5, 5 in all',
        'ORD: 0 -> 0, 0 in all',
        'ATL: 5 -> 12, 17 in all',
        'DFW: 0 -> 7, 7 in all',
        'ORD: 0 -> 3, 3 in all',
        'ATL: 12 -> -4, 13 in all',
        'DFW: 7 -> 9, 16 in all',
      ],
    },
  );
});

test('keyedProcess keeps a list for each key, and clears it', async () => {
  await checkOperator(
    (flights) =>
      flights.pipe(
        keyBy(({ origin }) => origin),
        keyedProcess({
          state: { pending: listState<Flight>() },
          onRecord(flight, { state }, emit: Emit<readonly number[]>) {
            state.pending.add(flight);
            const delays = [...state.pending.values()].map(({ delay }) => delay);
            if (delays.length < 2) return;
            emit(delays);
            state.pending.clear();
          },
        }),
      ),
    {
      ...options,
      expected: [
        [5, 12],
        [0, 3],
        [7, 9],
      ],
    },
  );
});

test('keyedProcess keeps a map for each key, and emits what it took out of its state', async () => {
  await checkOperator(
    (flights) =>
      flights.pipe(
        keyBy(({ origin }) => origin.length),
        keyedProcess({
          state: { byOrigin: mapState<string, { readonly delays: readonly number[] }>() },
          onRecord(
            { origin, delay },
            { state },
            emit: Emit<readonly [string, { readonly delays: readonly number[] }]>,
          ) {
            const { delays } = state.byOrigin.get(origin) ?? { delays: [] };
            state.byOrigin.set(origin, { delays: [...delays, delay] });
            if (delay < 0) state.byOrigin.delete('ORD');
            if (delay === 9) for (const [key, value] of state.byOrigin.entries()) emit([key, value]);
          },
        }),
      ),
    {
      ...options,
      compare: 'in-any-order',
      expected: [
        ['ATL', { delays: [5, 12, -4] }],
        ['DFW', { delays: [7, 9] }],
      ],
    },
  );
});

test('scan folds the records of each key', async () => {
  await checkOperator(
    (flights) =>
      flights.pipe(
        keyBy(({ origin }) => origin),
        scan(
          (worst, { delay }, origin) => ({ origin, delay: Math.max(worst.delay, delay) }),
          () => ({ origin: '', delay: 0 }),
        ),
      ),
    {
      ...options,
      expected: [
        { origin: 'ATL', delay: 5 },
        { origin: 'ORD', delay: 0 },
        { origin: 'ATL', delay: 12 },
        { origin: 'DFW', delay: 7 },
        { origin: 'ORD', delay: 3 },
        { origin: 'ATL', delay: 12 },
        { origin: 'DFW', delay: 9 },
      ],
    },
  );
});

test('coProcess joins two streams in the order in which they meet', async () => {
  await checkOperator(
    (events) => {
      const orders = events.pipe(
        filter((event) => 'sum' in event),
        keyBy(({ id }) => id),
      );
      const payments = events.pipe(
        filter((event) => 'paid' in event),
        keyBy(({ id }) => id),
      );
      return orders.pipe(
        coProcess(payments, {
          state: { sum: valueState({ initial: () => 0 }), paid: valueState({ initial: () => 0 }) },
          onFirst({ id, sum = 0 }, { state }, emit: Emit<string>) {
            state.sum.update(state.sum.value() + sum);
            if (state.paid.value() >= state.sum.value()) emit(`${String(id)} paid ahead`);
          },
          onSecond({ id, paid = 0 }, { state }, emit: Emit<string>) {
            state.paid.update(state.paid.value() + paid);
            if (state.paid.value() === state.sum.value()) emit(`${String(id)} settled`);
          },
        }),
        // Which of the two comes first is nobody's promise.
        map((text) => text.replace(/ .*/, '')),
      );
    },
    {
      plugins,
      input: [
        { id: 1, sum: 3 },
        { id: 2, paid: 4 },
        { id: 1, paid: 3 },
        { id: 2, sum: 4 },
        { id: 3, sum: 9 },
      ],
      expected: ['1', '2'],
      compare: 'in-any-order',
    },
  );
});

test('union brings the records of every branch', async () => {
  await checkOperator(
    (numbers) => {
      const tens = numbers.pipe(map((n) => n * 10));
      return numbers.pipe(
        filter((n) => n % 2 === 0),
        union(tens),
        map((n) => n + 1),
      );
    },
    { plugins, input: [1, 2, 3, 4], expected: [3, 5, 11, 21, 31, 41], compare: 'in-any-order' },
  );
});

test('rebalance deals records out, each to one subtask', async () => {
  await checkOperator(
    (numbers) =>
      numbers.pipe(
        rebalance(),
        map((n) => -n),
      ),
    {
      plugins,
      input: [1, 2, 3, 4, 5, 6],
      expected: [-1, -2, -3, -4, -5, -6],
    },
  );
});

test('broadcast gives every record to every subtask', async () => {
  await checkOperator(
    (numbers) =>
      numbers.pipe(
        broadcast(),
        map((n) => -n),
      ),
    {
      plugins,
      input: [1, 2, 3],
      compare(actual, expected) {
        // One for each subtask that there was at the time.
        for (const n of expected) expect([1, 2, 4]).toContain(actual.filter((m) => m === n).length);
      },
    },
  );
});
