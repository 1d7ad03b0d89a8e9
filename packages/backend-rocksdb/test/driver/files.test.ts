import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { disposable, fill, get, keyOf, put, scan } from '../support/database.js';
import { describeRocks, OPTIONS, useDirectory } from '../support/driver.js';
import type { RocksDatabase } from '../../src/driver/rocks-driver.js';

const GOLDEN = path.join(import.meta.dirname, '../golden');

/** What is in a golden database: a thousand rows of which the first hundred were written twice, and a family with one row. */
const FAMILIES = ['default', 'timers'];
const valueOf = (n: number): string => `value ${String(n)} ${'x'.repeat(n % 50)}`;
const EXPECTED = Array.from({ length: 1000 }, (_, n) => [keyOf(n), valueOf(n)]);

async function writeGolden(database: RocksDatabase, directory: string): Promise<void> {
  fill(database, 0, 100, () => 'first');
  await database.flush();
  fill(database, 0, 1000, valueOf);
  put(database, 'timer', 'due', 1);
  await database.checkpoint(directory);
}

/**
 * How a table file ends, whatever wrote it: the kind of its checksums in byte 53 from the end, the version of its format in the four bytes
 * before the magic number (RocksDB: table/format.h, Footer).
 */
function footerOf(file: string): { checksum: number; format: number } {
  const bytes = readFileSync(file);
  return { checksum: bytes[bytes.length - 53]!, format: bytes.readUInt32LE(bytes.length - 12) };
}

function tablesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sst'))
    .map((name) => path.join(directory, name));
}

describeRocks('the files of a database', (driver) => {
  const at = useDirectory();

  // To add one for another version of the library: WEIR_GOLDEN=write. Nothing that is there may ever change.
  if (process.env['WEIR_GOLDEN'] === 'write') {
    test.each(['snappy', 'none'] as const)('are written, with %s', async (compression) => {
      using database = disposable(driver.open(at('db'), { ...OPTIONS, columnFamilies: FAMILIES, compression }));
      await writeGolden(database, path.join(GOLDEN, `rocksdb-${driver.libraryVersion}-${compression}`));
    });
  }

  test.each(readdirSync(GOLDEN))('are read that an earlier version wrote: %s', async (name) => {
    cpSync(path.join(GOLDEN, name), at('db'), { recursive: true });
    const options = { ...OPTIONS, columnFamilies: FAMILIES };
    const reader = driver.open(at('db'), { ...options, mode: 'read' });
    expect(scan(reader, 0)).toEqual(EXPECTED);
    reader.close();
    using database = disposable(driver.open(at('db'), { ...options, mode: 'open' }));
    put(database, keyOf(0), 'new');
    await database.flush();
    await database.compact(0);
    expect(scan(database, 0)).toEqual([[keyOf(0), 'new'], ...EXPECTED.slice(1)]);
    expect(get(database, 'timer', 1)).toBe('due');
  });

  test.each(['snappy', 'none'] as const)(
    'have table format 5 and CRC32c, whatever the library prefers (%s)',
    async (compression) => {
      using database = disposable(driver.open(at('db'), { ...OPTIONS, columnFamilies: FAMILIES, compression }));
      await writeGolden(database, at('chk'));
      const tables = tablesIn(at('chk'));
      expect(tables.length).toBeGreaterThan(2);
      for (const table of tables) expect(footerOf(table)).toEqual({ checksum: 1, format: 5 });
    },
  );

  test('are never read as something else after damage', async () => {
    const options = { ...OPTIONS, columnFamilies: FAMILIES, compression: 'none' } as const;
    using database = disposable(driver.open(at('db'), options));
    await writeGolden(database, at('chk'));
    const [table = ''] = tablesIn(at('chk')).sort((a, b) => statSync(b).size - statSync(a).size);
    const whole = readFileSync(table);
    const damages: Record<string, () => void> = {
      removed: () => undefined,
      emptied: () => writeFileSync(table, ''),
      cut: () => writeFileSync(table, whole.subarray(0, whole.length / 2)),
      zeroed: () => writeFileSync(table, Buffer.alloc(whole.length)),
      ...Object.fromEntries(
        [0.1, 0.5, 0.9].map((where) => [
          `one bit at ${String(where)}`,
          () => {
            const bytes = Buffer.from(whole);
            bytes[Math.floor(whole.length * where)]! ^= 1;
            writeFileSync(table, bytes);
          },
        ]),
      ),
    };
    // Never written into: it is a hard link to the file of the database.
    for (const [what, damage] of Object.entries(damages)) {
      rmSync(table, { force: true });
      damage();
      const read = (): unknown => {
        using copy = disposable(driver.open(at('chk'), { ...options, mode: 'read' }));
        return scan(copy, 0);
      };
      expect(read, what).toThrow(expect.objectContaining({ code: 'ROCKSDB_FAILED' }));
    }
    rmSync(table);
    writeFileSync(table, whole);
    using copy = disposable(driver.open(at('chk'), { ...options, mode: 'read' }));
    expect(scan(copy, 0)).toEqual(EXPECTED);
  });

  test('in a checkpoint are no more than it needs', async () => {
    using database = disposable(driver.open(at('db'), OPTIONS));
    put(database, 'a', '1');
    await database.checkpoint(at('chk'));
    const kinds = readdirSync(at('chk')).map((name) => name.replace(/\d+/, 'N'));
    expect(kinds.sort()).toEqual(['CURRENT', 'MANIFEST-N', 'N.sst', 'OPTIONS-N']);
  });
});
