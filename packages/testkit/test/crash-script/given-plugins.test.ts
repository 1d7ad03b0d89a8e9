import type { Plugin } from '@weir/core';
import { CheckpointStorageRole, CoordinatorRole, StateBackendRole } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { requireCheckpoints, withStateBackend } from '../../src/crash-script/given-plugins.js';
import { createReferenceStateBackend } from '../../src/index.js';

const never = (): never => {
  throw new Error('nothing may be created');
};
const coordinator: Plugin = { name: 'c', install: (binder) => binder.provide(CoordinatorRole, 'c', never) };
const storage: Plugin = { name: 's', install: (binder) => binder.provide(CheckpointStorageRole, 's', never) };
const state: Plugin = {
  name: 'b',
  install: (binder) => binder.provide(StateBackendRole, 'b', createReferenceStateBackend),
};

describe('scripts with crashes', () => {
  test('say what to install and what to pass when nothing can take checkpoints', () => {
    expect(() => {
      requireCheckpoints([], 'A script with crash()');
    }).toThrow(
      'PLUGIN_MISSING: A script with crash() needs checkpoints, but the plugins given bring no coordinator and no checkpoint storage: ' +
        'npm i -D @weir/coordinator @weir/backend-memory, then { plugins: [checkpointCoordinator(), memoryBackend()] }.',
    );
  });
  test('say which part is missing', () => {
    expect(() => {
      requireCheckpoints([[coordinator]], 'It');
    }).toThrow('bring no checkpoint storage:');
  });
  test('are content with a coordinator and a storage, however deep in lists, and create nothing', () => {
    requireCheckpoints([coordinator, [[storage]]], 'It');
  });
});

test('the reference state backend is added only where there is none', () => {
  expect(withStateBackend([[state]])).toEqual([[state]]);
  expect(withStateBackend([coordinator])).toHaveLength(2);
});
