import type { TestFunction } from '../suite.js';
import { captureChecks, coexistenceChecks } from './captures.js';
import { listChecks, mapChecks } from './collections.js';
import { expiryChecks } from './expiry.js';
import { checksOf, type StateBackendSuiteOptions } from './fixture.js';
import { historyChecks } from './histories.js';
import { incrementalChecks } from './incremental.js';
import { lifeCycleChecks } from './life-cycle.js';
import { timerChecks } from './timers.js';
import { valueChecks } from './values.js';
import { writingChecks } from './writing.js';

/**
 * What the StateBackend contract promises. Nearly everything is tried four times: in a fresh store, in one restored from its own snapshot, and in
 * stores restored into half and into double the key groups. Snapshots are read by the canonical format alone, so a backend that passes can be
 * exchanged for another between two runs of a job.
 */
export function stateBackendSuite(test: TestFunction, options: StateBackendSuiteOptions): void {
  const check = checksOf(test, options);
  valueChecks(check);
  listChecks(check);
  mapChecks(check);
  timerChecks(check);
  captureChecks(check);
  coexistenceChecks(check);
  expiryChecks(test, options);
  historyChecks(test, options);
  incrementalChecks(test, options);
  writingChecks(test, options);
  lifeCycleChecks(test, options);
}
