import { definePlugin, settingOf } from '@weir/core';
import {
  RestartStrategyRole,
  WeirError,
  type Binder,
  type PluginFactory,
  type RestartStrategy,
} from '@weir/core/contracts';
import { failureRate, type FailureRateOptions } from './failure-rate.js';
import { fixedDelay, type FixedDelayOptions } from './fixed-delay.js';

const NAME = '@weir/restart-strategies';

const FIXED_DELAY_KEYS = {
  attempts: 'restart-strategy.fixed-delay.attempts',
  delay: 'restart-strategy.fixed-delay.delay',
} as const;

/** Restarts a fixed number of times, after a fixed delay. */
export const fixedDelayRestart: PluginFactory<FixedDelayOptions> = definePlugin<FixedDelayOptions>({
  name: `${NAME}/fixed-delay`,
  options: {
    type: 'object',
    properties: { attempts: settingOf(FIXED_DELAY_KEYS.attempts), delay: settingOf(FIXED_DELAY_KEYS.delay) },
  },
  keys: FIXED_DELAY_KEYS,
  install: (binder, options) => provide(binder, fixedDelay(options)),
});

const FAILURE_RATE_KEYS = {
  maxFailuresPerInterval: 'restart-strategy.failure-rate.max-failures-per-interval',
  failureRateInterval: 'restart-strategy.failure-rate.failure-rate-interval',
  delay: 'restart-strategy.failure-rate.delay',
} as const;

/** Restarts until more failures than allowed fall into an interval. */
export const failureRateRestart: PluginFactory<FailureRateOptions> = definePlugin<FailureRateOptions>({
  name: `${NAME}/failure-rate`,
  options: {
    type: 'object',
    properties: {
      maxFailuresPerInterval: settingOf(FAILURE_RATE_KEYS.maxFailuresPerInterval),
      failureRateInterval: settingOf(FAILURE_RATE_KEYS.failureRateInterval),
      delay: settingOf(FAILURE_RATE_KEYS.delay),
    },
  },
  keys: FAILURE_RATE_KEYS,
  install: (binder, options) => provide(binder, failureRate(options)),
});

/** For a job: use what the environment has, as if the job had set nothing. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a plugin without options
export const fallbackRestart: PluginFactory<{}> = definePlugin({
  name: `${NAME}/fallback`,
  options: { type: 'object', properties: {} },
  install(binder) {
    binder.provide(RestartStrategyRole, 'fallback', () => {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        'fallback stands for the strategy of the environment and is none itself',
      );
    });
  },
});

function provide<S>(binder: Binder, strategy: RestartStrategy<S>): void {
  // The engine hands a strategy back the states that it has made, so their type is its own affair.
  binder.provide(RestartStrategyRole, strategy.type, () => strategy as RestartStrategy);
}
