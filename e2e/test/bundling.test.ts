import { build, type BuildOptions } from 'esbuild';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKAGES = readdirSync(path.join(ROOT, 'packages')).map((folder) => ({
  folder: path.join(ROOT, 'packages', folder),
  manifest: JSON.parse(readFileSync(path.join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest,
}));
/** What a program can import: '@weir/connectors/file'. */
const ENTRY_POINTS = PACKAGES.flatMap(({ manifest }) =>
  Object.keys(manifest.exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => path.posix.join(manifest.name, subpath)),
);
/** An ES module that holds CommonJS packages has to be given `require`, as docs/modules.md says. */
const BANNER = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

let app: string;

/** An application with every package of weir, what these say they need, and none of what is optional. */
beforeAll(() => {
  app = mkdtempSync(path.join(tmpdir(), 'weir-bundling-'));
  for (const { folder, manifest } of PACKAGES) {
    const installed = path.join(app, 'node_modules', manifest.name);
    mkdirSync(installed, { recursive: true });
    for (const part of ['package.json', 'src'])
      cpSync(path.join(folder, part), path.join(installed, part), { recursive: true });
    for (const needed of neededBy(manifest)) {
      const link = path.join(installed, 'node_modules', needed);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(placeOf(needed, folder), link);
    }
  }
});

afterAll(() => {
  rmSync(app, { recursive: true, force: true });
});

/** The packages of others that this one cannot do without. */
function neededBy({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys(dependencies), ...peers].filter((name) => !name.startsWith('@weir/'));
}

function placeOf(name: string, folder: string): string {
  return [folder, ROOT].map((from) => path.join(from, 'node_modules', name)).find(existsSync) ?? name;
}

async function bundle(name: string, program: string, options: BuildOptions): Promise<string> {
  const entry = path.join(app, `${name}.in.mjs`);
  const outfile = path.join(app, `${name}.${options.format === 'cjs' ? 'cjs' : 'mjs'}`);
  writeFileSync(entry, program);
  const { errors, warnings } = await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // The sources that are here, not a build that may be older.
    conditions: ['weir-source'],
    logLevel: 'silent',
    ...(options.format === 'esm' ? { banner: { js: BANNER } } : {}),
    ...options,
  });
  expect(errors).toEqual([]);
  expect(warnings.filter(({ id }) => id !== 'empty-import-meta')).toEqual([]);
  return outfile;
}

const run = (file: string): string => {
  const alone = mkdtempSync(path.join(app, 'alone-'));
  const moved = path.join(alone, path.basename(file));
  cpSync(file, moved);
  return execFileSync(process.execPath, [moved], { cwd: alone, encoding: 'utf8' });
};

describe.each(['esm', 'cjs'] as const)('a bundle in the format %s, without optional packages,', (format) => {
  test.each(ENTRY_POINTS)('can be made of a program that imports %s, and runs', async (entryPoint) => {
    const program = `import * as all from '${entryPoint}'; console.log(Object.keys(all).length);`;
    const file = await bundle(entryPoint.replaceAll('/', '-'), program, { format });
    expect(Number(run(file))).toBeGreaterThan(0);
  });

  test('names the package that parquet() needs once it is used', async () => {
    const program = `
      import { parquet } from '@weir/connectors/file';
      parquet().open({}, {}).catch((error) => console.log(error.message));`;
    expect(run(await bundle('parquet', program, { format }))).toMatch(/^CONNECTOR_PEER: .*hyparquet.*npm i hyparquet/);
  });

  test('says that the driver of RocksDB has to stay outside', async () => {
    const program = `
      import { createRocksStateBackend } from '@weir/backend-rocksdb';
      try { createRocksStateBackend(); } catch (error) { console.log(error.message); }`;
    expect(run(await bundle('rocksdb', program, { format }))).toMatch(
      /^ROCKSDB_UNAVAILABLE: .*--external:@weir\/backend-rocksdb/,
    );
  });
});
