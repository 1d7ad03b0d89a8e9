import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, StateBackendRole, type PluginFactory } from '@weir/core';
import type { StateBackend } from '@weir/core/contracts';
import { LmdbStore } from './lmdb-store.js';

export interface LmdbStateOptions {
  /** For the working files, which are no more than a cache of what checkpoints hold. Made when needed. */
  readonly directory: string;
}

/** Keyed state in LMDB: as much as fits on the disk. */
export function createLmdbState({ directory }: LmdbStateOptions): StateBackend {
  return {
    type: 'lmdb',
    // Each read decodes.
    capabilities: { keepsIdentity: false },
    async open(scope) {
      await mkdir(directory, { recursive: true });
      return new LmdbStore(scope, await mkdtemp(join(directory, 'state-')));
    },
  };
}

/** `plugins: [lmdbState({ directory: './working' })]`, or in the configuration `state.backend.lmdb.directory`. */
export const lmdbState: PluginFactory<LmdbStateOptions> = definePlugin<LmdbStateOptions>({
  name: '@acme/weir-lmdb',
  options: { type: 'object', properties: { directory: { type: 'string', minLength: 1 } }, required: ['directory'] },
  keys: { directory: 'state.backend.lmdb.directory' },
  install(binder, options) {
    binder.provide(StateBackendRole, 'lmdb', () => createLmdbState(options));
  },
});
