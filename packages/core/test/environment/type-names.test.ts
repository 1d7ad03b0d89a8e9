import { expect, test } from 'vitest';
import { CheckpointStorageRole, RestartStrategyRole, StateBackendRole } from '../../src/contracts/roles.js';
import { typeName } from '../../src/environment/type-names.js';

test.each([
  [StateBackendRole, 'hashmap', 'memory'],
  [StateBackendRole, 'filesystem', 'memory'],
  [StateBackendRole, 'jobmanager', 'memory'],
  [StateBackendRole, 'memory', 'memory'],
  [StateBackendRole, 'RocksDB', 'rocksdb'],
  [CheckpointStorageRole, 'filesystem', 'fs'],
  [CheckpointStorageRole, 'jobmanager', 'memory'],
  [RestartStrategyRole, 'fixeddelay', 'fixed-delay'],
  [RestartStrategyRole, 'off', 'none'],
])('for %o a value of an older or a newer page, %s, means %s', (role, written, type) => {
  expect(typeName(role.name, written)).toBe(type);
});
