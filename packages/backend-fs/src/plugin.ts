import { memoryState } from '@weir/backend-memory';
import { definePlugin, settingOf, type MemorySize, type Plugin, type PluginFactory } from '@weir/core';
import { CheckpointStorageRole } from '@weir/core/contracts';
import { createFsStorage, type FsStorageOptions } from './fs-storage.js';

/** Options of {@link fsStorage}. Each can also be set in the configuration. */
export interface FsStoragePluginOptions {
  /** Folder for the checkpoints of any number of jobs: a path or a `file:` URL. Key `execution.checkpointing.dir`. */
  readonly checkpointsDir?: string | undefined;
  /** Folder for savepoints that nobody gives another. Key `execution.checkpointing.savepoint-dir`. */
  readonly savepointsDir?: string | undefined;
  /** State of at most so many bytes is stored inside `_metadata`, up to 1 MiB. Default '20 kb'. Key `execution.checkpointing.data-inline-threshold`. */
  readonly inlineThreshold?: MemorySize | undefined;
  /** Bytes collected before they are written. Default '4 kb', at least the inline threshold. Key `execution.checkpointing.write-buffer-size`. */
  readonly writeBufferSize?: MemorySize | undefined;
}

/** Fills the role of checkpoint storage with a directory on the local disk, as type `fs`. */
export const fsStorage: PluginFactory<FsStoragePluginOptions> = definePlugin<FsStoragePluginOptions>({
  name: '@weir/backend-fs',
  options: {
    type: 'object',
    properties: {
      checkpointsDir: { type: 'string', minLength: 1 },
      savepointsDir: { type: 'string', minLength: 1 },
      inlineThreshold: settingOf('execution.checkpointing.data-inline-threshold'),
      writeBufferSize: settingOf('execution.checkpointing.write-buffer-size'),
    },
    required: ['checkpointsDir'],
  },
  keys: {
    checkpointsDir: 'execution.checkpointing.dir',
    savepointsDir: 'execution.checkpointing.savepoint-dir',
    inlineThreshold: 'execution.checkpointing.data-inline-threshold',
    writeBufferSize: 'execution.checkpointing.write-buffer-size',
  },
  install(binder, options) {
    // The schema has read sizes as numbers of bytes, and refused a missing folder.
    binder.provide(CheckpointStorageRole, 'fs', () => createFsStorage(options as FsStorageOptions));
  },
});

/** State in the heap, checkpoints on the local disk (Flink: FsStateBackend): `memoryState()` and `fsStorage(options)`. */
export function fsBackend(options?: FsStoragePluginOptions): readonly Plugin[] {
  return [memoryState(), fsStorage(options)];
}
