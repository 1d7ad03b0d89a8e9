// Everything that must hold besides lint and tests: types (also of tests), imports, package shape, changesets.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { checkBoundaries } from './check-boundaries.mjs';
import { checkBundleSizes } from './check-bundle-sizes.mjs';
import { checkChangesets } from './check-changesets.mjs';
import { checkConsumers } from './check-consumers.mjs';
import { checkManifests } from './check-manifests.mjs';
import { SCENARIOS } from './scenario-list.mjs';
import { coverage, report, titlesIn } from './scenarios.mjs';

const root = path.resolve(import.meta.dirname, '..');
let failed = false;

await step('build', () => run('node', 'scripts/build.mjs'));
await step('types of sources and tests', () => run('npx', 'tsc', '-b', 'tsconfig.json'));
await step('types of tools', () => run('npx', 'tsc', '-p', 'tsconfig.tools.json'));
await step('imports', () => checkBoundaries(root));
await step('workspaces in tsconfig.json', missingReferences);
await step('changesets', () => checkChangesets(root));
await step('manifests', () => checkManifests(root));
await step('programs that import the packages', () => checkConsumers(root));
await step('sizes of bundles', () => checkBundleSizes(root));
await step('scenarios with a test, or a reason for none', () => report(coverage(SCENARIOS, titlesIn(root))).problems);
for (const name of readdirSync(path.join(root, 'packages'))) {
  const dir = `packages/${name}`;
  await step(`shape of ${dir}`, async () => [
    ...(await run('npx', 'publint', dir, '--pack', 'npm', '--strict')),
    ...(await run('npx', 'attw', '--pack', dir, '--profile', 'esm-only', '--no-emoji')),
  ]);
}
process.exit(failed ? 1 : 0);

/** Runs one check, which returns the problems that it found. */
async function step(title, check) {
  const problems = await check();
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${title}`);
  for (const problem of problems) console.log(`     ${problem}`);
  if (problems.length > 0) failed = true;
}

async function run(command, ...args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code === 0) return [];
  const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n');
  return [`${command} ${args.join(' ')} ended with ${code}`, ...lines];
}

/** `tsc -b` only sees what the root tsconfig.json refers to; a workspace that is not there would go unchecked. */
function missingReferences() {
  const referenced = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8')).references.map((r) => r.path);
  const workspaces = [
    ...readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`),
    'examples',
    'examples/third-party-backend',
    'e2e',
    'benchmarks',
    'docs',
  ];
  return workspaces.filter((dir) => !referenced.includes(dir)).map((dir) => `tsconfig.json has no reference to ${dir}`);
}
