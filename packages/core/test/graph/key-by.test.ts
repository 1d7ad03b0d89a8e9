import { expect, test } from 'vitest';
import { createEnvironment } from '../../src/index.js';
import { keyBy, keyedProcess, union, type Emit } from '../../src/operators.js';
import { SILENT } from '../../src/contracts/logger.js';
import type { Key } from '../../src/element/key.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

/** Counts records by a key that may be none, as a program in JavaScript could. */
async function countBy(key: unknown, parallelism: number): Promise<readonly Key[]> {
  const env = createEnvironment({ logger: SILENT, parallelism });
  const keys: Key[] = [];
  env
    .from(splitSource([[1]]), { uid: 'numbers' })
    .pipe(
      keyBy(() => key as Key),
      keyedProcess({
        uid: 'by-key',
        onRecord: (_record, context, emit: Emit<Key>) => {
          emit(context.key);
        },
      }),
    )
    .to(slowSink(keys, () => false));
  await env.execute('count');
  return keys;
}

test.each([
  ['undefined', undefined],
  ['null', null],
  ['NaN', NaN],
  ['an object (Object)', {}],
  ['an object (String)', Object('a')],
  ['a symbol', Symbol('a')],
  ['NaN inside an array', ['a', NaN]],
])('a job ends at a key that is %s, whatever its parallelism', async (what, key) => {
  for (const parallelism of [1, 2]) {
    await expect(countBy(key, parallelism)).rejects.toMatchObject({
      code: 'KEY_INVALID',
      recoverable: false,
      message: expect.stringContaining(`keyBy behind source "numbers" was given ${what} as a key`) as string,
    });
  }
});

test('every kind of key finds its way', async () => {
  for (const key of ['a', '', 0, -1.5, 10n ** 30n, false, ['a', [1, 2n]]]) {
    expect(await countBy(key, 1)).toEqual([key]);
    expect(await countBy(key, 2)).toEqual([key]);
  }
});

test('the refusal names every stream that was united before', async () => {
  const env = createEnvironment({ logger: SILENT });
  const first = env.from(splitSource([[1]]), { uid: 'first' });
  first
    .pipe(
      union(env.from(splitSource([[1]]))),
      keyBy(() => NaN),
      keyedProcess({ onRecord: (_record, _context, _emit: Emit<never>) => undefined }),
    )
    .to(slowSink<never>([], () => false));
  await expect(env.execute('count')).rejects.toThrow('keyBy behind source "first", source "number 1" was given NaN');
});
