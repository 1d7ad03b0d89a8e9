import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeWithoutFile, examplesIn, withExamples } from './support/examples.js';
import { exists, filesBelow, PAGES, ROOT, textOf } from './support/pages.js';
import { withFigures } from './support/figures.js';
import { anchorsOf, linksOf } from './support/links.js';

describe.each(PAGES)('%s', (page) => {
  test('shows code as it is in the file that is compiled and run (vitest -u puts it in)', async () => {
    const text = textOf(page);
    expect(codeWithoutFile(text), 'blocks of code without <!-- docs/….ts --> before them').toBe(0);
    expect(examplesIn(text).filter((file) => !exists(file))).toEqual([]);
    await expect(withExamples(text)).toMatchFileSnapshot(path.join(ROOT, page));
  });

  test('shows figures as the newest measurement of each has them (vitest -u puts them in)', async () => {
    await expect(withFigures(textOf(page))).toMatchFileSnapshot(path.join(ROOT, page));
  });

  test('links to what exists', () => {
    const broken = linksOf(textOf(page)).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.posix.join(path.posix.dirname(page), file);
      if (!exists(target)) return true;
      return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

const PACKAGE_READMES = PAGES.filter((page) => /^packages\/[^/]+\/README\.md$/.test(page));

test.each(PACKAGE_READMES)('%s has installed what its examples import', (page) => {
  const text = textOf(page);
  const installed = [...text.matchAll(/^npm i (.+)$/gm)].flatMap(([, names = '']) => names.split(' '));
  const imported = examplesIn(text)
    .map(textOf)
    // One that stands on other examples is for those who have them.
    .filter((code) => !/ from '\.\.?\//.test(code))
    .flatMap((code) => [...code.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)].map(([, name = '']) => name))
    .filter((name) => !name.startsWith('node:'));
  expect([...new Set(imported)].filter((name) => !installed.includes(name))).toEqual([]);
});

test('every example is shown on a page', () => {
  const shown = new Set(PAGES.flatMap((page) => examplesIn(textOf(page))));
  expect(filesBelow('docs/examples').filter((file) => !shown.has(file))).toEqual([]);
});
