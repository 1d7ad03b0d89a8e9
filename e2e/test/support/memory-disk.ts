import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, StateBackendRole, type Plugin, type PluginList } from '@weir/core';
import { CrashFileSystem } from '@weir/testkit';

/** Checkpoints in files on a disk in memory, new for each job. */
const filesInMemory: Plugin = {
  name: 'files-in-memory',
  install(binder) {
    binder.provide(CheckpointStorageRole, 'fs', () =>
      createFsStorage({ checkpointsDir: '/checkpoints', fileSystem: new CrashFileSystem() }),
    );
  },
};
const memoryState: Plugin = {
  name: 'memory-state',
  install(binder) {
    binder.provide(StateBackendRole, 'hashmap', () => createMemoryStateBackend());
  },
};

/** What a checkpointed job needs. */
export const plugins: PluginList = [checkpointCoordinator(), filesInMemory, memoryState];
