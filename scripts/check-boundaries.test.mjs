import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkBoundaries } from './check-boundaries.mjs';

const dirs = [];

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const entry = (name) => ({ 'weir-source': `./src/${name}.ts`, default: `./dist/${name}.js` });
const manifest = (short, fields = {}) =>
  JSON.stringify({
    name: `@weir/${short}`,
    exports: { '.': entry('index') },
    peerDependencies: { '@weir/core': '*' },
    ...fields,
  });

const workspace = {
  'package.json': JSON.stringify({ devDependencies: { vitest: '4' } }),
  'packages/core/package.json': manifest('core', {
    exports: { '.': entry('index'), './operators': entry('operators'), './barrier': entry('barrier') },
    peerDependencies: { rxjs: '7' },
    dependencies: { ajv: '8', pino: '10', typedi: '0', msgpackr: '2' },
  }),
  'packages/coordinator/package.json': manifest('coordinator'),
  'packages/backend-memory/package.json': manifest('backend-memory'),
  'packages/backend-fs/package.json': manifest('backend-fs', {
    peerDependencies: { '@weir/core': '*', '@weir/backend-memory': '*' },
    devDependencies: { '@weir/testkit': '*' },
  }),
  'packages/connectors/package.json': manifest('connectors', {
    peerDependencies: { '@weir/core': '*', hyparquet: '*' },
    peerDependenciesMeta: { hyparquet: { optional: true } },
    devDependencies: { 'hyparquet-writer': '0' },
  }),
  'packages/testkit/package.json': manifest('testkit'),
  'examples/package.json': manifest('examples', { devDependencies: { '@weir/coordinator': '*', '@weir/core': '*' } }),
  'e2e/package.json': manifest('e2e', { devDependencies: { '@weir/coordinator': '*' } }),
  'packages/core/src/index.ts': '',
  'packages/core/src/operators.ts': '',
};

/** The violations of the workspace above with these files added; a leading comment keeps the import off line 1. */
const violations = (files) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weir-boundaries-'));
  dirs.push(root);
  for (const [name, text] of Object.entries({ ...workspace, ...files })) {
    mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return checkBoundaries(root);
};

test('accepts what the design allows', () => {
  expect(
    violations({
      'packages/core/src/errors.ts': 'export const e = 1;',
      'packages/core/src/element/a.ts': "import { e } from '../errors.js'; export { e } from './b.js';",
      'packages/core/src/element/b.ts': "import { readFile } from 'node:fs'; import { of } from 'rxjs';",
      'packages/core/src/time/t.ts': "import '../element/a.js';",
      'packages/core/src/state/s.ts': "import '../time/t.js'; import 'msgpackr';",
      'packages/core/test/a.test.ts':
        "import '../src/element/a.js'; import '@weir/testkit'; import 'vitest'; import '@weir/core/operators';",
      'packages/backend-fs/src/index.ts': "import '@weir/core'; import '@weir/backend-memory';",
      'packages/backend-fs/test/a.test.ts':
        "import '@weir/backend-fs'; import '@weir/backend-memory'; import '@weir/testkit';",
      'packages/connectors/src/index.ts':
        "import type { A } from 'hyparquet'; export const load = () => import('hyparquet');",
      'packages/connectors/test/a.test.ts': "import 'hyparquet-writer';",
      'e2e/src/main.ts': "import '@weir/coordinator';",
    }),
  ).toEqual([]);
});

const cases = {
  'a package that imports a sibling': [
    { 'packages/coordinator/src/index.ts': "import '@weir/backend-memory';" },
    "packages/coordinator/src/index.ts:1 '@weir/backend-memory': src of @weir/coordinator may import only core",
  ],
  'core that imports a plugin, also as a type': [
    { 'packages/core/src/index.ts': "\nexport type A = import('@weir/coordinator').A;" },
    "packages/core/src/index.ts:2 '@weir/coordinator': src of @weir/core imports no other package",
  ],
  'sources that import the testkit': [
    { 'packages/backend-fs/src/index.ts': "import '@weir/testkit';" },
    "packages/backend-fs/src/index.ts:1 '@weir/testkit': src of @weir/backend-fs may import only core, backend-memory",
  ],
  'a test that needs a second plugin': [
    { 'packages/coordinator/test/a.test.ts': "import '@weir/backend-memory';" },
    "packages/coordinator/test/a.test.ts:1 '@weir/backend-memory': test of @weir/coordinator may import only core, testkit",
  ],
  'an import of an app': [
    { 'e2e/src/main.ts': "// comment\nimport '@weir/examples';" },
    "e2e/src/main.ts:2 '@weir/examples': nothing imports @weir/examples",
  ],
  'a package that imports itself by name': [
    { 'packages/core/src/index.ts': "import '@weir/core/operators';" },
    "packages/core/src/index.ts:1 '@weir/core/operators': a package does not import itself by name",
  ],
  'an import past the exports': [
    { 'packages/coordinator/src/index.ts': "export * from '@weir/core/src/errors.js';" },
    "packages/coordinator/src/index.ts:1 '@weir/core/src/errors.js' reaches past the exports of @weir/core",
  ],
  'a package that does not exist': [
    { 'packages/coordinator/src/index.ts': "import '@weir/nothing';" },
    "packages/coordinator/src/index.ts:1 '@weir/nothing' is not a package of this workspace",
  ],
  'a package without a place in the table': [
    { 'packages/extra/package.json': manifest('extra') },
    'packages/extra/package.json:1 is not in PACKAGE_IMPORTS of scripts/check-boundaries.mjs',
  ],
  'a relative import across packages': [
    { 'packages/coordinator/src/index.ts': "import '../../core/src/index.js';" },
    "packages/coordinator/src/index.ts:1 '../../core/src/index.js' leaves the package: import it by its name",
  ],
  'a relative import of nothing': [
    { 'packages/coordinator/src/index.ts': "import './gone.js';" },
    "packages/coordinator/src/index.ts:1 './gone.js' does not resolve to a file",
  ],
  'sources that import a test': [
    { 'packages/coordinator/src/index.ts': "import '../test/help.js';", 'packages/coordinator/test/help.ts': '' },
    "packages/coordinator/src/index.ts:1 '../test/help.js' is a test, and src may not import tests",
  ],
  'an undeclared import': [
    { 'packages/testkit/src/index.ts': "import { test } from 'vitest';" },
    "packages/testkit/src/index.ts:1 'vitest' is not declared in dependencies or peerDependencies of packages/testkit/package.json",
  ],
  'sources that use a devDependency': [
    { 'packages/connectors/src/index.ts': "import 'hyparquet-writer';" },
    "packages/connectors/src/index.ts:1 'hyparquet-writer' is not declared in dependencies or peerDependencies of packages/connectors/package.json",
  ],
  'a test with an undeclared import': [
    { 'packages/core/test/a.test.ts': "const x = import('lodash/fp');" },
    "packages/core/test/a.test.ts:1 'lodash/fp' is not declared in any dependency field of packages/core/package.json",
  ],
  'a module of Node without its prefix': [
    { 'packages/core/src/index.ts': "import 'fs/promises';" },
    "packages/core/src/index.ts:1 'fs/promises' is a module of Node: write 'node:fs/promises'",
  ],
  'an optional peer that is loaded at once': [
    { 'packages/connectors/src/index.ts': "import { parquetRead } from 'hyparquet';" },
    "packages/connectors/src/index.ts:1 'hyparquet' is an optional peer: load it by import() where it is used",
  ],
  'a core folder that looks ahead': [
    {
      'packages/core/src/element/a.ts': "import type { B } from '../barrier/b.js';",
      'packages/core/src/barrier/b.ts': '',
    },
    "packages/core/src/element/a.ts:1 '../barrier/b.js': barrier comes after element in core/src",
  ],
  'a core folder that imports an entry point': [
    { 'packages/core/src/environment/a.ts': "import '../operators.js';" },
    "packages/core/src/environment/a.ts:1 '../operators.js': operators.ts comes after environment in core/src",
  ],
  'the error table importing anything': [
    { 'packages/core/src/errors.ts': "import './element/a.js';", 'packages/core/src/element/a.ts': '' },
    "packages/core/src/errors.ts:1 './element/a.js': element comes after errors.ts in core/src",
  ],
  'a core file without a place in the order': [
    { 'packages/core/src/utils/a.ts': '' },
    "packages/core/src/utils/a.ts:1 'utils' has no place in CORE_ORDER of scripts/check-boundaries.mjs",
  ],
  'an import cycle': [
    {
      'packages/testkit/src/a.ts': "import './b.js';",
      'packages/testkit/src/b.ts': "export { c } from './c.js';",
      'packages/testkit/src/c.ts': "import './a.js';",
    },
    'packages/testkit/src/a.ts:1 import cycle: packages/testkit/src/a.ts -> packages/testkit/src/b.ts -> packages/testkit/src/c.ts -> packages/testkit/src/a.ts',
  ],
  'an import cycle of types': [
    {
      'packages/testkit/src/a.ts': "import type { B } from './b.js';",
      'packages/testkit/src/b.ts': "export type B = import('./a.js').A;",
    },
    'packages/testkit/src/a.ts:1 import cycle: packages/testkit/src/a.ts -> packages/testkit/src/b.ts -> packages/testkit/src/a.ts',
  ],
  'a light entry point that loads a heavy module': [
    {
      'packages/core/src/barrier.ts': "export { a } from './barrier/a.js';",
      'packages/core/src/barrier/a.ts': "export const a = () => import('pino');",
    },
    'packages/core/src/barrier/a.ts:1 packages/core/src/barrier.ts loads pino: packages/core/src/barrier.ts -> packages/core/src/barrier/a.ts -> pino',
  ],
  'a light entry point that loads a heavy module for an inline type': [
    { 'packages/core/src/operators.ts': "import { type Ajv } from 'ajv';" },
    'packages/core/src/operators.ts:1 packages/core/src/operators.ts loads ajv: packages/core/src/operators.ts -> ajv',
  ],
};

test.each(Object.entries(cases))('reports %s', (_title, [files, violation]) => {
  expect(violations(files)).toEqual([violation]);
});

test('lets a light entry point name the types of a heavy module', () => {
  expect(violations({ 'packages/core/src/operators.ts': "import type { Ajv } from 'ajv';" })).toEqual([]);
});
