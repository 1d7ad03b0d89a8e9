import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions, type Plugin } from 'vite';
import { defineProject } from 'vitest/config';

// Tests read the sources of every package, so they never run against a stale dist.
const conditions = ['weir-source', ...defaultServerConditions];

/** How many times as often as it says each property is tried: `PROPERTY_RUNS=100 npm test`. */
const PROPERTY_RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1);

/** Multiplies what the code of a property says of its runs, and of its time. Samples, which are no trials, stay as they are. */
const moreRuns: Plugin = {
  name: 'more-runs',
  enforce: 'pre',
  transform: (code, id) =>
    /\/(test|testkit\/src)\//.test(id) && !id.includes('/node_modules/')
      ? code
          .replace(/^(?!.*fc\.sample).*$/gm, (line) =>
            line.replace(/\bnumRuns: ([\w.]+)/, `numRuns: ($1) * ${String(PROPERTY_RUNS)}`),
          )
          // Where a test has a time of its own: last of its arguments, or a constant of that name.
          .replace(
            /(\}, |^\s+|^const TIMEOUT = )(\d[\d_]*_000)(?=\);$|,\n\s*\);$|;$)/gm,
            `$1$2 * ${String(PROPERTY_RUNS)}`,
          )
      : undefined,
};

/** The vitest project of one workspace folder. `configUrl` is the `import.meta.url` of its vitest.config.ts. */
export const project = (name: string, configUrl: string): ReturnType<typeof defineProject> => {
  const tests = fileURLToPath(new URL('test', configUrl));
  // Vitest starts a compiler and prints a notice for each project with type tests, so only those that have some ask for it.
  const hasTypeTests =
    existsSync(tests) &&
    readdirSync(tests, { recursive: true, encoding: 'utf8' }).some((f) => f.endsWith('.test-d.ts'));
  return defineProject({
    plugins: PROPERTY_RUNS === 1 ? [] : [moreRuns],
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: ['test/**/*.test.ts'],
      // Modules are loaded once for all files that a worker runs, which halves the CPU time of the whole: no test may leave anything behind.
      isolate: false,
      // Properties compute for seconds, several at once: the limit is there for what hangs, not for a machine that has more to do.
      testTimeout: 60_000 * PROPERTY_RUNS,
      ...(PROPERTY_RUNS === 1
        ? {}
        : { setupFiles: [fileURLToPath(new URL('property-runs.setup.ts', import.meta.url))] }),
      typecheck: { enabled: hasTypeTests, include: ['test/**/*.test-d.ts'], tsconfig: './tsconfig.types.json' },
    },
  });
};
