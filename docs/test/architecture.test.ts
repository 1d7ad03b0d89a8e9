import { expect, test } from 'vitest';
import { exists, filesBelow, textOf } from './support/pages.js';

/** Paths are given from the root, from packages/, or from core/src. */
const BASES = ['', 'packages/', 'packages/core/src/'];

const spans = [...textOf('ARCHITECTURE.md').matchAll(/`([^`\s]+)`/g)].map(([, span = '']) => span);
const paths = spans.filter(
  (span) => /^[\w-]+(\/[\w.-]+)+$|^[\w-]+\.(ts|mjs|json)$/.test(span) && span !== 'package.json',
);

test('ARCHITECTURE.md names only what exists', () => {
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !BASES.some((base) => exists(base + path)))).toEqual([]);
});

test('its reading order of core is the one that imports are held against', () => {
  const [, rows = ''] = /### Reading order([^]*?)\nThen /.exec(textOf('ARCHITECTURE.md')) ?? [];
  const folders = [...rows.matchAll(/^\| `([\w.]+)`/gm)].map(([, folder]) => folder);
  const [, list = ''] = /const CORE_ORDER = \[([^\]]*)\]/.exec(textOf('scripts/check-boundaries.mjs')) ?? [];
  const order = [...list.matchAll(/'([\w.]+)'/g)].map(([, folder = '']) => folder);
  const files = filesBelow('packages/core/src');
  const present = order.filter((entry) => files.some((file) => `${file}/`.startsWith(`packages/core/src/${entry}/`)));
  expect(folders).toEqual(present);
});
