export { exponentialDelayRestart, noRestart } from '@weir/core';
export type { ExponentialDelayOptions } from '@weir/core';
export { failureRateRestart, fallbackRestart, fixedDelayRestart } from './plugins.js';
export type { FailureRateOptions } from './failure-rate.js';
export type { FixedDelayOptions } from './fixed-delay.js';
