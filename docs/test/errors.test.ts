import { ERROR_CODES } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { filesBelow, textOf } from './support/pages.js';

const codes = Object.keys(ERROR_CODES);

test('docs/errors.md has a section for each code, in the order of the table, and for nothing else', () => {
  const sections = [...textOf('docs/errors.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(sections).toEqual(codes);
});

test('the list at the top of docs/errors.md leads to each section', () => {
  const listed = [...textOf('docs/errors.md').matchAll(/\[([A-Z_]+)\]\(#([a-z_]+)\)/g)];
  expect(listed.map(([, code]) => code)).toEqual(codes);
  expect(listed.map(([, , anchor]) => anchor)).toEqual(codes.map((code) => code.toLowerCase()));
});

test('every code is raised somewhere', () => {
  const sources = filesBelow('packages').filter((file) => /^packages\/(?!testkit)[^/]+\/src\/.*\.ts$/.test(file));
  const raised = sources.filter((file) => !file.endsWith('core/src/errors.ts')).map(textOf);
  expect(codes.filter((code) => !raised.some((text) => text.includes(`'${code}'`)))).toEqual([]);
});
