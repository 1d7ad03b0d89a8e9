import { AssertionError } from 'node:assert/strict';
import type { PluginList } from '@weir/core';
import { messageOf } from '@weir/core/contracts';
import type { Stream } from '@weir/core/operators';
import { requireCheckpoints } from '../crash-script/given-plugins.js';
import { runScript } from '../crash-script/run-script.js';
import type { TimeMark } from '../crash-script/time-marks.js';
import { differenceOf, textOf } from '../exactly-once.js';
import { crashesOneByOne, scenarios, type Scenario } from './scenarios.js';
import { watchOperators } from './watched-operator.js';

export interface CheckOperatorOptions<A, B> {
  /** Frozen, with everything in it. `watermark()` and `elapse()` between records let time pass, and timers be called, in every run alike. */
  readonly input: readonly (A | TimeMark)[];
  /** Event time of a record. */
  readonly timestampOf?: ((record: A) => number) | undefined;
  /** Default: what the first run gives, all records at once. */
  readonly expected?: readonly B[] | undefined;
  /**
   * At least a coordinator and a checkpoint storage (PLUGIN_MISSING otherwise); without a state backend the reference one is used. Left out
   * altogether: only the runs without checkpoints and crashes are made.
   */
  readonly plugins?: PluginList | undefined;
  /**
   * `in-order` (default): the same records in the same order; where subtasks run side by side, in any. `in-any-order`: for
   * operators that merge streams. A function fails by throwing.
   */
  readonly compare?: 'in-order' | 'in-any-order' | ((actual: readonly B[], expected: readonly B[]) => void) | undefined;
}

/**
 * Proves an operator, or several in a row, by running one input in every way that must make no difference: all at once, item by item, with slow
 * output, with state that expires, with checkpoints and crashes between any two records (with and without records to read again, before any
 * checkpoint, two in a row), at parallelism 1, 2 and 4, and restored from one parallelism into another. Returns the names of the runs. Each run is a
 * real job. Where one with crashes fails, each crash is tried by itself, to say where.
 *
 * Rejects at the first run that fails or gives other output, and names it. Records are frozen, so an operator that changes one fails; so does one
 * that emits outside of its callbacks, or keeps a value of its state beyond the callback. `build` is called for each run, and again for each process
 * of it, so it must not remember anything.
 * (After Hazelcast Jet's TestSupport.)
 */
export async function checkOperator<A, B>(
  build: (stream: Stream<A, 'replayable'>) => Stream<B>,
  { input, expected, plugins, compare = 'in-order', timestampOf }: CheckOperatorOptions<A, B>,
): Promise<readonly string[]> {
  if (plugins !== undefined) requireCheckpoints(plugins, 'checkOperator');
  const matrix = scenarios(input.length, plugins !== undefined);
  let wanted = expected;
  const run = async (scenario: Scenario): Promise<void> => {
    const actual = await outputOf(scenario, build, input, plugins ?? [], timestampOf);
    wanted ??= actual;
    requireSame(actual, wanted, scenario, compare);
  };
  for (const scenario of matrix) {
    try {
      await run(scenario);
    } catch (error) {
      if (scenario.markers.some(({ kind }) => kind === 'crash'))
        for (const one of crashesOneByOne(input.length)) await run(one);
      throw error;
    }
  }
  return matrix.map(({ name }) => name);
}

async function outputOf<A, B>(
  { name, pace, markers, parallelism, output, state }: Scenario,
  build: (stream: Stream<A, 'replayable'>) => Stream<B>,
  records: readonly (A | TimeMark)[],
  plugins: PluginList,
  timestampOf: ((record: A) => number) | undefined,
): Promise<readonly B[]> {
  try {
    return await runScript({ records, markers, pace }, build, {
      plugins,
      parallelism,
      output,
      timestampOf,
      look: (stream) => {
        watchOperators(stream, { flow: output === 'slow' ? 'closing' : 'as-it-is', state });
      },
    });
  } catch (error) {
    throw new Error(`The operator fails ${name}: ${messageOf(error)}`, { cause: error });
  }
}

function requireSame<B>(
  actual: readonly B[],
  expected: readonly B[],
  { name, parallelism }: Scenario,
  compare: NonNullable<CheckOperatorOptions<never, B>['compare']>,
): void {
  const difference =
    typeof compare === 'function'
      ? thrownBy(() => {
          compare(actual, expected);
        })
      : (differenceOf(actual, expected) ??
        (compare === 'in-order' && parallelism.every((width) => width === 1)
          ? disorderOf(actual, expected)
          : undefined));
  if (difference === undefined) return;
  throw new AssertionError({
    message: `The output of the operator differs ${name}: ${difference}`,
    actual,
    expected,
    operator: 'checkOperator',
  });
}

function thrownBy(compare: () => void): string | undefined {
  try {
    compare();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Both hold the same records. */
function disorderOf(actual: readonly unknown[], expected: readonly unknown[]): string | undefined {
  const at = expected.findIndex((record, i) => textOf(record) !== textOf(actual[i]));
  if (at < 0) return undefined;
  return `the same records in another order, record ${String(at + 1)} is ${textOf(actual[at])} and should be ${textOf(expected[at])}`;
}
