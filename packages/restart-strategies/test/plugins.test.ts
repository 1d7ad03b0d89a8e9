import { RestartStrategyRole, type Plugin } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import {
  exponentialDelayRestart,
  failureRateRestart,
  fallbackRestart,
  fixedDelayRestart,
  noRestart,
} from '../src/index.js';
import { strategyOf } from './strategy-of.js';

describe('the plugins', () => {
  test.each([
    [noRestart(), 'none'],
    [fixedDelayRestart(), 'fixed-delay'],
    [failureRateRestart(), 'failure-rate'],
    [exponentialDelayRestart(), 'exponential-delay'],
    [fallbackRestart(), 'fallback'],
  ] as const)('provide one restart strategy each', (plugin: Plugin, type) => {
    const provided: unknown[] = [];
    plugin.install({ provide: (role, name) => void provided.push([role.name, name]) });
    expect(provided).toEqual([[RestartStrategyRole.name, type]]);
    expect(plugin.name).toBe(`@weir/restart-strategies/${type}`);
  });

  test('hand their options on', () => {
    expect(strategyOf(fixedDelayRestart({ attempts: 7, delay: '2 s' })).description).toBe(
      'fixed-delay (attempts 7, delay 2000 ms)',
    );
    expect(
      strategyOf(failureRateRestart({ maxFailuresPerInterval: 3, failureRateInterval: '5 min', delay: 0 })).description,
    ).toBe('failure-rate (max failures 3, interval 300000 ms, delay 0 ms)');
  });

  test('fallback is no strategy itself', () => {
    expect(() => strategyOf(fallbackRestart())).toThrow(/PROTOCOL_VIOLATION/);
  });

  test.each([
    [() => fixedDelayRestart({ attempts: -1 }), 'attempts must be at least 0, but is -1'],
    [() => fixedDelayRestart({ attempts: 1.5 }), 'attempts must be a whole number'],
    [() => fixedDelayRestart({ attempts: NaN }), 'attempts must be a whole number'],
    [() => fixedDelayRestart({ delay: -1 }), 'delay must not be negative'],
    [() => fixedDelayRestart({ delay: Infinity }), 'delay must be a finite duration'],
    [() => failureRateRestart({ maxFailuresPerInterval: 0 }), 'maxFailuresPerInterval must be at least 1'],
    [() => failureRateRestart({ failureRateInterval: 0 }), 'failureRateInterval must be at least 1 ms'],
    [() => failureRateRestart({ delay: '-1 s' }), 'delay must be a duration'],
    [() => exponentialDelayRestart({ initialBackoff: 0 }), 'initialBackoff must be at least 1 ms'],
    [() => exponentialDelayRestart({ maxBackoff: 0 }), 'maxBackoff must be at least 1 ms'],
    [() => exponentialDelayRestart({ backoffMultiplier: 1 }), 'backoffMultiplier must be more than 1'],
    [() => exponentialDelayRestart({ resetBackoffThreshold: 0 }), 'resetBackoffThreshold must be at least 1 ms'],
    [() => exponentialDelayRestart({ jitterFactor: 1.01 }), 'jitterFactor must be at most 1'],
    [() => exponentialDelayRestart({ jitterFactor: -0.01 }), 'jitterFactor must be at least 0'],
    [() => exponentialDelayRestart({ attemptsBeforeResetBackoff: 0 }), 'attemptsBeforeResetBackoff must be at least 1'],
    [() => fixedDelayRestart({ atempts: 5 } as never), 'atempts is not known: did you mean attempts?'],
  ])('refuse nonsense where it is written', (make, problem) => {
    expect(make).toThrow(`PLUGIN_INVALID: @weir/restart-strategies/`);
    expect(make).toThrow(problem);
  });
});
