import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkChangesets } from './check-changesets.mjs';

let root;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'weir-changesets-'));
  mkdirSync(path.join(root, '.changeset'));
  mkdirSync(path.join(root, 'packages/core'), { recursive: true });
  writeFileSync(path.join(root, 'packages/core/package.json'), JSON.stringify({ name: '@weir/core' }));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const changeset = (text) => writeFileSync(path.join(root, '.changeset/a.md'), text);

test('accepts a changeset that names a published package and says something', () => {
  changeset("---\n'@weir/core': minor\n---\n\nSavepoints can be restored at another parallelism.\n");
  expect(checkChangesets(root, ['packages/core/src/a.ts', '.changeset/a.md'])).toEqual([]);
});

test.each([
  ['no front matter', 'text', '.changeset/a.md: has no front matter'],
  [
    'an unknown package',
    "---\n'@weir/e2e': patch\n---\n\nx\n",
    ".changeset/a.md: ''@weir/e2e': patch' does not name a published package",
  ],
  [
    'an unknown bump',
    "---\n'@weir/core': tiny\n---\n\nx\n",
    ".changeset/a.md: ''@weir/core': tiny' is not major, minor or patch",
  ],
  ['no summary', "---\n'@weir/core': patch\n---\n\n", '.changeset/a.md: has no summary'],
])('reports %s', (_title, text, problem) => {
  changeset(text);
  expect(checkChangesets(root, [])).toEqual([problem]);
});

test('asks for a changeset when sources differ from main', () => {
  expect(checkChangesets(root, ['packages/core/src/a.ts'])).toEqual([
    'packages/core/src/a.ts differs from main and no changeset says why: npx changeset',
  ]);
  expect(checkChangesets(root, ['packages/core/test/a.test.ts', 'README.md'])).toEqual([]);
});
