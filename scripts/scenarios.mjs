// Which scenarios of Flink's tests have a test here, and why the others have none. Fails if one has neither.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCENARIOS } from './scenario-list.mjs';

/** Every text in the tests below `root` that may be part of a title, with the file it is in. */
export function titlesIn(root) {
  const packages = readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}`);
  return [...packages, 'e2e', 'docs'].flatMap((dir) =>
    testsIn(root, `${dir}/test`).flatMap((file) =>
      textsIn(readFileSync(path.join(root, file), 'utf8')).map((text) => ({ file, text })),
    ),
  );
}

/** What there is of each scenario: the files of its tests, a reason for having none, or neither. */
export function coverage(scenarios, titles) {
  return scenarios.map((scenario) => {
    const eligible = titles.filter(({ file }) => scenario.in === undefined || file.includes(scenario.in));
    const files = wantedOf(scenario).map((wanted) =>
      eligible.filter(({ text }) => carries(text, wanted)).map(({ file }) => file),
    );
    const missing = wantedOf(scenario).filter((_, i) => files[i].length === 0);
    return { scenario, missing, files: [...new Set(files.flat())].sort() };
  });
}

/** A line for each scenario, and what is wrong. */
export function report(covered) {
  const lines = [];
  const problems = [];
  for (const { scenario, missing, files } of covered) {
    const name = `${scenario.of}: ${wantedOf(scenario).join(', ')}`;
    if (missing.length === 0) lines.push(`tested   ${name} (${scenario.about})\n           ${files.join(', ')}`);
    else if (scenario.without !== undefined)
      lines.push(`untested ${name} (${scenario.about})\n           because ${scenario.without}`);
    else {
      lines.push(`MISSING  ${name} (${scenario.about})`);
      problems.push(
        `${scenario.of}: no test carries ${missing.join(', ')} in its title, and there is no reason why not`,
      );
    }
    if (missing.length === 0 && scenario.without !== undefined) problems.push(`${name} is tested, but said not to be`);
  }
  return { lines, problems };
}

function wantedOf({ names, title }) {
  return names ?? [title];
}

/** The whole name, not the beginning of a longer one. */
function carries(text, wanted) {
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (!/[A-Za-z0-9]/.test(text.charAt(at + wanted.length)) && !/[A-Za-z0-9]/.test(text.charAt(at - 1))) return true;
  }
  return false;
}

/** Texts in quotes, comments left out. */
function textsIn(source) {
  return [
    ...source.matchAll(/\/\/.*$|\/\*[^]*?\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/gm),
  ].flatMap(([, single, double, back]) => [single, double, back].filter((text) => text !== undefined));
}

function testsIn(root, dir) {
  if (!existsSync(path.join(root, dir))) return [];
  const names = readdirSync(path.join(root, dir), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${dir}/${name.replaceAll(path.sep, '/')}`)
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const covered = coverage(SCENARIOS, titlesIn(path.resolve(import.meta.dirname, '..')));
  const { lines, problems } = report(covered);
  for (const line of lines) console.log(line);
  const tested = covered.filter(({ missing }) => missing.length === 0).length;
  console.log(`${tested} of ${covered.length} scenarios are tested, ${problems.length} problems`);
  for (const problem of problems) console.error(problem);
  process.exit(problems.length > 0 ? 1 : 0);
}
