import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkManifests, unsetPlaces } from './check-manifests.mjs';

const ROOT = {
  license: 'MIT',
  homepage: 'https://code.test/weir',
  repository: { type: 'git', url: 'git+https://code.test/weir.git' },
  bugs: 'https://code.test/weir/issues',
};
const CORE = {
  ...ROOT,
  description: 'a package',
  keywords: ['a', 'b', 'c'],
  homepage: 'https://code.test/weir/tree/main/packages/core',
  repository: { ...ROOT.repository, directory: 'packages/core' },
};

let root;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'weir-manifests-'));
  mkdirSync(path.join(root, 'packages/core'), { recursive: true });
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function manifests(rootManifest, core) {
  writeFileSync(path.join(root, 'package.json'), JSON.stringify(rootManifest));
  writeFileSync(path.join(root, 'packages/core/package.json'), JSON.stringify(core));
}

test('accepts a package that says where its sources, its page and its issues are', () => {
  manifests(ROOT, CORE);
  expect(checkManifests(root)).toEqual([]);
});

test.each([
  ['repository', { ...CORE, repository: ROOT.repository }],
  ['homepage', { ...CORE, homepage: 'https://elsewhere.test' }],
  ['bugs', { ...CORE, bugs: undefined }],
  ['license', { ...CORE, license: 'ISC' }],
  ['description', { ...CORE, description: undefined }],
  ['keywords', { ...CORE, keywords: ['a'] }],
])('names a package whose %s is missing or another than the root says', (field, core) => {
  manifests(ROOT, core);
  expect(checkManifests(root)).toEqual([expect.stringMatching(new RegExp(`^packages/core/package.json: ${field} `))]);
});

test('a release is told of every place that nobody has named yet', () => {
  manifests({ ...ROOT, homepage: 'https://weir.example/weir', bugs: undefined }, CORE);
  expect(unsetPlaces(root).map((problem) => problem.split(' ')[1])).toEqual(['homepage', 'bugs']);
  manifests(ROOT, CORE);
  expect(unsetPlaces(root)).toEqual([]);
});
