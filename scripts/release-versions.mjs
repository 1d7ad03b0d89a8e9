// Applies the changesets to the versions of the packages, and writes core's version down where `_metadata` takes it from.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { unsetPlaces } from './check-manifests.mjs';

const unset = unsetPlaces('.');
if (unset.length > 0) {
  console.error(unset.join('\n'));
  process.exit(1);
}

execFileSync('npx', ['changeset', 'version'], { stdio: 'inherit' });
const { version } = JSON.parse(readFileSync('packages/core/package.json', 'utf8'));
const path = 'packages/core/src/contracts/version.ts';
writeFileSync(path, readFileSync(path, 'utf8').replace(/'\d+\.\d+\.\d+[^']*'/, `'${version}'`));
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { stdio: 'inherit' });
