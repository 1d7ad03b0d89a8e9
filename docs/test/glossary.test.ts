import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { filesBelow, PAGES, proseOf, textOf } from './support/pages.js';

const table = /<!-- words to avoid -->([^]*)<!-- end -->/.exec(textOf('docs/glossary.md'))?.[1] ?? '';
const words = [...table.matchAll(/^\| ([a-z ]+?) +\| /gm)]
  .map(([, word = '']) => word)
  .filter((word) => word !== 'not');

/** The word and its plural, with any white space or a hyphen in it; a worker thread is one. */
const avoided = new RegExp(
  `\\b(?:${words.map((word) => word.replace(' ', '[\\s-]')).join('|')})s?\\b(?!\\sthreads?)`,
  'gi',
);

test('the glossary has words to avoid', () => {
  expect(words.length).toBeGreaterThan(10);
  expect('a task, two Workers, rolling, a worker thread'.match(avoided)).toEqual(['task', 'Workers']);
});

describe('only words of the glossary', () => {
  test.each(PAGES)('in %s', (page) => {
    const prose = proseOf(textOf(page).replace(table, '')).replace(/`[^`]*`/g, '');
    expect(prose.match(avoided)).toBeNull();
  });

  test('in texts of errors, logs and descriptions', () => {
    const sources = filesBelow('packages').filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file));
    const found = sources.flatMap((file) =>
      sentencesIn(file, textOf(file))
        .filter((text) => text.search(avoided) !== -1)
        .map((text) => `${file}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

/** String literals that hold more than one word, and so are read by people; without what is quoted in them. */
function sentencesIn(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /\w \w/.test(node.text)) found.push(node.text.replace(/`[^`]*`/g, ''));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return found;
}
