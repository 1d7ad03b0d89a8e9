// Which file may import which. Reads every import of every workspace with the TypeScript parser and reports what breaks a rule.
//
//   node scripts/check-boundaries.mjs [root]
//
// The rules are the four tables below and the functions named check*; each has a failing fixture in check-boundaries.test.mjs.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/** The packages that a package's src may import. Everything needs core; a backend stands on the next simpler one. */
const PACKAGE_IMPORTS = {
  core: [],
  coordinator: ['core'],
  'backend-memory': ['core'],
  'backend-fs': ['core', 'backend-memory'],
  'backend-rocksdb': ['core', 'backend-fs'],
  'restart-strategies': ['core'],
  connectors: ['core'],
  testkit: ['core'],
};

/** What a package's tests may import on top. Anything that needs two plugins lives in e2e. */
const TEST_IMPORTS = ['core', 'testkit'];

/** Workspaces that may import every package and that nothing imports. */
const APPS = ['examples', 'examples/third-party-backend', 'e2e', 'benchmarks'];

/** core/src in the order of the algorithm: a file may import from its own entry and from earlier ones. */
const CORE_ORDER = [
  'errors.ts',
  'failures.ts',
  'element',
  'contracts',
  'bounds',
  'channel',
  'barrier',
  'time',
  'state',
  'operator',
  'snapshot',
  'stage',
  'graph',
  // The real clock and the like: only the host and what comes after it may choose them.
  'adapters',
  'reader',
  'host',
  'environment',
];

/** The entry points of core, which come after everything else. */
const CORE_ENTRY_POINTS = ['operators.ts', 'barrier.ts', 'contracts.ts', 'state-reader.ts', 'index.ts'];

/** Entry points that an application may bundle without these modules. */
const LIGHT_ENTRY_POINTS = {
  'packages/core/src/operators.ts': ['ajv', 'pino', 'typedi'],
  'packages/core/src/barrier.ts': ['ajv', 'pino', 'typedi'],
};

const SCOPE = '@weir/';

/** Lists every violation below `root`, each as `file:line message`; an empty list means that the rules hold. */
export function checkBoundaries(root) {
  const workspaces = readWorkspaces(root);
  const files = workspaces.flatMap((workspace) => readFiles(root, workspace));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const violations = [];
  const report = (file, line, message) => violations.push(`${file.path}:${line} ${message}`);

  for (const workspace of workspaces) {
    if (workspace.kind === 'package' && !(workspace.short in PACKAGE_IMPORTS)) {
      violations.push(`${workspace.dir}/package.json:1 is not in PACKAGE_IMPORTS of scripts/check-boundaries.mjs`);
    }
  }
  for (const file of files) {
    for (const item of file.imports) {
      if (item.specifier.startsWith('.')) checkRelative(root, file, item, byPath, report);
      else checkBare(file, item, workspaces, report);
    }
    checkCorePlace(file, report);
  }
  for (const file of files) checkCoreOrder(file, report);
  checkCycles(files, byPath, violations);
  checkLightEntryPoints(byPath, workspaces, violations);
  return violations.sort();
}

// Rules

function checkRelative(root, file, item, byPath, report) {
  const target = path.posix.join(path.posix.dirname(file.path), item.specifier);
  if (!target.startsWith(`${file.workspace.dir}/`)) {
    report(file, item.line, `'${item.specifier}' leaves the package: import it by its name`);
    return;
  }
  const source = [target.replace(/\.js$/, '.ts'), target.replace(/\.mjs$/, '.mts'), target].find((p) => byPath.has(p));
  if (source !== undefined) {
    item.target = source;
    if (file.area === 'src' && byPath.get(source).area === 'test') {
      report(file, item.line, `'${item.specifier}' is a test, and src may not import tests`);
    }
  } else if (!existsSync(path.join(root, target))) {
    report(file, item.line, `'${item.specifier}' does not resolve to a file`);
  }
}

function checkBare(file, item, workspaces, report) {
  const { specifier, line } = item;
  const name = packageName(specifier);
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith('node:'))
      report(file, line, `'${specifier}' is a module of Node: write 'node:${specifier}'`);
    return;
  }
  const target = workspaces.find((w) => w.name === name);
  if (name.startsWith(SCOPE) && target === undefined) {
    report(file, line, `'${specifier}' is not a package of this workspace`);
    return;
  }
  if (target !== undefined) {
    if (!checkDirection(file, item, target, report)) return;
    const subpath = `.${specifier.slice(name.length)}`;
    const entry = target.manifest.exports?.[subpath];
    if (entry === undefined) {
      report(file, line, `'${specifier}' reaches past the exports of ${name}`);
      return;
    }
    const source = typeof entry === 'object' ? entry['weir-source'] : undefined;
    if (source !== undefined) item.entry = path.posix.join(target.dir, source);
  }
  checkDeclared(file, item, name, target, report);
}

function checkDirection(file, { specifier, line }, target, report) {
  const from = file.workspace;
  if (target.kind === 'app' && target !== from) {
    report(file, line, `'${specifier}': nothing imports ${target.name}`);
    return false;
  }
  if (target === from) {
    if (file.area === 'test') return true;
    report(file, line, `'${specifier}': a package does not import itself by name`);
    return false;
  }
  if (from.kind === 'app') return true;
  const allowed = new Set([...(PACKAGE_IMPORTS[from.short] ?? []), ...(file.area === 'test' ? TEST_IMPORTS : [])]);
  if (allowed.has(target.short)) return true;
  const rule = allowed.size === 0 ? 'imports no other package' : `may import only ${[...allowed].join(', ')}`;
  report(file, line, `'${specifier}': ${file.area} of ${from.name} ${rule}`);
  return false;
}

function checkDeclared(file, { specifier, line, typeOnly, dynamic }, name, target, report) {
  const { manifest, kind } = file.workspace;
  if (target !== undefined && target === file.workspace) return;
  const isTest = file.area === 'test';
  // The task graph counts devDependencies too: core -> testkit -> core would be a circle, so core's tests do not declare it.
  if (isTest && file.workspace.name === `${SCOPE}core` && name === `${SCOPE}testkit`) return;
  const declared =
    name in (manifest.dependencies ?? {}) ||
    name in (manifest.peerDependencies ?? {}) ||
    ((isTest || kind === 'app') && name in (manifest.devDependencies ?? {})) ||
    (kind === 'app' && name in (manifest.optionalDependencies ?? {})) ||
    (isTest && name in file.workspace.rootDevDependencies);
  if (!declared) {
    const where = isTest
      ? 'any dependency field'
      : kind === 'app'
        ? 'its dependencies'
        : 'dependencies or peerDependencies';
    report(file, line, `'${specifier}' is not declared in ${where} of ${file.workspace.dir}/package.json`);
  } else if (!isTest && !typeOnly && !dynamic && manifest.peerDependenciesMeta?.[name]?.optional === true) {
    report(file, line, `'${specifier}' is an optional peer: load it by import() where it is used`);
  }
}

function checkCorePlace(file, report) {
  const entry = coreEntry(file.path);
  if (entry !== undefined && !CORE_ORDER.includes(entry) && !CORE_ENTRY_POINTS.includes(entry)) {
    report(file, 1, `'${entry}' has no place in CORE_ORDER of scripts/check-boundaries.mjs`);
  }
}

function checkCoreOrder(file, report) {
  const own = coreRank(file.path);
  if (own === undefined) return;
  for (const item of file.imports) {
    const rank = item.target === undefined ? undefined : coreRank(item.target);
    if (rank !== undefined && rank > own) {
      report(
        file,
        item.line,
        `'${item.specifier}': ${coreEntry(item.target)} comes after ${coreEntry(file.path)} in core/src`,
      );
    }
  }
}

function checkCycles(files, byPath, violations) {
  for (const cycle of findCycles(files, byPath)) violations.push(`${cycle[0]}:1 import cycle: ${cycle.join(' -> ')}`);
}

function checkLightEntryPoints(byPath, workspaces, violations) {
  for (const [entry, banned] of Object.entries(LIGHT_ENTRY_POINTS)) {
    if (!byPath.has(entry)) continue;
    const cameFrom = new Map([[entry, undefined]]);
    for (const current of cameFrom.keys()) {
      for (const item of byPath.get(current).imports) {
        if (item.typeOnly) continue;
        const name = packageName(item.specifier);
        if (banned.includes(name)) {
          const chain = [item.specifier];
          for (let at = current; at !== undefined; at = cameFrom.get(at)) chain.unshift(at);
          violations.push(`${current}:${item.line} ${entry} loads ${name}: ${chain.join(' -> ')}`);
        }
        const next = item.target ?? item.entry;
        if (next !== undefined && byPath.has(next) && !cameFrom.has(next)) cameFrom.set(next, current);
      }
    }
  }
}

// Reading

function readWorkspaces(root) {
  const rootDevDependencies = readJson(path.join(root, 'package.json'))?.devDependencies ?? {};
  const packagesDir = path.join(root, 'packages');
  const packages = existsSync(packagesDir) ? readdirSync(packagesDir) : [];
  return [
    ...packages.map((short) => ({ kind: 'package', short, dir: `packages/${short}` })),
    ...APPS.map((short) => ({ kind: 'app', short, dir: short })),
  ].flatMap((workspace) => {
    const manifest = readJson(path.join(root, workspace.dir, 'package.json'));
    return manifest === undefined ? [] : [{ ...workspace, manifest, name: manifest.name, rootDevDependencies }];
  });
}

function readFiles(root, workspace) {
  return ['src', 'test'].flatMap((area) => {
    const dir = path.join(root, workspace.dir, area);
    if (!existsSync(dir)) return [];
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .map((name) => name.split(path.sep).join('/'))
      .filter((name) => /\.m?ts$/.test(name) && statSync(path.join(dir, name)).isFile())
      .map((name) => {
        const file = `${workspace.dir}/${area}/${name}`;
        return { path: file, area, workspace, imports: readImports(file, readFileSync(path.join(root, file), 'utf8')) };
      });
  });
}

/** Every import of a file, with its line, whether it is erased by the compiler and whether it is an `import()`. */
function readImports(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const imports = [];
  const add = (node, specifier, typeOnly, dynamic = false) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const { line } = source.getLineAndCharacterOfPosition(ts.skipTrivia(text, node.pos));
    imports.push({ specifier: specifier.text, line: line + 1, typeOnly, dynamic });
  };
  const visit = (node) => {
    // `import { type A } from 'x'` still loads x under verbatimModuleSyntax; only `import type` is erased.
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      add(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0], false, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}

// Small parts

/** One cycle per knot of files that import each other, shortest way round. Type-only imports count. */
function findCycles(files, byPath) {
  const next = (file) => byPath.get(file).imports.flatMap((item) => (item.target === undefined ? [] : [item.target]));
  const cycles = [];
  const seen = new Set();
  for (const start of files.map((file) => file.path).sort()) {
    if (seen.has(start)) continue;
    const cameFrom = new Map();
    const queue = [start];
    for (const current of queue) {
      for (const target of next(current)) {
        if (cameFrom.has(target)) continue;
        cameFrom.set(target, current);
        queue.push(target);
      }
      if (cameFrom.has(start)) break;
    }
    if (!cameFrom.has(start)) continue;
    const cycle = [start];
    for (let at = cameFrom.get(start); at !== start; at = cameFrom.get(at)) cycle.unshift(at);
    cycle.unshift(start);
    for (const file of cycle) seen.add(file);
    cycles.push(cycle);
  }
  return cycles;
}

/** The folder or root file of core/src that a file belongs to; undefined outside core/src. */
function coreEntry(file) {
  const prefix = 'packages/core/src/';
  return file.startsWith(prefix) ? file.slice(prefix.length).split('/')[0] : undefined;
}

function coreRank(file) {
  const entry = coreEntry(file);
  if (entry === undefined) return undefined;
  if (CORE_ENTRY_POINTS.includes(entry)) return CORE_ORDER.length;
  const rank = CORE_ORDER.indexOf(entry);
  return rank < 0 ? undefined : rank;
}

function packageName(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const violations = checkBoundaries(process.argv[2] ?? process.cwd());
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exit(1);
}
