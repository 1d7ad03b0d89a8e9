import assert from 'node:assert/strict';
import type { TestFunction } from '../suite.js';
import { atOnceChecks } from './at-once.js';
import { boundCheck } from './bound.js';
import { brokenLineChecks } from './broken-line.js';
import { destinationChecks } from './destination.js';
import { checksOf, type SinkSuiteOptions } from './fixture.js';
import { runOne } from './running-sink.js';
import { transactionalChecks } from './transactional.js';

/** The contract of sinks, their writers and committers. Each test gets a place of its own from `options.create`. */
export function sinkSuite<T>(test: TestFunction, options: SinkSuiteOptions<T>): void {
  const { grade } = options.capabilities;
  const check = checksOf(test, options);

  check('declares the grade that it is said to have', async ({ fixture }) => {
    assert.equal(fixture.sink().grade, grade);
  });

  check('can be closed without a record, and twice', async (bench) => {
    const { close, writer } = await runOne(bench, 1);
    await close();
    await writer.close();
    await bench.seen();
  });

  if (grade === 'exactly-once') {
    transactionalChecks(check);
    destinationChecks(check);
    brokenLineChecks(check);
    if (options.mostHeld !== undefined) boundCheck(check, options.mostHeld);
  } else atOnceChecks(check, grade);
}
