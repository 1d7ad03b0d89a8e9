import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with `N passed, N failed, N skipped` alone on the last line, for readers that only count. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      // A file that cannot be loaded has no tests to count, and a failing hook fails none of its tests.
      const errors = module.errors().length;
      failed += errors;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
    }
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
