import { describe, expect, test } from 'vitest';
import { exists, filesBelow, PAGES, proseOf, textOf } from './support/pages.js';

/** Names on pages that are not weir's: of Node, TypeScript, Flink, RxJS, tools; and what a reader is to put something in place of. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...[
    'ERR_REQUIRE_ESM',
    'NODE_OPTIONS',
    'experimental',
    'Dynamic',
    'node10',
    'node16',
    'node18',
    'node20',
    'TS1479',
    'TS2307',
  ],
  ...['ThrowEveryHundredth', 'RestartStrategies', 'fallBackRestart', 'LEGACY', 'NeverReturnExpired', 'exactly_once'],
  ...['defer', 'PROPERTY_RUNS', 'Corruption', 'Invalid', 'money', 'opts', 'T00', 'AQI', 'ESTALE'],
]);

const IN_CODE = /\.(ts|mjs|cc|h)$|(package|tsconfig[.\w]*)\.json$/;
const FOLDERS =
  /^(packages\/[^/]+\/(src|native\/src|native\/[^/]+|package\.json)|examples|e2e\/src|benchmarks|docs\/examples|scripts|package\.json)/;
const files = filesBelow('.');
const sources = files.filter((file) => FOLDERS.test(file) && IN_CODE.test(file)).map(textOf);
/** Every name that code has, or a file. */
const names: ReadonlySet<string> = new Set([...sources, ...files].join('\n').match(/[A-Za-z_$][\w$]*/g));
const metrics = new Set(
  sources.flatMap((text) => [...text.matchAll(/etrics\.(?:counter|histogram|gauge)\(\s*'([^']+)'/g)].map(([, m]) => m)),
);

/** What a page says in the type of code, within a sentence. */
const codeOf = (page: string): string[] => [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

describe.each(PAGES)('%s', (page) => {
  const code = codeOf(textOf(page));

  test('names nothing that does not exist', () => {
    const unknown = code.flatMap((piece) =>
      (piece.match(/[A-Za-z_$][\w$]*/g) ?? []).filter(
        (name) => name.length > 2 && !names.has(name) && !OF_OTHERS.has(name),
      ),
    );
    expect(unknown).toEqual([]);
  });

  test('speaks of metrics that are reported', () => {
    const said = code.filter((piece) =>
      /^weir\.(checkpoint|calls|source|sink|restore|observer|subtask)\.\w+$/.test(piece),
    );
    expect(said.filter((name) => !metrics.has(name))).toEqual([]);
  });

  test('speaks of files that are there', () => {
    const said = code.filter((piece) =>
      /^(src|test|docs|packages|e2e|examples|benchmarks)\/[\w/.-]+\.\w+$/.test(piece),
    );
    const home = /^packages\/[^/]+\//.exec(page)?.[0] ?? '';
    expect(said.filter((file) => !exists(home + file) && !exists(file))).toEqual([]);
  });
});

test('names of others are not listed for longer than a page has them', () => {
  const said = new Set(
    PAGES.flatMap(
      (page) =>
        codeOf(textOf(page))
          .join('\n')
          .match(/[A-Za-z_$][\w$]*/g) ?? [],
    ),
  );
  expect([...OF_OTHERS].filter((name) => !said.has(name) || names.has(name))).toEqual([]);
});
