import type { TestFunction } from '../suite.js';
import { enumeratorChecks } from './enumerator.js';
import { checksOf, type SourceSuiteOptions } from './fixture.js';
import { readerChecks } from './reader.js';

/** The contract of sources and their split enumerators. Each test gets an input of its own from `options.create`. */
export function sourceSuite<T>(test: TestFunction, options: SourceSuiteOptions<T>): void {
  const check = checksOf(test, options);
  enumeratorChecks(check, options);
  readerChecks(check, options);
}
