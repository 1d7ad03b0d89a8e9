import type { PluginList } from '@weir/core';
import {
  CheckpointStorageRole,
  CoordinatorRole,
  StateBackendRole,
  type CheckpointStorage,
  type CoordinatorFactory,
  type Plugin,
  type Scope,
  type StateBackend,
} from '@weir/core/contracts';
import { flat } from '../crash-script/given-plugins.js';
import type { Faults } from './faults.js';
import type { OutsideWork } from './outside-work.js';
import { unreliableCoordinator, type Network } from './unreliable-coordinator.js';
import { unreliableState } from './unreliable-state.js';
import { unreliableStorage } from './unreliable-storage.js';
import type { Watch } from './watch.js';

/** What is outside of the processes of a run, and so outlives them. */
export interface OutsideWorld {
  readonly faults: Faults;
  readonly watch: Watch;
  readonly network: Network;
  readonly outside: OutsideWork;
  /** Those that no process finds again by itself, by type. */
  readonly storages: Map<string, CheckpointStorage>;
}

/** The plugins of one process, each at the other end of a bad line. */
export function simulatedPlugins(plugins: PluginList, world: OutsideWorld): Plugin {
  return {
    name: 'simulated',
    install(binder) {
      for (const plugin of flat(plugins)) {
        plugin.install({
          provide: (role, type, create) => {
            binder.provide(role, type, (scope) => inWorld(role.name, type, create, scope, world) as never);
          },
        });
      }
    },
  };
}

function inWorld(
  role: string,
  type: string,
  create: (scope: Scope) => unknown,
  scope: Scope,
  world: OutsideWorld,
): unknown {
  const { faults, watch, network, outside, storages } = world;
  // What a role's name promises, its candidates are.
  switch (role) {
    case CheckpointStorageRole.name: {
      const storage = storages.get(type) ?? (create(scope) as CheckpointStorage);
      if (!storage.capabilities.durable) storages.set(type, storage);
      return unreliableStorage(storage, faults, watch);
    }
    case CoordinatorRole.name:
      return unreliableCoordinator(create(scope) as CoordinatorFactory, faults, network, watch);
    case StateBackendRole.name:
      return unreliableState(create(scope) as StateBackend, faults, watch, outside);
    default:
      return create(scope);
  }
}
