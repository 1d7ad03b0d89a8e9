/** Registers one test: vitest's `test`, node:test's, or any function of this shape. */
export type TestFunction = (title: string, body: () => void | Promise<void>) => void;

export interface SuiteReport {
  readonly passed: readonly string[];
  readonly failed: readonly { readonly title: string; readonly error: unknown }[];
}

/** Runs a contract suite without a test runner, one test after the other, and tells which tests failed: for trying a plugin in a script. */
export async function runSuite(suite: (test: TestFunction) => void): Promise<SuiteReport> {
  const tests: { title: string; body: () => void | Promise<void> }[] = [];
  suite((title, body) => tests.push({ title, body }));
  const passed: string[] = [];
  const failed: { title: string; error: unknown }[] = [];
  for (const { title, body } of tests) {
    try {
      await body();
      passed.push(title);
    } catch (error) {
      failed.push({ title, error });
    }
  }
  return { passed, failed };
}
