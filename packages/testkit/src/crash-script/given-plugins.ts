import type { PluginList } from '@weir/core';
import { CheckpointStorageRole, CoordinatorRole, StateBackendRole, WeirError, type Plugin } from '@weir/core/contracts';
import { referenceStateBackend } from '../reference-state-backend/reference-state-backend.js';

/** The plugins, and the reference state backend where none of them has one. */
export function withStateBackend(plugins: PluginList): PluginList {
  return rolesOf(plugins).has(StateBackendRole.name) ? plugins : [plugins, referenceStateBackend()];
}

/** Fails with PLUGIN_MISSING, saying what to install, if `plugins` cannot take checkpoints. `why` begins the message: what needs them. */
export function requireCheckpoints(plugins: PluginList, why: string): void {
  const roles = rolesOf(plugins);
  const missing = [
    ...(roles.has(CoordinatorRole.name) ? [] : ['coordinator']),
    ...(roles.has(CheckpointStorageRole.name) ? [] : ['checkpoint storage']),
  ];
  if (missing.length === 0) return;
  throw new WeirError(
    'PLUGIN_MISSING',
    `${why} needs checkpoints, but the plugins given bring no ${missing.join(' and no ')}: ` +
      'npm i -D @weir/coordinator @weir/backend-memory, then { plugins: [checkpointCoordinator(), memoryBackend()] }.',
    { recoverable: false },
  );
}

/** Installing creates nothing: it only tells which roles there are candidates for. */
function rolesOf(plugins: PluginList): ReadonlySet<string> {
  const roles = new Set<string>();
  for (const plugin of flat(plugins)) plugin.install({ provide: (role) => void roles.add(role.name) });
  return roles;
}

/** The plugins of a list of lists, one after the other. */
export function flat(plugins: PluginList): readonly Plugin[] {
  return plugins.flatMap((plugin) => ('install' in plugin ? [plugin] : flat(plugin)));
}
