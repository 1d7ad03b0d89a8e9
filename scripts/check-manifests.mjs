// What a registry shows of a package must lead somewhere: every manifest says where its sources, its page and its issues are, as the root does.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Stands for the repository until somebody publishes: a name that nobody can own (RFC 2606). */
const UNSET = /\/\/([\w-]+\.)*example(\/|$)/;

const manifestOf = (root, dir) => JSON.parse(readFileSync(path.join(root, dir, 'package.json'), 'utf8'));

/** Lists what manifests below `root` lack, and where they differ from the root's. */
export function checkManifests(root) {
  const { repository, homepage, bugs, license } = manifestOf(root, '.');
  return readdirSync(path.join(root, 'packages')).flatMap((name) => {
    const directory = `packages/${name}`;
    const manifest = manifestOf(root, directory);
    const expected = {
      license,
      homepage: `${homepage}/tree/main/${directory}`,
      repository: { ...repository, directory },
      bugs,
    };
    const problems = Object.entries(expected)
      .filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
      .map(([field, value]) => `${field} should be ${JSON.stringify(value)}, after the manifest of the root`);
    if (!manifest.description) problems.push('description is missing');
    if (!(manifest.keywords?.length >= 3)) problems.push('keywords are fewer than three');
    return problems.map((problem) => `${directory}/package.json: ${problem}`);
  });
}

/** Lists fields of the root's manifest that still stand for a repository that nobody has named. */
export function unsetPlaces(root) {
  const { repository, homepage, bugs } = manifestOf(root, '.');
  return Object.entries({ homepage, repository: repository?.url, bugs })
    .filter(([, url]) => url === undefined || UNSET.test(url))
    .map(
      ([field, url]) =>
        `package.json: ${field} is ${url}: say where weir is published from, there and in every package`,
    );
}
