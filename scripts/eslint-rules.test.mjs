import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, test } from 'vitest';
import { determinism, namedExports } from '../eslint.rules.js';

const eslint = new ESLint({
  overrideConfigFile: true,
  overrideConfig: [
    { files: ['**/*.ts'], languageOptions: { parser: tseslint.parser, globals: { setTimeout: 'readonly' } } },
    namedExports,
    determinism,
  ],
});

const rulesBroken = async (code, filePath = 'packages/core/src/time/a.ts') => {
  const results = await eslint.lintText(code, { filePath });
  return results.flatMap((result) => result.messages.map((m) => m.ruleId ?? m.message));
};

test.each([
  ['Date.now();', 'no-restricted-properties'],
  ['Math.random();', 'no-restricted-properties'],
  ['const { random } = Math;', 'no-restricted-properties'],
  ['performance.now();', 'no-restricted-properties'],
  ['crypto.randomUUID();', 'no-restricted-properties'],
  ['globalThis.setTimeout(f);', 'no-restricted-properties'],
  ['setTimeout(f);', 'no-restricted-globals'],
  ['setInterval(f);', 'no-restricted-globals'],
  ['setImmediate(f);', 'no-restricted-globals'],
  ['new Date();', 'no-restricted-syntax'],
  ["import { setTimeout as sleep } from 'node:timers/promises';", 'no-restricted-imports'],
  ["import { performance as p } from 'node:perf_hooks';", 'no-restricted-imports'],
  ["import { randomUUID } from 'node:crypto';", 'no-restricted-imports'],
  ['export default 1;', 'no-restricted-syntax'],
  ["export * from 'rxjs';", 'no-restricted-syntax'],
])('%s breaks %s in package sources', async (code, rule) => {
  expect(await rulesBroken(code)).toEqual([rule]);
});

test.each([
  ['Date.now(); setTimeout(f); Math.random();', 'packages/core/src/host/adapters/clock.ts'],
  ['Date.now(); setTimeout(f); Math.random();', 'packages/core/test/a.test.ts'],
  ['new Date(0); clock.setTimeout(f); class A { setTimeout() {} }', 'packages/core/src/time/a.ts'],
  ["export * from './a.js';", 'packages/core/src/index.ts'],
])('%s is fine in %s', async (code, filePath) => {
  expect(await rulesBroken(code, filePath)).toEqual([]);
});
