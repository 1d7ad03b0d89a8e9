import { defaultSerializer } from '@weir/core/contracts';
import {
  keyBy,
  keyedProcess,
  map,
  perBatch,
  rebalance,
  rx,
  transform,
  valueState,
  type Emit,
  type Operator,
  type OperatorCapture,
  type OperatorContext,
  type RestoredState,
  type Stream,
} from '@weir/core/operators';
import { checkOperator } from '@weir/testkit';
import { Observable, type OperatorFunction } from 'rxjs';
import { expect, test, vi } from 'vitest';
import { plugins } from './support/memory-disk.js';

// Dozens of jobs each, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 60_000 });

type Numbers = Stream<number, 'replayable'>;

const input = [1, 2, 3, 4, 5];

/** Runs the matrix and gives the message of the failure that it has to find. */
async function failureOf<B>(build: (numbers: Numbers) => Stream<B>): Promise<string> {
  const failure: unknown = await checkOperator(build, { plugins, input }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure, 'the operator is found out').toBeInstanceOf(Error);
  return (failure as Error).message;
}

function custom<B>(numbers: Stream<number>, create: (context: OperatorContext) => Operator<number, B>): Stream<B> {
  return transform([numbers], { name: 'custom', isStateful: true, create });
}

/** Emits what `step` makes of each record. */
function eachOf(context: OperatorContext, step: (n: number) => number): ReturnType<typeof perBatch<number, number>> {
  return perBatch<number, number>(context, ({ records }, target) => {
    target.next({ kind: 'batch', records: records.map(step) });
  });
}

function captureOf(...values: readonly number[]): OperatorCapture {
  return { operatorState: [{ name: 'total', mode: 'list', serializer: defaultSerializer, values }] };
}
async function sumOf(state: RestoredState): Promise<number> {
  const values = (await state.operatorState('total', defaultSerializer)) as number[];
  return values.reduce((sum, value) => sum + value, 0);
}

test('a total in a closure counts records twice when they are read again', async () => {
  const message = await failureOf((numbers) => {
    let total = 0;
    return numbers.pipe(map((n) => (total += n)));
  });
  expect(message).toMatch(
    /^The output of the operator differs with a crash before any checkpoint, after 1 of 5 records: .*lost/,
  );
});

test('state that is not captured is gone after a restore', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers, (context) => {
      let total = 0;
      return { connect: (source) => source.pipe(eachOf(context, (n) => (total += n))) };
    }),
  );
  expect(message).toMatch(
    /^The output of the operator differs with a crash right behind a checkpoint, after 1 of 5 records: /,
  );
});

test('state that is restored twice over is too much after a restore', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers, (context) => {
      let total = 0;
      return {
        connect: (source) => source.pipe(eachOf(context, (n) => (total += n))),
        capture: () => captureOf(total, total),
        async restore(state) {
          total = await sumOf(state);
        },
      };
    }),
  );
  expect(message).toMatch(
    /^The output of the operator differs with a crash right behind a checkpoint, after 1 of 5 records: /,
  );
});

test('output made at a checkpoint is there only if one is taken', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers, (context) => {
      let seen = 0;
      let send: (seen: number) => void = () => undefined;
      return {
        connect: (source) =>
          source.pipe(
            perBatch<number, number>(context, ({ records }, target) => {
              seen += records.length;
              send = (count) => {
                target.next({ kind: 'batch', records: [count] });
              };
            }),
          ),
        prepare: () => {
          send(seen);
        },
        finish: () => {
          send(seen);
        },
      };
    }),
  );
  expect(message).toMatch(/^The output of the operator differs with a checkpoint between any two records: /);
});

test('records that are held back and not captured are lost', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers, (context) => {
      const held: number[] = [];
      let send: (records: readonly number[]) => void = () => undefined;
      return {
        connect: (source) =>
          source.pipe(
            perBatch<number, number>(context, ({ records }, target) => {
              held.push(...records);
              send = (all) => {
                target.next({ kind: 'batch', records: all });
              };
            }),
          ),
        finish: () => {
          send(held);
        },
      };
    }),
  );
  expect(message).toMatch(
    /^The output of the operator differs with a crash right behind a checkpoint, after 1 of 5 records: 1 lost \(1\)/,
  );
});

test('a value of the state that is changed without being written is lost', async () => {
  const message = await failureOf((numbers) =>
    numbers.pipe(
      keyBy(() => 'all'),
      keyedProcess({
        state: { tally: valueState<{ count: number }>() },
        onRecord(_n, { state }, emit: Emit<number>) {
          if (state.tally.value() === undefined) state.tally.update({ count: 0 });
          const tally = state.tally.value() as { count: number };
          tally.count++;
          emit(tally.count);
        },
      }),
    ),
  );
  expect(message).toMatch(/^The output of the operator differs with state values that expire with the callback: /);
});

test('a running number is that of a subtask, not of the job', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers.pipe(rebalance()), (context) => {
      let total = 0;
      return {
        connect: (source) => source.pipe(eachOf(context, () => ++total)),
        capture: () => captureOf(total),
        async restore(state) {
          total = await sumOf(state);
        },
      };
    }),
  );
  expect(message).toMatch(/^The output of the operator differs at parallelism 2: /);
});

test('totals of keys that are kept as list state are somewhere else at another parallelism', async () => {
  const message = await failureOf((numbers) =>
    custom(numbers.pipe(keyBy((n) => n % 3)), (context) => {
      let totals: (readonly [number, number])[] = [];
      const add = (n: number): number => {
        const total = n + (totals.find(([key]) => key === n % 3)?.[1] ?? 0);
        totals = [...totals.filter(([key]) => key !== n % 3), [n % 3, total]];
        return total;
      };
      return {
        connect: (source) => source.pipe(eachOf(context, add)),
        capture: () => ({
          operatorState: [{ name: 'totals', mode: 'list', serializer: defaultSerializer, values: totals }],
        }),
        async restore(state) {
          totals = (await state.operatorState('totals', defaultSerializer)) as typeof totals;
        },
      };
    }),
  );
  expect(message).toMatch(/^The output of the operator differs restored into twice and into half the parallelism/);
});

test('an operator that captures what it says it does not have cannot be restored', async () => {
  const message = await failureOf((numbers) =>
    transform([numbers], {
      name: 'custom',
      isStateful: false,
      create: (context) => ({
        connect: (source) => source.pipe(eachOf(context, (n) => n)),
        capture: () => captureOf(1),
      }),
    }),
  );
  expect(message).toMatch(
    /^The operator fails with a crash right behind a checkpoint, after 0 of 5 records: CHECKPOINT_INCOMPATIBLE/,
  );
});

test('an RxJS operator of their own that remembers is refused, though each run gives the same', async () => {
  const sums: OperatorFunction<number, number> = (source) =>
    new Observable((subscriber) => {
      let sum = 0;
      return source.subscribe({
        next: (n) => {
          subscriber.next((sum += n));
        },
        error: (error) => {
          subscriber.error(error);
        },
        complete: () => {
          subscriber.complete();
        },
      });
    });
  expect(await failureOf((numbers) => numbers.pipe(rx(sums)))).toMatch(/^The operator fails all at once: RX_REMEMBERS/);
});

test.each<[string, () => object, (nested: never) => void]>([
  ['an array', () => [], (nested: number[]) => nested.push(1)],
  ['an object', () => ({}), (nested: Record<string, number>) => (nested['n'] = (nested['n'] ?? 0) + 1)],
  ['a map', () => new Map(), (nested: Map<number, number>) => nested.set(nested.size, 1)],
  ['a set', () => new Set(), (nested: Set<number>) => nested.add(nested.size)],
  ['a date', () => new Date(0), (nested: Date) => nested.setFullYear(nested.getFullYear() + 1)],
])('%s inside of what is emitted that state keeps and changes is found out', async (_what, make, change) => {
  const message = await failureOf((numbers) =>
    numbers.pipe(
      keyBy(() => 'all'),
      keyedProcess({
        state: { held: valueState<{ readonly nested: object }>() },
        onRecord(_n, { state: { held } }, emit: Emit<{ readonly nested: object }>) {
          const now = held.value() ?? { nested: make() };
          change(now.nested as never);
          held.update(now);
          emit(now);
        },
      }),
    ),
  );
  expect(message).toMatch(/^The operator fails .*: OPERATOR_FAILED.*Cannot/);
});
