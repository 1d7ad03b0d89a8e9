// What docs/modules.md promises of the packages as they are published: which programs compile against them and load them, with none of the
// optional packages installed, and that source maps can be followed. Needs a build.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PROGRAMS = [
  { what: 'an ES module, module: nodenext', type: 'module', options: { module: 'nodenext' } },
  { what: 'a CommonJS module, module: nodenext', type: 'commonjs', options: { module: 'nodenext' } },
  { what: 'what goes to a bundler', type: 'module', options: { module: 'esnext', moduleResolution: 'bundler' } },
];
const ALWAYS = { target: 'es2022', lib: ['es2022'], types: ['node'], strict: true, skipLibCheck: false, noEmit: true };

/** Lists what does not compile, load, or lead to its source. */
export function checkConsumers(root) {
  const app = mkdtempSync(path.join(tmpdir(), 'weir-consumers-'));
  try {
    const packages = readdirSync(path.join(root, 'packages')).map((name) =>
      install(app, root, path.join(root, 'packages', name)),
    );
    const entryPoints = packages.flatMap(({ name, exports }) =>
      Object.keys(exports)
        .filter((subpath) => subpath !== './package.json')
        .map((subpath) => path.posix.join(name, subpath)),
    );
    return [...compiled(app, root, entryPoints), ...loaded(app, entryPoints), ...packages.flatMap(({ maps }) => maps)];
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}

/** Puts a package into the application as npm would, without what is optional. */
function install(app, root, folder) {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const { name, exports, dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const installed = path.join(app, 'node_modules', name);
  mkdirSync(installed, { recursive: true });
  for (const part of ['package.json', 'dist'])
    cpSync(path.join(folder, part), path.join(installed, part), { recursive: true });
  const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  for (const needed of [...Object.keys(dependencies), ...peers].filter((other) => !other.startsWith('@weir/')))
    link(path.join(installed, 'node_modules', needed), needed, [folder, root]);
  return { name, exports, maps: mapsWithoutSources(folder) };
}

function link(place, name, from) {
  mkdirSync(path.dirname(place), { recursive: true });
  symlinkSync(from.map((dir) => path.join(dir, 'node_modules', name)).find(existsSync), place);
}

function compiled(app, root, entryPoints) {
  link(path.join(app, 'node_modules/@types/node'), '@types/node', [root]);
  const program = entryPoints.map((entry, i) => `import * as e${i} from '${entry}';\nvoid e${i};\n`).join('');
  return PROGRAMS.flatMap(({ what, type, options }, i) => {
    const folder = path.join(app, `program-${i}`);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type }));
    writeFileSync(path.join(folder, 'program.ts'), program);
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...ALWAYS, ...options } }));
    return run(what, folder, path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder);
  });
}

function loaded(app, entryPoints) {
  writeFileSync(path.join(app, 'program.mjs'), entryPoints.map((entry) => `import '${entry}';\n`).join(''));
  writeFileSync(path.join(app, 'program.cjs'), entryPoints.map((entry) => `require('${entry}');\n`).join(''));
  return ['program.mjs', 'program.cjs'].flatMap((file) => run(file, app, path.join(app, file)));
}

function run(what, cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  if (status === 0 && stderr === '') return [];
  return [`${what}:`, ...`${stdout}${stderr}`.trimEnd().split('\n').slice(0, 10)];
}

/** Sources are not published: a map that does not hold them leads nowhere. Lists what refers to such a map, of the files that have a source now. */
function mapsWithoutSources(folder) {
  return readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => ['.js', '.d.ts'].map((ending) => path.join(folder, 'dist', file.replace(/\.ts$/, ending))))
    .filter((file) => {
      const [, map] = /^\/\/# sourceMappingURL=(.+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
      if (map === undefined) return false;
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(path.join(path.dirname(file), map), 'utf8'));
      return sources.some((_, i) => typeof sourcesContent[i] !== 'string');
    })
    .map((file) => `${file} has a source map that speaks of sources which are not published`);
}
