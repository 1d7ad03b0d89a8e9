import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import { defineProject } from 'vitest/config';

// Tests read the sources of every package, so they never run against a stale dist.
const conditions = ['weir-source', ...defaultServerConditions];

/** The vitest project of one workspace folder. `configUrl` is the `import.meta.url` of its vitest.config.ts. */
export const project = (name: string, configUrl: string): ReturnType<typeof defineProject> => {
  const tests = fileURLToPath(new URL('test', configUrl));
  // Vitest starts a compiler and prints a notice for each project with type tests, so only those that have some ask for it.
  const hasTypeTests =
    existsSync(tests) &&
    readdirSync(tests, { recursive: true, encoding: 'utf8' }).some((f) => f.endsWith('.test-d.ts'));
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: ['test/**/*.test.ts'],
      // Properties compute for seconds, several at once: the limit is there for what hangs, not for a machine that has more to do.
      testTimeout: 60_000,
      typecheck: { enabled: hasTypeTests, include: ['test/**/*.test-d.ts'], tsconfig: './tsconfig.types.json' },
    },
  });
};
