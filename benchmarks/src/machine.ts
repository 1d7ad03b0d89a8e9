import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, platform, release, totalmem } from 'node:os';

/** What the figures were measured on and with. */
export function machine(): object {
  return {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    rxjs: versionOf('rxjs'),
    weir: versionOf('@weir/core'),
  };
}

function versionOf(name: string): string {
  const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}
