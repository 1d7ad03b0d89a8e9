import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadBinding } from '../../src/driver/load-driver.js';
import { INTERFACE_VERSION } from '../../src/driver/native-binding.js';
import { useDirectory } from '../support/driver.js';

const at = useDirectory();

/** A module that stands in for a binary. */
function binary(name: string, interfaceVersion: number): string {
  writeFileSync(at(name), JSON.stringify({ name, interfaceVersion }));
  return at(name);
}

test('the first binary that fits is taken', () => {
  const missing = at('missing.node');
  const older = binary('older.json', INTERFACE_VERSION - 1);
  const fits = binary('fits.json', INTERFACE_VERSION);
  const too = binary('too.json', INTERFACE_VERSION);
  expect(loadBinding([missing, older, fits, too])).toMatchObject({ name: 'fits.json' });
});

test('without a binary the error says for which machine, where it was looked for, what to install and what to run', () => {
  expect(() => loadBinding([at('a.node'), at('b.node')])).toThrow(
    expect.objectContaining({
      code: 'ROCKSDB_UNAVAILABLE',
      recoverable: false,
      message: expect.stringMatching(
        new RegExp(`${process.platform}-${process.arch}.*a\\.node.*b\\.node.*librocksdb-dev.*build:native`),
      ),
    }),
  );
});

test('a binary that cannot be loaded, or is of another version, is named with its reason', () => {
  writeFileSync(at('broken.node'), 'no binary');
  const older = binary('older.json', INTERFACE_VERSION - 1);
  expect(() => loadBinding([at('missing.node'), at('broken.node'), older])).toThrow(
    expect.objectContaining({
      code: 'ROCKSDB_UNAVAILABLE',
      message: expect.stringMatching(/broken\.node.*older\.json was built from another version.*build:native/s),
      cause: expect.any(Error),
    }),
  );
});
