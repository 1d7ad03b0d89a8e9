import type { PluginList } from '@weir/core';
import { CheckpointStorageRole, type CheckpointStorage, type Plugin } from '@weir/core/contracts';
import { flat } from './given-plugins.js';

/** The plugins with checkpoint storages that outlive a job: what one job has stored, the next that is given these plugins finds. */
export function sharingStorage(plugins: PluginList): readonly Plugin[] {
  const storages = new Map<string, CheckpointStorage>();
  return flat(plugins).map((plugin) => ({
    name: plugin.name,
    install(binder) {
      plugin.install({
        provide(role, type, create) {
          if (role.name !== CheckpointStorageRole.name) {
            binder.provide(role, type, create);
            return;
          }
          binder.provide(CheckpointStorageRole, type, (scope) => {
            // The role says what it makes.
            const storage = storages.get(type) ?? (create(scope) as CheckpointStorage);
            storages.set(type, storage);
            // The job that is given it must not close it, so it sees no more than the contract.
            return { type: storage.type, capabilities: storage.capabilities, open: (job) => storage.open(job) };
          });
        },
      });
    },
  }));
}
