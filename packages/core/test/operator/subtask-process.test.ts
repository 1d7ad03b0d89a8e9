import { describe, expect, test } from 'vitest';
import { batch } from '../../src/element/element.js';
import type { Emit } from '../../src/operator/key-context.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { subtaskProcessOperator, type SubtaskContext } from '../../src/operator/subtask-process.js';
import {
  broadcastState,
  operatorListState,
  unionListState,
  type OperatorStates,
} from '../../src/state/operator-state-descriptors.js';
import { OperatorBench } from '../support/operator-bench.js';

const STATE = {
  held: operatorListState<string>(),
  seen: unionListState<number>(),
  rules: broadcastState<readonly [string, number], { readonly text: string }>(),
};
type State = typeof STATE;

/** Holds two words back, counts them, and files each under its length. */
const make = (context: OperatorContext): Operator =>
  subtaskProcessOperator<string, State, string>(context, {
    state: STATE,
    onRecord(word, { state: { held, seen, rules } }, emit) {
      held.add(word);
      seen.replace([seen.values().length === 0 ? 1 : (seen.values()[0] as number) + 1]);
      rules.set(['length', word.length], { text: word });
      if (held.values().length < 3) return;
      emit(held.values().join(' '));
      held.clear();
    },
    onEnd({ state: { held, seen, rules } }, emit) {
      emit(
        `${held.values().join(' ')} of ${String(seen.values())}: ${[...rules.entries()].map(([[, n], { text }]) => `${String(n)} ${text}`).join(', ')}`,
      );
    },
  });

describe('the state of a subtask', () => {
  test('goes on after a restore where it was: lists, union lists and maps', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(batch(['a', 'bb', 'c', 'dd', 'eee']));
    expect(bench.records).toEqual(['a bb c']);
    const restored = await OperatorBench.open(make, { restore: await bench.snapshot() });
    restored.send(batch(['ff']));
    await restored.operator.finish?.();
    expect(restored.records).toEqual(['dd eee ff', ' of 6: 1 c, 2 ff, 3 eee']);
  });

  test('is in a snapshot as it was, whatever becomes of it meanwhile, and says how it is dealt out', async () => {
    const bench = await OperatorBench.open(make);
    bench.send(batch(['a']));
    const snapshot = await bench.snapshot();
    bench.send(batch(['b', 'c']));
    expect(snapshot[0]?.operator.map(({ name, mode, count }) => [name, mode, count])).toEqual([
      ['held', 'list', 1],
      ['seen', 'union', 1],
      ['rules', 'broadcast', 1],
    ]);
    const restored = await OperatorBench.open(make, { restore: snapshot });
    restored.send(batch(['x', 'y']));
    expect(restored.records).toEqual(['a x y']);
  });

  test.each([
    ['is not declared any more', {}, /state 'held' of operator 'operator'.*not declare any more/],
    [
      'is dealt out in another way',
      { ...STATE, held: unionListState<string>() },
      /stored as list state and is declared as union/,
    ],
  ])('is refused on a restore where it %s', async (_what, state, message) => {
    const bench = await OperatorBench.open(make);
    bench.send(batch(['a']));
    const restore = await bench.snapshot();
    const other = (context: OperatorContext): Operator =>
      subtaskProcessOperator<string, OperatorStates, string>(context, { state, onRecord: () => undefined });
    await expect(OperatorBench.open(other, { restore })).rejects.toThrow(message);
  });

  test('names operator and state in what it cannot store', async () => {
    const bench = await OperatorBench.open((context) =>
      subtaskProcessOperator(context, {
        state: { calls: operatorListState<() => void>() },
        onRecord: (_word, { state }: SubtaskContext<{ calls: ReturnType<typeof operatorListState<() => void>> }>) => {
          state.calls.add(() => undefined);
        },
      }),
    );
    bench.send(batch(['a']));
    await expect(bench.snapshot()).rejects.toThrow(/VALUE_NOT_SERIALIZABLE.*state 'calls' of operator 'operator'/);
  });
});

test('records keep their event time, and what is held back to the end has none', async () => {
  const bench = await OperatorBench.open((context) =>
    subtaskProcessOperator(context, {
      state: {},
      onRecord: (n: number, { timestamp, subtask, parallelism }, emit: Emit<string>) => {
        emit(`${String(n)} at ${String(timestamp)} in ${String(subtask)}/${String(parallelism)}`);
      },
      onEnd: ({ timestamp }, emit) => {
        emit(`end at ${String(timestamp)}`);
      },
    }),
  );
  bench.send({ kind: 'batch', records: [1, 2], timestamps: [10, 20] });
  await bench.operator.finish?.();
  expect(bench.records).toEqual(['1 at 10 in 0/1', '2 at 20 in 0/1', 'end at undefined']);
  expect(bench.out[0]).toMatchObject({ timestamps: [10, 20] });
});
