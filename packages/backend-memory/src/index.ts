export { createMemoryStateBackend } from './memory-state-backend.js';
export type { MemoryStateOptions } from './memory-state-backend.js';
export { memoryState } from './plugin.js';
export type { MemoryStatePluginOptions } from './plugin.js';
