// Changesets must be readable and name packages that are published; a branch that changes a package's sources must bring one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Lists what is wrong with the changesets below `root`; `changed` are the files that differ from main. */
export function checkChangesets(root, changed = changedSinceMain(root)) {
  const dir = path.join(root, '.changeset');
  const published = readdirSync(path.join(root, 'packages')).flatMap((name) => {
    const file = path.join(root, 'packages', name, 'package.json');
    if (!existsSync(file)) return [];
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    return manifest.private === true ? [] : [manifest.name];
  });
  const names = readdirSync(dir).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const problems = names.flatMap((name) =>
    problemsOf(readFileSync(path.join(dir, name), 'utf8'), published).map(
      (problem) => `.changeset/${name}: ${problem}`,
    ),
  );
  const sources = changed.filter((file) => /^packages\/[^/]+\/src\//.test(file));
  if (sources.length > 0 && !changed.some((file) => /^\.changeset\/[^/]+\.md$/.test(file))) {
    problems.push(`${sources[0]} differs from main and no changeset says why: npx changeset`);
  }
  return problems;
}

function problemsOf(text, published) {
  const [, header, summary] = /^---\r?\n([^]*?)^---\r?\n([^]*)$/m.exec(text) ?? [];
  if (header === undefined) return ['has no front matter'];
  const problems = [];
  for (const line of header.split(/\r?\n/).filter((l) => l.trim() !== '')) {
    const [, name, bump] = /^['"]?([^'":]+)['"]?:\s*(\S+)$/.exec(line) ?? [];
    if (!published.includes(name)) problems.push(`'${line}' does not name a published package`);
    else if (!['major', 'minor', 'patch'].includes(bump)) problems.push(`'${line}' is not major, minor or patch`);
  }
  if (summary.trim() === '') problems.push('has no summary');
  return problems;
}

/** Committed differences of this branch from main; nothing on main itself or where main is not known. */
function changedSinceMain(root) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (const main of ['main', 'origin/main']) {
    try {
      return git('diff', '--name-only', `${main}...HEAD`).split('\n').filter(Boolean);
    } catch {
      // Not a repository, a shallow clone, or no such branch.
    }
  }
  return [];
}
