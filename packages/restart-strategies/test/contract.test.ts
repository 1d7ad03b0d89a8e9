import { restartStrategySuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { exponentialDelayRestart, failureRateRestart, fixedDelayRestart, noRestart } from '../src/index.js';
import { strategyOf } from './strategy-of.js';

describe.each([
  ['none', () => noRestart()],
  ['fixed delay', () => fixedDelayRestart()],
  ['fixed delay without end', () => fixedDelayRestart({ attempts: Infinity, delay: 0 })],
  ['failure rate', () => failureRateRestart()],
  [
    'failure rate with many failures',
    () => failureRateRestart({ maxFailuresPerInterval: 500, failureRateInterval: '1 d' }),
  ],
  ['exponential delay', () => exponentialDelayRestart()],
  [
    'exponential delay with few attempts',
    () => exponentialDelayRestart({ attemptsBeforeResetBackoff: 3, jitterFactor: 1 }),
  ],
])('%s', (_name, plugin) => {
  restartStrategySuite(test, { create: () => strategyOf(plugin()) });
});
