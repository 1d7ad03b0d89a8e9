import path from 'node:path';
import { expect, test } from 'vitest';
import { SCENARIOS } from './scenario-list.mjs';
import { coverage, report, titlesIn } from './scenarios.mjs';

const title = (text, file = 'packages/core/test/a.test.ts') => ({ file, text });

test('a scenario is tested where every one of its names is in some title, whole', () => {
  const scenario = { of: 'Some', names: ['testOne', 'testOther'], about: 'things' };
  const missing = (...texts) =>
    coverage(
      [scenario],
      texts.map((text) => title(text)),
    )[0].missing;
  expect(missing('testOne: does one', 'does testOther')).toEqual([]);
  expect(missing('testOne: does one', 'testOthers')).toEqual(['testOther']);
  expect(missing('mytestOne', 'testOther')).toEqual(['testOne']);
});

test('a scenario with neither a test nor a reason is a problem, and so is a reason for one that is tested', () => {
  const of = 'Some';
  const scenarios = [
    { of, names: ['testOne'], about: 'one' },
    { of, names: ['testOther'], about: 'other', without: 'there is none' },
    { of, title: 'never both', about: 'a rule' },
  ];
  const { lines, problems } = report(coverage(scenarios, []));
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['MISSING', 'untested', 'MISSING']);
  expect(problems).toHaveLength(2);
  expect(report(coverage(scenarios.slice(1, 2), [title('testOther')])).problems).toHaveLength(1);
});

test('the same name in the tests of another class does not count', () => {
  const scenario = { of: 'Some', in: 'counting', names: ['testOne'], about: 'one' };
  expect(coverage([scenario], [title('testOne')])[0].missing).toEqual(['testOne']);
  expect(coverage([scenario], [title('testOne', 'a/counting.test.ts')])[0].missing).toEqual([]);
});

test('titles are found in tests, and comments are not', () => {
  const titles = titlesIn(path.resolve(import.meta.dirname, '..'));
  expect(titles.length).toBeGreaterThan(1000);
  expect(titles.some(({ text }) => text.startsWith('testPeriodicTriggering'))).toBe(true);
  expect(titles.some(({ text }) => text.includes('Source tests:'))).toBe(false);
});

test('every scenario says what it is about, once', () => {
  const names = SCENARIOS.map(({ of, names: all, title: one }) => `${of}: ${(all ?? [one]).join()}`);
  expect(new Set(names).size).toBe(names.length);
  for (const { about } of SCENARIOS) expect(about).toMatch(/^.{10,}$/);
});
