import tseslint from 'typescript-eslint';
import { determinism, namedExports } from './eslint.rules.js';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/native/build/**', '**/coverage/**', '.nx/**', '**/.weir-tmp/**'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // The union gains a case, the switch stops compiling.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],

      // Off: indexed reads are `T | undefined`, and in a loop bounded by `length` a check per record costs time.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Off: contracts are asynchronous, and an `async` method turns a throw into a rejection also where nothing is awaited.
      '@typescript-eslint/require-await': 'off',
      // Off: `void | Promise<void>` is how a contract says "await this only if there is something to wait for".
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Off: tokens and stages carry phantom type parameters that appear once by design.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Relaxed: numbers and booleans read well in messages; objects, arrays and undefined stay errors.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Relaxed: `() => subject.next(x)` as a callback is ordinary RxJS.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Relaxed: `while (true)` with an exit inside is the shape of every record loop.
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      // Relaxed: a contract method that returns void may be implemented by one that has something to wait for.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { inheritedMethods: false } }],
    },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    rules: { 'no-console': 'error' },
  },
  namedExports,
  determinism,
  {
    name: 'weir/tests',
    files: ['**/test/**/*.ts'],
    rules: {
      // Matchers such as `expect.any` and parsed JSON are `any`; the assertion itself is the check.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      // Fakes have methods that do nothing.
      '@typescript-eslint/no-empty-function': 'off',
      // Expecting `spy.method` to have been called is not a call without its receiver.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    name: 'weir/examples-on-pages',
    files: ['docs/examples/**/*.ts'],
    // Off: an example ends where its point is made.
    rules: { '@typescript-eslint/no-unused-vars': 'off' },
  },
  {
    name: 'weir/tools',
    // Outside every TypeScript project: type-checked by tsconfig.tools.json, or plain JavaScript.
    files: ['**/*.js', '**/*.mjs', '*.ts', '**/vitest.config.ts'],
    ...tseslint.configs.disableTypeChecked,
  },
);
