import { definePlugin, type MemorySize, type PluginFactory } from '@weir/core';
import { StateBackendRole } from '@weir/core/contracts';
import { createMemoryStateBackend, type MemoryStateOptions } from './memory-state-backend.js';

/** Options of {@link memoryState}. */
export interface MemoryStatePluginOptions {
  /** What the captures of one operator's subtask may hold beyond the state itself. Default '16 mb'. */
  readonly preservedBytes?: MemorySize | undefined;
}

/** Fills the role of state backend with live values in the heap, as type `memory` (Flink's `hashmap`). */
export const memoryState: PluginFactory<MemoryStatePluginOptions> = definePlugin<MemoryStatePluginOptions>({
  name: '@weir/backend-memory/state',
  options: {
    type: 'object',
    properties: { preservedBytes: { holds: { kind: 'memory-size', min: 1 } } },
  },
  install(binder, options) {
    // The schema has read sizes as numbers of bytes.
    binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend(options as MemoryStateOptions));
  },
});
