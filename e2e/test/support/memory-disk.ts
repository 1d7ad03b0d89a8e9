import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, StateBackendRole, type Plugin, type PluginList } from '@weir/core';
import { CrashFileSystem } from '@weir/testkit';

const memoryState: Plugin = {
  name: 'memory-state',
  install(binder) {
    binder.provide(StateBackendRole, 'hashmap', () => createMemoryStateBackend());
  },
};

/** What a checkpointed job needs, with its checkpoints in files on the disk that `diskOf` gives for it. */
function pluginsWith(diskOf: () => CrashFileSystem): PluginList {
  const files: Plugin = {
    name: 'files-in-memory',
    install(binder) {
      binder.provide(CheckpointStorageRole, 'fs', () =>
        createFsStorage({ checkpointsDir: '/checkpoints', fileSystem: diskOf() }),
      );
    },
  };
  return [checkpointCoordinator(), files, memoryState];
}

/** On a disk in memory, new for each job. */
export const plugins: PluginList = pluginsWith(() => new CrashFileSystem());

/** On a disk on which the next job finds what this one has left. */
export function pluginsOn(disk: CrashFileSystem): PluginList {
  return pluginsWith(() => disk);
}
