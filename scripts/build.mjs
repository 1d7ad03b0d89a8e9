// Builds every workspace through nx and stays quiet unless something fails, so that a cached build is one line. Then the native part, if
// that takes seconds and all it needs is here; a line says whether. `npm run build:native` builds it in any case, or fails.
import { spawnSync } from 'node:child_process';

const started = performance.now();
const { status, stdout, stderr } = spawnSync(
  'npx',
  ['nx', 'run-many', '-t', 'build', '--output-style=static-failures-only', ...process.argv.slice(2)],
  { encoding: 'utf8', env: { NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_TUI: 'false', ...process.env } },
);
if (status !== 0) {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exit(status ?? 1);
}
console.log(`build: up to date in ${((performance.now() - started) / 1000).toFixed(1)} s`);

const native = spawnSync(process.execPath, ['packages/backend-rocksdb/native/build.mjs', '--if-possible'], {
  stdio: 'inherit',
});
process.exit(native.status ?? 1);
