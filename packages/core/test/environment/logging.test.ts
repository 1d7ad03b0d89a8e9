import { expect, test } from 'vitest';
import { defaultLogger } from '../../src/environment/logging.js';

test('an environment without a logger logs warnings and errors, and nothing below', () => {
  const lines: string[] = [];
  const logger = defaultLogger({ write: (line) => void lines.push(line) });
  const child = logger.child({ job: 'orders' });
  for (const level of ['debug', 'info', 'warn', 'error'] as const) child[level]({ checkpoint: 3 }, `at ${level}`);
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ name: 'weir', job: 'orders', checkpoint: 3, msg: 'at warn' }),
    expect.objectContaining({ name: 'weir', job: 'orders', checkpoint: 3, msg: 'at error' }),
  ]);
});
