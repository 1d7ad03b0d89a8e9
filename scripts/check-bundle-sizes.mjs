// How much of weir's own code an application carries that uses one thing: minified and gzipped, without dependencies. Each has a limit, which only
// ever falls: what is bundled must not grow by an import that nobody saw.
import { gzipSync } from 'node:zlib';
import path from 'node:path';
import { build } from 'esbuild';

/** By what is used; limits in bytes. */
const LIMITS = {
  align: { code: "export { align } from '@weir/core/barrier';", limit: 4_900 },
  map: { code: "export { map } from '@weir/core/operators';", limit: 2_800 },
  'keyed process': { code: "export { keyBy, keyedProcess, valueState } from '@weir/core/operators';", limit: 19_000 },
  createEnvironment: { code: "export { createEnvironment } from '@weir/core';", limit: 72_500 },
};

/** The problems of bundles that are larger than they may be. `sizes` gets the size of each. */
export async function checkBundleSizes(root, sizes = {}, limits = LIMITS) {
  const problems = [];
  for (const [name, { code, limit }] of Object.entries(limits)) {
    const { outputFiles } = await build({
      stdin: { contents: code, resolveDir: path.join(root, 'e2e') },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'node',
      // What is not weir's own.
      plugins: [
        {
          name: 'dependencies-stay-outside',
          setup({ onResolve }) {
            onResolve({ filter: /^[^./]/ }, ({ path: id }) =>
              id.startsWith('@weir/') ? undefined : { path: id, external: true },
            );
          },
        },
      ],
    });
    const size = gzipSync(outputFiles[0].contents).length;
    sizes[name] = size;
    if (size > limit) problems.push(`${name}: ${String(size)} bytes, and ${String(limit)} are allowed`);
  }
  return problems;
}

if (process.argv[1] === import.meta.filename) {
  const sizes = {};
  const problems = await checkBundleSizes(path.resolve(import.meta.dirname, '..'), sizes);
  for (const [name, size] of Object.entries(sizes)) console.log(`${name.padEnd(20)} ${String(size).padStart(7)} bytes`);
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
