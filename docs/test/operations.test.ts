import { expect, test } from 'vitest';
import { filesBelow, textOf } from './support/pages.js';

/** First columns of the table between `<!-- name -->` and `<!-- end -->`. */
function table(name: string): string[][] {
  const text = textOf('docs/operations.md').split(`<!-- ${name} -->`)[1]?.split('<!-- end -->')[0] ?? '';
  return [...text.matchAll(/^\| `([^`]+)` +\| (\w*)/gm)].map(([, first = '', second = '']) => [first, second]);
}

const sources = filesBelow('packages').filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file));

test('lists every event', () => {
  const contract = textOf('packages/core/src/contracts/job-events.ts').split('export type JobEvent =')[1] ?? '';
  const kinds = [...contract.matchAll(/readonly kind: '([\w-]+)'/g)].map(([, kind]) => kind);
  expect(table('events').map(([kind]) => kind)).toEqual(expect.arrayContaining(kinds));
  expect(table('events')).toHaveLength(kinds.length);
});

test('lists every reason for which a checkpoint is aborted, and whether it counts', () => {
  const reasons = [...textOf('packages/coordinator/src/abort.ts').matchAll(/^ {2}([A-Z_]+): \{ counts: (\w+)/gm)];
  expect(reasons.length).toBeGreaterThan(0);
  expect(table('abort reasons')).toEqual(
    reasons.map(([, reason, counts]) => [reason, counts === 'true' ? 'yes' : 'no']),
  );
});

test('lists every metric', () => {
  const reported = sources.flatMap((file) =>
    [...textOf(file).matchAll(/etrics\.(counter|histogram|gauge)\(\s*'([^']+)'/g)].map(([, kind = '', name = '']) => [
      name,
      kind,
    ]),
  );
  expect(table('metrics').sort()).toEqual(reported.sort());
});
