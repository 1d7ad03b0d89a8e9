import type { PluginFactory } from '../contracts/plugin.js';
import type { RestartStrategy } from '../contracts/restart-strategy.js';
import { RestartStrategyRole } from '../contracts/roles.js';
import { definePlugin } from './define-plugin.js';

const noRestartStrategy: RestartStrategy<undefined> = {
  type: 'none',
  description: 'none',
  initial: () => undefined,
  decide: (state) => [state, { restart: false, reason: 'there is no restart strategy' }],
};

/** The first failure ends the job (Flink: NoRestartBackoffTimeStrategy). The default without checkpointing. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a plugin without options
export const noRestart: PluginFactory<{}> = definePlugin({
  name: '@weir/restart-strategies/none',
  options: { type: 'object', properties: {} },
  install(binder) {
    binder.provide(RestartStrategyRole, 'none', () => noRestartStrategy as RestartStrategy);
  },
});
