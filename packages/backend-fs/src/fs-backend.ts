import { memoryState } from '@weir/backend-memory';
import type { PluginList } from '@weir/core';
import { fsStorage } from './plugin.js';
import type { FsStoragePluginOptions } from './plugin.js';

/** State in memory and checkpoints on the local disk: `[memoryState(), fsStorage(options)]`. */
export function fsBackend(options: FsStoragePluginOptions = {}): PluginList {
  return [memoryState(), fsStorage(options)];
}
