export { createFsStorage } from './fs-storage.js';
export type { FsStorageOptions } from './fs-storage.js';
export { systemProcesses } from './adapters/process-identity.js';
export type { ProcessIdentity, ProcessTable } from './adapters/process-identity.js';
export { fsBackend, fsStorage } from './plugin.js';
export type { FsStoragePluginOptions } from './plugin.js';
