import { keyBy, map, scan } from '@weir/core/operators';
import { expectTypeOf, test } from 'vitest';
import { checkOperator, crash, runOperator } from '../../src/index.js';

test('records are what is left of a script without its crashes', () => {
  const run = runOperator([1, 2, crash(), 3], (s) =>
    s.pipe(
      keyBy((n) => n % 2),
      scan(
        (a, n) => a + n,
        () => 0,
      ),
    ),
  );
  expectTypeOf(run).toEqualTypeOf<Promise<readonly number[]>>();
  expectTypeOf(runOperator(['a', crash()], (s) => s.pipe(map((text) => text.length)))).toEqualTypeOf<
    Promise<readonly number[]>
  >();
});

test('input and expected output are of the types that the operator takes and gives', () => {
  const lengths = checkOperator((s) => s.pipe(map((text) => text.length)), { input: ['a'], expected: [1] });
  expectTypeOf(lengths).toEqualTypeOf<Promise<readonly string[]>>();
  // @ts-expect-error lengths are numbers
  void checkOperator((s) => s.pipe(map((text) => text.length)), { input: ['a'], expected: ['1'] });
});
