import { nextTurn } from '@weir/core/contracts';
import {
  flatMap,
  keyBy,
  keyedProcess,
  listState,
  map,
  perBatch,
  rebalance,
  scan,
  transform,
  valueState,
  type Emit,
  type Operator,
  type OperatorContext,
  type Stream,
} from '@weir/core/operators';
import { describe, expect, test } from 'vitest';
import { checkOperator } from '../../src/index.js';

interface Reading {
  readonly sensor: string;
  readonly value: number;
}
type Readings = Stream<Reading, 'replayable'>;

const input: readonly Reading[] = [
  { sensor: 'a', value: 1 },
  { sensor: 'b', value: 2 },
  { sensor: 'a', value: 3 },
  { sensor: 'b', value: 4 },
];

/** The message with which the operator is found out. */
async function failureOf<B>(build: (readings: Readings) => Stream<B>, expected?: readonly B[]): Promise<string> {
  const failure: unknown = await checkOperator(build, { input, expected }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure, 'the operator is found out').toBeInstanceOf(Error);
  return (failure as Error).message;
}

function custom<B>(readings: Readings, create: (context: OperatorContext) => Operator<Reading, B>): Stream<B> {
  return transform([readings], { name: 'custom', isStateful: false, create });
}

describe('checkOperator lets pass', () => {
  test('operators that keep to the rules, and tells how it ran them', async () => {
    const runs = await checkOperator(
      (readings) =>
        readings.pipe(
          keyBy(({ sensor }) => sensor),
          scan(
            (sum, { value }) => sum + value,
            () => 0,
          ),
        ),
      { input, expected: [1, 2, 4, 6] },
    );
    expect(runs.slice(0, 2)).toEqual(['all at once', 'item by item']);
  });

  test('a state value that is emitted and not used any more', async () => {
    await checkOperator(
      (readings) =>
        readings.pipe(
          keyBy(({ sensor }) => sensor),
          keyedProcess({
            state: { last: valueState<Reading>() },
            onRecord(reading, { state }, emit: Emit<readonly [Reading | undefined, Reading]>) {
              emit([state.last.value(), reading]);
              state.last.update(reading);
            },
          }),
          flatMap(([before, now]) => (before === undefined ? [] : [now.value - before.value])),
        ),
      { input, expected: [2, 2] },
    );
  });

  test('an operator that suspends itself, and one that asks the flow before each record', async () => {
    await checkOperator(
      (readings) =>
        custom(readings, (context) => ({
          connect: (source) =>
            source.pipe(
              perBatch<Reading, number>(context, ({ records }, target) => {
                const run = (from: number): void => {
                  for (let i = from; i < records.length; i++) {
                    if (!context.flow.isOpen()) {
                      context.flow.suspend(() => {
                        run(i);
                      });
                      return;
                    }
                    target.next({ kind: 'batch', records: [(records[i] as Reading).value] });
                  }
                };
                run(0);
              }),
            ),
        })),
      { input, expected: [1, 2, 3, 4] },
    );
  });

  test('an operator that hands late results to its mailbox, and holds the stage until then', async () => {
    await checkOperator(
      (readings) =>
        custom(readings, (context) => ({
          connect: (source) =>
            source.pipe(
              perBatch<Reading, number>(context, ({ records }, target) => {
                const answer = nextTurn(context.clock).then(() => {
                  context.runInMailbox(() => {
                    target.next({ kind: 'batch', records: records.map(({ value }) => value) });
                  });
                });
                context.flow.waitFor(answer);
              }),
            ),
        })),
      { input, expected: [1, 2, 3, 4] },
    );
  });
});

describe('checkOperator finds an operator that', () => {
  test('does not do what is expected', async () => {
    const message = await failureOf((readings) => readings.pipe(map(({ value }) => value)), [1, 2, 3, 5]);
    expect(message).toBe('The output of the operator differs all at once: 1 lost (5); 1 unexpected (4)');
  });

  test('throws', async () => {
    const message = await failureOf((readings) =>
      readings.pipe(
        map(({ value }) => {
          if (value === 3) throw new RangeError('three');
          return value;
        }),
      ),
    );
    expect(message).toMatch(/^The operator fails all at once: OPERATOR_FAILED: .*three/);
  });

  test('changes a record that others get too', async () => {
    const message = await failureOf((readings) =>
      readings.pipe(
        map((reading) => {
          (reading as { value: number }).value *= 2;
          return reading;
        }),
      ),
    );
    expect(message).toMatch(/^The operator fails all at once: OPERATOR_FAILED: .*read only property 'value'/);
  });

  test('changes something deep inside a record after it was emitted', async () => {
    const message = await failureOf((readings) =>
      readings.pipe(
        keyBy(() => 'all'),
        scan(
          (all, { value }) => {
            all.values.push(value);
            return all;
          },
          () => ({ values: [] as number[] }),
        ),
        rebalance(),
        map(({ values }) => values.length),
      ),
    );
    expect(message).toMatch(/^The operator fails all at once: OPERATOR_FAILED: .*not extensible/);
  });

  test('sorts the batch in place', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => ({
        connect: (source) =>
          source.pipe(
            perBatch<Reading, Reading>(context, (batch, target) => {
              (batch.records as Reading[]).reverse();
              target.next(batch);
            }),
          ),
      })),
    );
    expect(message).toMatch(/^The operator fails all at once: OPERATOR_FAILED: .*read only/);
  });

  test('depends on where a batch ends', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => ({
        connect: (source) =>
          source.pipe(
            perBatch<Reading, number>(context, ({ records }, target) => {
              target.next({ kind: 'batch', records: [records.length] });
            }),
          ),
      })),
    );
    expect(message).toBe('The output of the operator differs item by item: 1 lost (2); 2 duplicated (1, 1)');
  });

  test('gives the same records in another order', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => ({
        connect: (source) =>
          source.pipe(
            perBatch<Reading, number>(context, ({ records }, target) => {
              target.next({ kind: 'batch', records: records.map(({ value }) => value).reverse() });
            }),
          ),
      })),
    );
    expect(message).toBe(
      'The output of the operator differs item by item: the same records in another order, record 2 is 2 and should be 3',
    );
  });

  test('loses what is left when it has to stop in the middle of a batch', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => ({
        connect: (source) =>
          source.pipe(
            perBatch<Reading, Reading>(context, ({ records }, target) => {
              for (const record of records) {
                if (record.value === 3 && !context.flow.isOpen()) return;
                target.next({ kind: 'batch', records: [record] });
              }
            }),
          ),
      })),
    );
    expect(message).toMatch(/^The output of the operator differs with slow output: 1 lost/);
  });

  test('emits on a timer', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => ({
        connect: (source) =>
          source.pipe(
            perBatch<Reading, Reading>(context, (batch, target) => {
              context.clock.nextTurn(() => {
                target.next(batch);
              });
            }),
          ),
      })),
    );
    expect(message).toMatch(
      /^The operator fails all at once: PROTOCOL_VIOLATION: Operator custom-1 .* emitted outside of its callbacks/,
    );
  });

  test('emits from a promise', async () => {
    const message = await failureOf((readings) =>
      readings.pipe(
        keyBy(({ sensor }) => sensor),
        keyedProcess({
          onRecord({ value }, _context, emit: Emit<number>) {
            void Promise.resolve().then(() => {
              emit(value);
            });
          },
        }),
      ),
    );
    expect(message).toMatch(
      /^The operator fails all at once: PROTOCOL_VIOLATION: Operator keyedProcess-1 .* after its handler had returned/,
    );
  });

  test('keeps a value of its state beyond the callback', async () => {
    const message = await failureOf((readings) => {
      const cache = new Map<string, { total: number }>();
      return readings.pipe(
        keyBy(({ sensor }) => sensor),
        keyedProcess({
          state: { sum: valueState({ initial: () => ({ total: 0 }) }) },
          onRecord({ value }, { key, state }, emit: Emit<number>) {
            const sum = cache.get(key) ?? state.sum.value();
            cache.set(key, sum);
            sum.total += value;
            state.sum.update(sum);
            emit(sum.total);
          },
        }),
      );
    });
    expect(message).toMatch(
      /^The operator fails with state values that expire with the callback: PROTOCOL_VIOLATION: .*a value of state 'sum'/,
    );
  });

  test('goes on with an iterator over its state in a later callback', async () => {
    const message = await failureOf((readings) => {
      let rest: Iterator<number> | undefined;
      return readings.pipe(
        keyBy(() => 'all'),
        keyedProcess({
          state: { values: listState<number>() },
          onRecord({ value }, { state }, emit: Emit<number>) {
            state.values.add(value);
            rest ??= state.values.values()[Symbol.iterator]();
            if (rest.next().done !== true) emit(value);
          },
        }),
      );
    });
    expect(message).toMatch(/expire with the callback: PROTOCOL_VIOLATION: .*an iterator over state 'values'/);
  });

  test('uses its state when the callback is over, and catches what that throws', async () => {
    const message = await failureOf((readings) =>
      readings.pipe(
        keyBy(({ sensor }) => sensor),
        keyedProcess({
          state: { count: valueState({ initial: () => 0 }) },
          onRecord({ value }, { state }, emit: Emit<number>) {
            emit(value);
            void Promise.resolve()
              .then(() => {
                state.count.update(state.count.value() + 1);
              })
              .catch(() => undefined);
          },
        }),
      ),
    );
    expect(message).toMatch(/expire with the callback: PROTOCOL_VIOLATION: .*the handle of state 'count'/);
  });

  test('never comes to rest', async () => {
    const message = await failureOf((readings) =>
      custom(readings, (context) => {
        const busy = (): void => {
          if (!context.signal.aborted) context.clock.nextTurn(busy);
        };
        return {
          connect: (source) => source,
          open: busy,
        };
      }),
    );
    expect(message).toMatch(/^The operator fails item by item: SOURCE_FAILED: .*still busy after 10000 turns/);
  });

  test('fails a comparison of the caller, and says in which run', async () => {
    const checking = checkOperator((readings) => readings.pipe(map(({ value }) => value)), {
      input,
      compare(actual) {
        if (actual.length > 3) throw new Error('too many');
      },
    });
    await expect(checking).rejects.toThrow('The output of the operator differs all at once: too many');
  });
});

test('checkOperator takes no plugins that cannot take checkpoints', async () => {
  const checking = checkOperator((readings) => readings, { input, plugins: [] });
  await expect(checking).rejects.toThrow(
    /PLUGIN_MISSING: checkOperator needs checkpoints, .*npm i -D @weir\/coordinator/,
  );
});
