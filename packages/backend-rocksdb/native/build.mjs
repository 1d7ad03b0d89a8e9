// Builds the addon with the node-gyp that npm carries.
//
//   node native/build.mjs                against the RocksDB of the system, or, where there is none, from its sources
//   node native/build.mjs --if-possible  against the RocksDB of the system if all that takes is here and the binary is missing or outdated
//   node native/build.mjs --prebuild     from the sources, needing nothing but the runtime of C++, into prebuilds/ for publishing
//
// The sources are those in the npm package `rocksdb`, fetched by npm: up to ten minutes on two cores, once.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const SOURCES = {
  package: 'rocksdb@5.2.1',
  file: 'rocksdb-5.2.1.tgz',
  sha512: 'SN9RRLfqDEGfZ6MgfjpQ4DIn3+TdN5ECKYHgeuPKFy6Yw0I9hYyE46giLidngjZU47JXUmWXJDZuU1CyEcf4Fw==',
};

const native = import.meta.dirname;
const root = path.dirname(native);
const binary = path.join(native, 'build/Release/weir_rocksdb.node');
const stamp = path.join(native, 'build/Release/weir_rocksdb.built-from');
const sources = path.join(native, 'build/sources');

class Impossible extends Error {}

const flags = process.argv.slice(2);
try {
  if (flags.includes('--if-possible')) buildIfPossible();
  else if (flags.includes('--prebuild')) prebuild();
  else build(systemRocksdb() ?? fetchSources());
} catch (error) {
  if (!(error instanceof Impossible)) throw error;
  console.error(`native: ${error.message}`);
  process.exit(1);
}

function buildIfPossible() {
  const rocksdb = systemRocksdb();
  const missing = rocksdb === undefined ? 'a C++ compiler with the headers of RocksDB' : missingTool();
  if (missing !== undefined) {
    const present = existsSync(binary) ? 'kept the RocksDB driver as it is' : 'no RocksDB driver built';
    console.log(`native: ${present}, for want of ${missing}`);
    return;
  }
  if (isBuiltFrom(rocksdb)) console.log(`native: RocksDB ${rocksdb.version} driver is up to date`);
  else build(rocksdb);
}

function prebuild() {
  build(fetchSources());
  const folder = path.join(root, 'prebuilds', `${process.platform}-${process.arch}`);
  mkdirSync(folder, { recursive: true });
  copyFileSync(binary, path.join(folder, '@weir+backend-rocksdb.node'));
  console.log(`native: copied to ${path.relative(root, folder)}`);
}

/** The RocksDB that the compiler finds by itself; undefined where there is none, or no compiler. */
function systemRocksdb() {
  const compiler = process.env.CXX ?? 'c++';
  const { status, stdout } = spawnSync(
    compiler,
    ['-x', 'c++', '-E', '-dM', '-include', 'rocksdb/version.h', '-include', 'rocksdb/c.h', os.devNull],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  if (status !== 0) return undefined;
  const part = (name) => new RegExp(`#define ROCKSDB_${name} (\\d+)`).exec(stdout)?.[1];
  return { version: `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`, sources: '' };
}

function missingTool() {
  return ['make', 'python3'].find((tool) => spawnSync(tool, ['--version']).status !== 0);
}

function build(rocksdb) {
  const missing = missingTool();
  if (missing !== undefined) throw new Impossible(`cannot build the RocksDB driver without ${missing}`);
  const started = performance.now();
  // Node's headers lie beside it wherever Node was unpacked whole; else node-gyp fetches them.
  const prefix = path.dirname(path.dirname(process.execPath));
  const headers = existsSync(path.join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : [];
  rmSync(binary, { force: true });
  // Not `rebuild`, which would throw away what was compiled of RocksDB.
  gyp('configure', ...headers, '--', `-Drocksdb_sources=${rocksdb.sources}`);
  gyp('build', '-j', 'max');
  writeFileSync(stamp, fingerprint(rocksdb));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`native: built the driver of RocksDB ${rocksdb.version} in ${seconds} s`);
}

/** What it prints is shown only if it fails. */
function gyp(command, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [nodeGyp(), command, '-C', native, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status === 0) return;
  process.stderr.write(stdout + stderr);
  throw new Impossible(`node-gyp ${command} ended with ${status}`);
}

/** npm tells its scripts where its node-gyp is; without npm, it is where npm lies beside Node. */
function nodeGyp() {
  const beside = path.resolve(process.execPath, '../../lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js');
  const found = [process.env.npm_config_node_gyp, beside].find((file) => file !== undefined && existsSync(file));
  if (found === undefined) throw new Impossible('no node-gyp found: npm run build:native');
  return found;
}

function isBuiltFrom(rocksdb) {
  return existsSync(binary) && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(rocksdb);
}

/** Of everything that the binary is made of. */
function fingerprint(rocksdb) {
  const hash = createHash('sha256').update(`${rocksdb.version} ${rocksdb.sources} ${process.arch}`);
  const files = readdirSync(path.join(native, 'src')).sort();
  for (const file of ['binding.gyp', ...files.map((file) => `src/${file}`)]) {
    hash.update(file).update(readFileSync(path.join(native, file)));
  }
  return hash.digest('hex');
}

function fetchSources() {
  const folder = path.join(sources, 'package');
  if (!existsSync(folder)) {
    console.log(`native: fetching ${SOURCES.package} for the sources of RocksDB, which take some minutes to build`);
    mkdirSync(sources, { recursive: true });
    // `pack` only downloads: nothing of the package is installed or run.
    run('npm', ['pack', SOURCES.package, '--pack-destination', sources]);
    const archive = path.join(sources, SOURCES.file);
    const sha512 = createHash('sha512').update(readFileSync(archive)).digest('base64');
    if (sha512 !== SOURCES.sha512) throw new Impossible(`${archive} is not the archive that is expected`);
    run('tar', ['-xzf', archive, '-C', sources]);
  }
  return { version: '6.17.3', sources: folder };
}

function run(command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: native });
  if (status !== 0) throw new Impossible(`${command} ${args[0]} ended with ${status}: ${stderr}`);
}
