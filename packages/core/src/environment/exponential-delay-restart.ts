import type { PluginFactory } from '../contracts/plugin.js';
import type { RestartStrategy } from '../contracts/restart-strategy.js';
import { RestartStrategyRole } from '../contracts/roles.js';
import { definePlugin } from './define-plugin.js';
import { exponentialDelay, type ExponentialDelayOptions } from './exponential-delay.js';
import { settingOf } from './setting-of.js';

const KEYS = {
  initialBackoff: 'restart-strategy.exponential-delay.initial-backoff',
  maxBackoff: 'restart-strategy.exponential-delay.max-backoff',
  backoffMultiplier: 'restart-strategy.exponential-delay.backoff-multiplier',
  resetBackoffThreshold: 'restart-strategy.exponential-delay.reset-backoff-threshold',
  jitterFactor: 'restart-strategy.exponential-delay.jitter-factor',
  attemptsBeforeResetBackoff: 'restart-strategy.exponential-delay.attempts-before-reset-backoff',
} as const;

/** Restarts after a delay that grows from failure to failure. The default with checkpointing. */
export const exponentialDelayRestart: PluginFactory<ExponentialDelayOptions> = definePlugin<ExponentialDelayOptions>({
  name: '@weir/restart-strategies/exponential-delay',
  options: {
    type: 'object',
    properties: {
      initialBackoff: settingOf(KEYS.initialBackoff),
      maxBackoff: settingOf(KEYS.maxBackoff),
      backoffMultiplier: settingOf(KEYS.backoffMultiplier),
      resetBackoffThreshold: settingOf(KEYS.resetBackoffThreshold),
      jitterFactor: settingOf(KEYS.jitterFactor),
      attemptsBeforeResetBackoff: settingOf(KEYS.attemptsBeforeResetBackoff),
    },
  },
  keys: KEYS,
  install(binder, options) {
    const strategy = exponentialDelay(options);
    // The engine hands a strategy back the states that it has made, so their type is its own affair.
    binder.provide(RestartStrategyRole, strategy.type, () => strategy as RestartStrategy);
  },
});
