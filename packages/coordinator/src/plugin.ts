import { definePlugin, type PluginFactory } from '@weir/core';
import { CoordinatorRole, type CoordinatorFactory } from '@weir/core/contracts';
import { JobCheckpointCoordinator } from './checkpoint-coordinator.js';
import { examineCheckpoint } from './examine.js';

const factory: CoordinatorFactory = {
  create: (context) => new JobCheckpointCoordinator(context),
  examine: examineCheckpoint,
};

/** Fills the role of checkpoint coordinator. Everything it can be told is set by `enableCheckpointing` and the configuration. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a plugin without options
export const checkpointCoordinator: PluginFactory<{}> = definePlugin({
  name: '@weir/coordinator',
  options: { type: 'object', properties: {} },
  install(binder) {
    binder.provide(CoordinatorRole, 'coordinator', () => factory);
  },
});
