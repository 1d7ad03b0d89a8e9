import { describe, expect, test } from 'vitest';
import { batch } from '../../src/element/element.js';
import type { Key } from '../../src/element/key.js';
import type { KeyType } from '../../src/element/key-type.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { valueState } from '../../src/state/descriptors.js';
import { OperatorBench } from '../support/operator-bench.js';

const counting =
  (keyTypes?: readonly KeyType[]) =>
  (context: OperatorContext): Operator =>
    keyedProcessOperator<Key, Key, { readonly count: ReturnType<typeof valueState<number>> }, number>(context, {
      keyOf: (key) => key,
      keyTypes,
      state: { count: valueState<number>() },
      onRecord(_key, { state: { count } }, emit) {
        count.update((count.value() ?? 0) + 1);
        emit(count.value() ?? 0);
      },
    });

/** What the first records get that come behind a restore of a state with `stored` keys. */
async function after(stored: readonly Key[], records: readonly Key[], keyTypes?: readonly KeyType[]): Promise<unknown> {
  const before = await OperatorBench.open(counting());
  before.send(batch(stored));
  const bench = await OperatorBench.open(counting(keyTypes), { restore: await before.snapshot() });
  bench.send(batch([]));
  bench.send(batch(records));
  if (bench.errors.length > 0) throw bench.errors[0] as Error;
  return bench.records;
}

describe('the type of keys', () => {
  test.each<[string, readonly Key[], Key]>([
    ['strings, and now numbers', ['7'], 7],
    ['numbers, and now strings', [7, 8], '7'],
    ['numbers, and now bigints', [7], 7n],
    ['arrays, and now strings', [[7, 'x']], 'x'],
    ['booleans, and now numbers', [true], 1],
  ])('has changed where they were %s: refused with the first batch', async (_what, stored, now) => {
    await expect(after(stored, [now, now])).rejects.toMatchObject({ code: 'KEY_TYPE_CHANGED', recoverable: false });
  });

  test('is what it was where one of the first keys is of a type that is stored', async () => {
    expect(await after(['7'], ['7'])).toEqual([2]);
    expect(await after(['7'], [7, '7'])).toEqual([1, 2]);
    expect(await after(['7', 8], ['7'])).toEqual([2]);
  });

  test('that is declared is required of all that is stored, before any record', async () => {
    const before = await OperatorBench.open(counting());
    before.send(batch(['a']));
    const restore = await before.snapshot();
    await expect(OperatorBench.open(counting(['number', 'bigint']), { restore })).rejects.toThrow(
      /KEY_TYPE_CHANGED: The restored state of operator operator has keys of type string, and keyBy declares keys of type number or bigint/,
    );
    expect(await after(['a'], [7], ['string', 'number'])).toEqual([1]);
  });

  test('is known of every checkpoint behind a restore as well, whatever has come since', async () => {
    const first = await OperatorBench.open(counting());
    first.send(batch(['a', 7, [1]]));
    const second = await OperatorBench.open(counting(), { restore: await first.snapshot() });
    second.send(batch([8]));
    expect((await second.snapshot())[0]?.keyTypes).toEqual(['string', 'number', 'array']);
  });

  test('is not told where no keyed state is written', async () => {
    const bench = await OperatorBench.open(counting());
    expect(await bench.snapshot()).toEqual([]);
  });

  test('of what nobody has noted is not compared with anything', async () => {
    const before = await OperatorBench.open(counting());
    before.send(batch(['a']));
    const restore = (await before.snapshot()).map((operator) => ({ ...operator, keyTypes: undefined }));
    const bench = await OperatorBench.open(counting(['number']), { restore });
    bench.send(batch([7]));
    expect(bench.records).toEqual([1]);
  });
});
