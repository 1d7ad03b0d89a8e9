import { definePlugin, type PluginFactory } from '@weir/core';
import { messageOf, RestartStrategyRole, type RestartStrategy } from '@weir/core/contracts';

/** What is remembered of the failures before: a small value, however many there were. */
interface Last {
  readonly message: string;
  readonly times: number;
}

/** Restarts at once, but gives up when the same failure has come `times` times in a row. */
export function unlessRepeated(times: number): RestartStrategy<Last> {
  return {
    type: 'unless-repeated',
    description: `unless-repeated (times ${String(times)})`,
    initial: () => ({ message: '', times: 0 }),
    decide(last, failure) {
      const message = messageOf(failure);
      const next = { message, times: message === last.message ? last.times + 1 : 1 };
      return next.times < times
        ? [next, { restart: true, delayMs: 0 }]
        : [next, { restart: false, reason: `the same failure came ${String(times)} times in a row` }];
    },
  };
}

export interface UnlessRepeatedOptions {
  /** Default 3. */
  readonly times?: number | undefined;
}

/** `plugins: [unlessRepeatedRestart({ times: 2 })]`, or in the configuration `restart-strategy.unless-repeated.times: 2`. */
export const unlessRepeatedRestart: PluginFactory<UnlessRepeatedOptions> = definePlugin<UnlessRepeatedOptions>({
  name: '@acme/weir-unless-repeated',
  options: { type: 'object', properties: { times: { type: 'integer', minimum: 1 } } },
  keys: { times: 'restart-strategy.unless-repeated.times' },
  install(binder, { times = 3 }) {
    // A job hands a strategy back only the states that it has made itself, so their type is its own affair.
    binder.provide(RestartStrategyRole, 'unless-repeated', () => unlessRepeated(times) as RestartStrategy);
  },
});
