import path from 'node:path';
import { expect, test } from 'vitest';
import { checkBundleSizes } from './check-bundle-sizes.mjs';

const root = path.resolve(import.meta.dirname, '..');
const code = "export { hasCode } from '@weir/core/contracts';";

test('a bundle that is larger than it may be is a problem that tells both sizes', async () => {
  const sizes = {};
  const problems = await checkBundleSizes(root, sizes, {
    small: { code, limit: 1_000_000 },
    large: { code, limit: 10 },
  });
  expect(problems).toEqual([`large: ${String(sizes.large)} bytes, and 10 are allowed`]);
  expect(sizes.small).toBe(sizes.large);
});
