import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { openCheckpoint } from '@weir/core/state-reader';
import { expect, test } from 'vitest';
import { filesBelow, ROOT, textOf } from './support/pages.js';

const READER = 'docs/examples/formats/read_checkpoint.py';
const page = textOf('docs/formats.md');

/** Checkpoints that are kept for ever, but those in a format of RocksDB. */
const CHECKPOINTS = filesBelow('e2e/test/golden')
  .filter((file) => path.basename(file) === '_metadata' && !file.includes('rocksdb'))
  .map((file) => path.dirname(file));

const hasPython = pythonOrNothing();

/** Where `CI` is set its absence is an error, so that nobody takes skipped tests for success. */
function pythonOrNothing(): boolean {
  const check = ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))'];
  const found = spawnSync('python3', check).status === 0;
  if (!found && process.env['CI'] !== undefined)
    throw new Error('python3 (3.10 or later) is needed to run docs/examples');
  if (!found) console.warn('Tests of the reader in Python are skipped: there is no python3 of version 3.10 or later.');
  return found;
}

type Line = Readonly<Record<string, unknown>>;

function readByPython(folder: string): { readonly lines: readonly Line[]; readonly error: string } {
  const { stdout, stderr } = spawnSync('python3', [path.join(ROOT, READER), folder], { encoding: 'utf8' });
  const lines = stdout.split('\n').slice(0, -1);
  return { lines: lines.map((line) => JSON.parse(line) as Line), error: stderr };
}

/** What Python shows of a value: an object only as bytes, which it does not look into. */
const plain = (value: unknown): unknown => (typeof value === 'object' && value !== null ? 'an object' : value);

async function readByWeir(folder: string): Promise<readonly Line[]> {
  const storage = createFsStorage({ checkpointsDir: path.dirname(path.dirname(folder)) });
  const lines: Line[] = [];
  await using checkpoint = await openCheckpoint(folder, { storage });
  for (const { uid, states } of checkpoint.operators)
    for (const { name, kind } of states)
      for await (const entry of checkpoint.operator(uid).entries(name))
        lines.push({
          row: 'state',
          operator: uid,
          state: name,
          ...entry,
          kind,
          ...('values' in entry ? { values: entry.values.map(plain) } : { value: plain(entry.value) }),
        });
  return lines;
}

const sorted = (lines: readonly Line[]): string[] =>
  lines.map((line) => JSON.stringify(Object.entries(line).sort(([a], [b]) => a.localeCompare(b)))).sort();

test.skipIf(!hasPython).each(CHECKPOINTS)('a reader in Python reads of %s what weir reads', async (folder) => {
  const { lines, error } = readByPython(path.join(ROOT, folder));
  expect(error).toBe('');
  const ofUser = lines.filter(({ row, state }) => row === 'state' && !String(state).startsWith('~timers-'));
  const shown = ofUser.map((line) => ('values' in line ? line : { ...line, value: plain(line['value']) }));
  const expected = await readByWeir(path.join(ROOT, folder));
  expect(expected.length).toBeGreaterThan(10);
  expect(sorted(shown)).toEqual(sorted(expected));
  const storage = createFsStorage({ checkpointsDir: path.join(ROOT, path.dirname(path.dirname(folder))) });
  await using checkpoint = await openCheckpoint(path.join(ROOT, folder), { storage });
  const inFlight = lines.filter(({ row }) => row === 'in-flight').reduce((sum, { count }) => sum + Number(count), 0);
  expect(inFlight).toBe(checkpoint.operators.reduce((sum, operator) => sum + operator.inFlight, 0));
  const { job, lineage, attempt, checkpointId, kind, weirVersion } = checkpoint.metadata;
  expect(lines[0]).toMatchObject({ row: 'checkpoint', job, lineage, attempt, checkpointId, kind, weirVersion });
});

test.skipIf(!hasPython)('the reader in Python prints nothing of files that are damaged', () => {
  const copy = mkdtempSync(path.join(tmpdir(), 'weir-formats-'));
  try {
    const [folder = ''] = CHECKPOINTS.filter((each) => each.includes('v1-checkpoint'));
    for (const file of ['_metadata', ...readdirSync(path.join(ROOT, folder)).filter((name) => name !== '_metadata')]) {
      cpSync(path.join(ROOT, folder), copy, { recursive: true });
      const bytes = readFileSync(path.join(copy, file));
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(path.join(copy, file), bytes);
      expect(readByPython(copy).error, file).toContain('is damaged');
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test('every feature of a _metadata is on the page about upgrading, and known to the reader in Python', () => {
  const source = textOf('packages/core/src/snapshot/metadata-features.ts');
  const features = [...(/FEATURES[^=]*= \[([^\]]*)\]/.exec(source)?.[1] ?? '').matchAll(/'([\w-]+)'/g)].map(
    ([, f]) => f,
  );
  const upgrading = textOf('docs/upgrading.md').split('### Features')[1]?.split('\n## ')[0] ?? '';
  const known = /^KNOWN = \{(.*)\}$/m.exec(textOf(READER))?.[1] ?? '';
  expect(features.length).toBeGreaterThan(3);
  const shown = [...upgrading.matchAll(/^\| `([\w-]+)` /gm)].map(([, feature]) => feature);
  expect(shown).toEqual(features);
  expect([...known.matchAll(/"([\w-]+)"/g)].map(([, feature]) => feature)).toEqual(expect.arrayContaining(features));
});

test('the page has every name that a storage of files gives', () => {
  const layout = textOf('packages/backend-fs/src/layout.ts');
  const names = [...layout.matchAll(/^(?:export )?const [A-Z]+ = '(\w+)';$/gm)].map(([, name = '']) => name);
  expect(names).toEqual(expect.arrayContaining(['_metadata', '_committed', '_finished', '_lock', 'shared']));
  expect(names.filter((name) => !page.includes(name))).toEqual([]);
});
