import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'examples', 'examples/third-party-backend', 'e2e', 'benchmarks', 'docs', 'scripts'],
    reporters: ['default', './closing-line.reporter.ts'],
    coverage: { provider: 'v8', include: ['packages/*/src/**/*.ts'], reporter: ['text-summary', 'json'] },
  },
});
