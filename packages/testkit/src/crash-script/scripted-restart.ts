import { RestartStrategyRole, type Plugin, type RestartStrategy } from '@weir/core/contracts';
import { isScriptedCrash } from './crash.js';

const strategy: RestartStrategy<undefined> = {
  type: 'scripted',
  description: 'restart after scripted crashes, at once',
  initial: () => undefined,
  decide: (state, failure) => [
    state,
    isScriptedCrash(failure) ? { restart: true, delayMs: 0 } : { restart: false, reason: 'it was no scripted crash' },
  ],
};

/** Restarts a job after each scripted crash without delay, and after no other failure. */
export const scriptedRestart: Plugin = {
  name: '@weir/testkit/scripted-restart',
  install(binder) {
    binder.provide(RestartStrategyRole, strategy.type, () => strategy as RestartStrategy);
  },
};
