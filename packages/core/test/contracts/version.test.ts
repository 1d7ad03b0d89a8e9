import { readFileSync } from 'node:fs';
import { WEIR_VERSION } from '@weir/core/contracts';
import { expect, test } from 'vitest';

test('the version that checkpoints record is the one of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(WEIR_VERSION).toBe(manifest.version);
});
