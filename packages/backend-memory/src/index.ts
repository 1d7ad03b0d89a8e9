export { createMemoryStateBackend } from './memory-state-backend.js';
export type { MemoryStateOptions } from './memory-state-backend.js';
export { memoryBackend, memoryState, memoryStorage } from './plugin.js';
export type { MemoryStatePluginOptions, MemoryStoragePluginOptions } from './plugin.js';
export { createMemoryStorage } from './storage/memory-storage.js';
export type { MemoryStorageOptions } from './storage/memory-storage.js';
