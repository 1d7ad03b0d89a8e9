import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { batch } from '../../src/element/element.js';
import type { Emit } from '../../src/operator/key-context.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { aggregatingState, reducingState, valueState, type States } from '../../src/state/descriptors.js';
import { OperatorBench } from '../support/operator-bench.js';

interface Mean {
  sum: number;
  count: number;
}
const STATE = {
  largest: reducingState<number>({ reduce: Math.max }),
  mean: aggregatingState<number, Mean, number>({
    create: () => ({ sum: 0, count: 0 }),
    add(mean, value) {
      mean.sum += value;
      mean.count++;
      return mean;
    },
    result: ({ sum, count }) => sum / count,
  }),
};
/** -1 forgets. */
const make = (context: OperatorContext): Operator =>
  keyedProcessOperator<number, number, typeof STATE, readonly unknown[]>(context, {
    keyOf: (n) => n % 2,
    state: STATE,
    onRecord(n, { state: { largest, mean } }, emit) {
      for (const state of [largest, mean]) {
        if (n < 0) state.clear();
        else state.add(n);
      }
      emit([largest.value(), mean.value()]);
    },
  });

describe('reducing and aggregating state', () => {
  property.prop([fc.array(fc.integer({ min: -1, max: 20 }), { maxLength: 20 }), fc.nat({ max: 20 })])(
    'give what folding all values of a key gives, also over a restore',
    async (values, at) => {
      const before = await OperatorBench.open(make);
      before.send(batch(values.slice(0, at)));
      const after = await OperatorBench.open(make, { restore: await before.snapshot() });
      after.send(batch(values.slice(at)));
      const kept = new Map<number, number[]>();
      const expected = values.map((n) => {
        const of = n < 0 ? [] : [...(kept.get(n % 2) ?? []), n];
        kept.set(n % 2, of);
        return of.length === 0
          ? [undefined, undefined]
          : [Math.max(...of), of.reduce((sum, each) => sum + each, 0) / of.length];
      });
      expect([...before.records, ...after.records]).toEqual(expected);
    },
  );

  test('are stored under their own kinds', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(batch([4]));
    const [operator] = await bench.snapshot();
    expect(operator?.keyed.flatMap(({ states }) => states.map(({ name, kind }) => [name, kind]))).toEqual([
      ['largest', 'reducing'],
      ['mean', 'aggregating'],
    ]);
  });

  test.each<[string, States, States]>([
    ['value as reducing', { x: valueState<number>() }, { x: STATE.largest }],
    ['reducing as value', { x: STATE.largest }, { x: valueState<number>() }],
    ['reducing as aggregating', { x: STATE.largest }, { x: STATE.mean }],
  ])('are not taken for another kind on a restore: %s', async (_what, stored, declared) => {
    const operator =
      (state: States) =>
      (context: OperatorContext): Operator =>
        keyedProcessOperator<number, number, States, never>(context, {
          keyOf: (n) => n,
          state,
          onRecord(n, { state: { x } }) {
            const written = x as { add?(n: number): void; update?(n: number): void };
            written.add?.(n);
            written.update?.(n);
          },
        });
    const before = await OperatorBench.open(operator(stored));
    before.send(batch([1]));
    const restore = await before.snapshot();
    await expect(OperatorBench.open(operator(declared), { restore })).rejects.toThrow(
      /CHECKPOINT_INCOMPATIBLE: State 'x' of operator 'operator'.*was stored as .* state and is declared as/,
    );
  });
});

test('a state that is used for the first time tells of no value', async () => {
  const bench = await OperatorBench.open((context) =>
    keyedProcessOperator<number, number, typeof STATE, unknown>(context, {
      keyOf: (n) => n,
      state: STATE,
      onRecord(_n, { state }, emit: Emit<unknown>) {
        emit([state.largest.value(), state.mean.value()]);
      },
    }),
  );
  bench.send(batch([1]));
  expect(bench.records).toEqual([[undefined, undefined]]);
});
