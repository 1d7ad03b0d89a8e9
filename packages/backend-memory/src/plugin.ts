import { definePlugin } from '@weir/core';
import type { MemorySize, PluginFactory, PluginList } from '@weir/core';
import { CheckpointStorageRole, StateBackendRole } from '@weir/core/contracts';
import { createMemoryStateBackend } from './memory-state-backend.js';
import type { MemoryStateOptions } from './memory-state-backend.js';
import { createMemoryStorage } from './storage/memory-storage.js';
import type { MemoryStorageOptions } from './storage/memory-storage.js';

/** Options of {@link memoryState}. */
export interface MemoryStatePluginOptions {
  /** What the captures of one operator in one subtask may hold beyond its state; above that, no records come. Default '16 mb'. */
  readonly preservedBytes?: MemorySize | undefined;
}
/** Options of {@link memoryStorage}. */
export interface MemoryStoragePluginOptions {
  /** The most that one operator in one subtask may store in a checkpoint. Default '5 mb'. */
  readonly maxStateSize?: MemorySize | undefined;
}

const SIZE = { holds: { kind: 'memory-size', min: 1 } };

/** Fills the role of state backend, as type `memory`, which Flink calls `hashmap`. */
export const memoryState: PluginFactory<MemoryStatePluginOptions> = definePlugin<MemoryStatePluginOptions>({
  name: '@weir/backend-memory/state',
  options: { type: 'object', properties: { preservedBytes: SIZE } },
  install(binder, options) {
    // The schema has read sizes as numbers of bytes.
    binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend(options as MemoryStateOptions));
  },
});

/** Fills the role of checkpoint storage, as type `memory`, which Flink calls `jobmanager`. Each job has its own, which ends with it. */
export const memoryStorage: PluginFactory<MemoryStoragePluginOptions> = definePlugin<MemoryStoragePluginOptions>({
  name: '@weir/backend-memory/storage',
  options: { type: 'object', properties: { maxStateSize: SIZE } },
  install(binder, options) {
    binder.provide(CheckpointStorageRole, 'memory', () => createMemoryStorage(options as MemoryStorageOptions));
  },
});

/** State and checkpoints in memory: `[memoryState(options), memoryStorage(options)]`. */
export function memoryBackend(options: MemoryStatePluginOptions & MemoryStoragePluginOptions = {}): PluginList {
  const { preservedBytes, maxStateSize } = options;
  return [memoryState({ preservedBytes }), memoryStorage({ maxStateSize })];
}
