import { expect, test } from 'vitest';
import { textOf } from './support/pages.js';

/** Rows of the table on the page: call, default in seconds, bound. */
function onThePage(): string[][] {
  const table = textOf('docs/timeouts.md').split('<!-- calls -->')[1]?.split('<!-- end -->')[0] ?? '';
  return [...table.matchAll(/^\| `([\w.]+)` +\| ([^|]+?) +\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].map((row) => row.slice(1));
}

test('the table of calls is that of the code, with its defaults, and says what follows', () => {
  const keys = textOf('packages/core/src/environment/supported-keys.ts');
  const seconds = (contract: string): number => {
    const [, ms = ''] =
      new RegExp(`'weir.call-timeout.${contract}': \\{[^}]*\\}[^}]*?default: ([\\d_]+)`).exec(keys) ?? [];
    return Number(ms.replaceAll('_', '')) / 1000;
  };
  const calls = textOf('packages/core/src/bounds/calls.ts').matchAll(
    /^ {2}'([\w.]+)': \{ contract: '(\w+)', bound: '([\w ]+)' \},$/gm,
  );
  const inTheCode = [...calls].map(([, call = '', contract = '', bound = '']) => {
    const time = seconds(contract) / (bound === 'closing' ? 4 : 1);
    return [call, bound === 'none' ? 'none' : `${String(time)} s`, bound];
  });
  expect(inTheCode.length).toBeGreaterThan(30);
  expect(onThePage().map((row) => row.slice(0, 3))).toEqual(inTheCode);
  for (const [, , , follows = ''] of onThePage()) expect(follows).not.toBe('');
});
