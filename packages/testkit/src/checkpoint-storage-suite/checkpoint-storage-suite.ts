import assert from 'node:assert/strict';
import type { TestFunction } from '../suite.js';
import { blobChecks } from './blobs.js';
import { checkpointChecks } from './checkpoints.js';
import { durabilityChecks, finishedChecks } from './finished.js';
import { committedChecks } from './committed.js';
import { checksOf, type CheckpointStorageSuiteOptions } from './fixture.js';
import { attemptChecks, lockChecks } from './locks.js';
import { savepointChecks } from './savepoints.js';
import { durableSharedFileCheck, sharedFileChecks, unsharedSavepointCheck } from './shared-files.js';

/**
 * What the CheckpointStorage contract promises to a running program and to the next one. What a crash of the machine leaves has to be
 * tested below the storage, for files on a CrashFileSystem.
 */
export function checkpointStorageSuite(test: TestFunction, options: CheckpointStorageSuiteOptions): void {
  const check = checksOf(test, options);
  check('declares its capabilities', async ({ fixture }) => {
    assert.deepEqual({ ...fixture.storage.capabilities }, { ...options.capabilities });
  });
  checkpointChecks(check);
  blobChecks(check);
  committedChecks(check);
  finishedChecks(check);
  if (options.capabilities.durable) durabilityChecks(check);
  attemptChecks(check);
  if (options.capabilities.locks) lockChecks(check);
  if (options.capabilities.savepoints === true) savepointChecks(check);
  if (options.capabilities.sharedFiles !== true) return;
  sharedFileChecks(check);
  if (options.capabilities.savepoints === true) unsharedSavepointCheck(check);
  if (options.capabilities.durable) durableSharedFileCheck(check);
}
