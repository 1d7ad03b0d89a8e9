import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What users would take instead of weir's state, in the versions that run on every Node that weir runs on. */
const COMPARED = { 'better-sqlite3': '12.11.1', 'classic-level': '3.0.0' };

/** Beside the workspace, whose users need none of it: one of them is compiled when it is installed. */
const FOLDER = fileURLToPath(new URL('../../compared/', import.meta.url));

/** Loads a package that is compared, installed at its first use. */
export function loadCompared(name: keyof typeof COMPARED): unknown {
  const require = createRequire(join(FOLDER, 'package.json'));
  try {
    return require(name);
  } catch {
    console.error(
      `installing ${Object.entries(COMPARED)
        .map(([each, version]) => `${each}@${version}`)
        .join(', ')}`,
    );
  }
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify({ private: true, dependencies: COMPARED }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--workspaces=false'], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return require(name);
}
