import type { TestFunction } from '../suite.js';
import { acknowledgingChecks } from './acknowledging.js';
import { arrivingChecks } from './arriving.js';
import { attemptChecks } from './attempts.js';
import { enumeratorChecks } from './enumerator.js';
import { checksOf, type SourceSuiteOptions } from './fixture.js';
import { outsideChecks } from './outside.js';
import { readerChecks } from './reader.js';

/** The contract of sources and their split enumerators. Each test gets an input of its own from `options.create`. */
export function sourceSuite<T>(test: TestFunction, options: SourceSuiteOptions<T>): void {
  const check = checksOf(test, options);
  enumeratorChecks(check, options);
  readerChecks(check, options);
  if (options.capabilities.grade === 'replayable') {
    attemptChecks(check, options);
    arrivingChecks(check);
    outsideChecks(check, options);
  }
  if (options.capabilities.grade === 'acknowledging') acknowledgingChecks(check);
}
