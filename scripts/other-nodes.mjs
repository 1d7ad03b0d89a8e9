// Runs what depends most on Node (formats, state, the data plane, processes that are killed) with the other versions of Node that weir supports. They
// come from npm, into node_modules/.cache.
//
//   npm run test:nodes [version ...]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const VERSIONS = ['22.23.3', '24.9.0'];
const TESTS = ['element', 'snapshot', 'state', 'stage'].map((name) => `packages/core/test/${name}`);

const root = path.resolve(import.meta.dirname, '..');
const given = process.argv.slice(2);
for (const version of given.length > 0 ? given : VERSIONS) {
  const node = installed(version);
  console.log(`with Node ${version}:`);
  run(node, 'node_modules/vitest/vitest.mjs', 'run', '--project', 'core', ...TESTS);
  run(node, 'e2e/dist/main.js', '--kills', '10', '--seed', '1');
}

/** The path of that node, which is fetched the first time. */
function installed(version) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const folder = path.join(root, 'node_modules', '.cache', 'other-nodes', version);
  const node = path.join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(node))
    run('npm', 'install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`);
  return node;
}

function run(command, ...args) {
  // Whatever starts another process of Node starts one of the same version.
  const PATH = [path.dirname(command), process.env.PATH].join(path.delimiter);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH } });
  if (status !== 0) process.exit(status ?? 1);
}
