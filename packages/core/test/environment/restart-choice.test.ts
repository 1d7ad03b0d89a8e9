import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Plugin } from '../../src/contracts/plugin.js';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import type { WeirError } from '../../src/errors.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import { JobContainer } from '../../src/environment/container.js';
import type { ConfigSource } from '../../src/environment/flatten-config.js';
import { installPlugins } from '../../src/environment/install-plugins.js';
import { exponentialDelayRestart } from '../../src/environment/exponential-delay-restart.js';
import { chooseRestart, restartStrategyOf } from '../../src/environment/restart-choice.js';

const strategy = (type: string, plugin = `@weir/restart-strategies/${type}`): Plugin => ({
  name: plugin,
  install: (binder) =>
    binder.provide(RestartStrategyRole, type, () => ({
      type,
      description: type,
      initial: () => 0,
      decide: (state) => [state, { restart: false, reason: 'never' }],
    })),
});

interface Job {
  readonly plugins?: readonly Plugin[];
  readonly own?: readonly Plugin[];
  readonly config?: ConfigSource;
  readonly checkpointing?: boolean;
}

function strategyOf({ plugins = [], own = [], config = {}, checkpointing = true }: Job): string {
  const container = new JobContainer();
  const configuration = readConfiguration(config);
  installPlugins(container, plugins, configuration);
  installPlugins(container, own, configuration, 'job');
  return restartStrategyOf(container, configuration, checkpointing).description;
}

function failure(job: Job): WeirError {
  try {
    strategyOf(job);
  } catch (error) {
    return error as WeirError;
  }
  throw new Error('nothing was refused');
}

describe('the restart strategy of a job', () => {
  test('is none without checkpointing, if nobody says otherwise', () => {
    expect(strategyOf({ checkpointing: false })).toBe('none');
  });

  test('is exponential delay with checkpointing, if nobody says otherwise: it waits before each restart', () => {
    expect(strategyOf({})).toContain('exponential-delay (initial backoff 1000 ms, max backoff 60000 ms');
  });

  test('is the default one as the configuration shapes it', () => {
    const config = {
      'restart-strategy.exponential-delay.initial-backoff': '5 s',
      'restart-strategy.exponential-delay.attempts-before-reset-backoff': 7,
    };
    expect(strategyOf({ config })).toContain('exponential-delay (initial backoff 5000 ms');
    expect(strategyOf({ config })).toContain('attempts 7)');
  });

  test('is the one that is installed, with checkpointing or without', () => {
    expect(strategyOf({ plugins: [strategy('fixed-delay')] })).toBe('fixed-delay');
    expect(strategyOf({ plugins: [strategy('fixed-delay')], checkpointing: false })).toBe('fixed-delay');
  });

  test.each(['none', 'off', 'disable', 'NONE'])(
    'is none where the configuration says %s, whatever is installed',
    (type) => {
      expect(strategyOf({ plugins: [strategy('fixed-delay')], config: { 'restart-strategy.type': type } })).toBe(
        'none',
      );
    },
  );

  test.each(['fixed-delay', 'fixeddelay', 'Fixed-Delay', '@weir/restart-strategies/fixed-delay'])(
    'is chosen among several by %s',
    (type) => {
      const plugins = [strategy('failure-rate'), strategy('fixed-delay')];
      expect(strategyOf({ plugins, config: { 'restart-strategy': type } })).toBe('fixed-delay');
    },
  );

  test('is not guessed among several', () => {
    const error = failure({ plugins: [strategy('failure-rate'), strategy('fixed-delay')] });
    expect(error.code).toBe('PLUGIN_AMBIGUOUS');
    expect(error.message).toContain(
      'failure-rate (@weir/restart-strategies/failure-rate), fixed-delay (@weir/restart-strategies/fixed-delay)',
    );
    expect(error.message).toContain('restart-strategy.type');
  });

  test('must be installed if the configuration wants it', () => {
    const error = failure({ config: { 'restart-strategy.type': 'fixed-delay' } });
    expect(error.code).toBe('PLUGIN_MISSING');
    expect(error.message).toContain('restart-strategy.type is fixed-delay');
    expect(error.message).toContain('npm i @weir/restart-strategies');
  });

  test('is the job’s own, whatever environment and configuration have', () => {
    const plugins = [strategy('failure-rate'), strategy('exponential-delay')];
    expect(strategyOf({ plugins, own: [strategy('fixed-delay')], config: { 'restart-strategy.type': 'none' } })).toBe(
      'fixed-delay',
    );
  });

  test('is the environment’s for a job that falls back', () => {
    const own = [strategy('fallback')];
    expect(strategyOf({ plugins: [strategy('failure-rate')], own })).toBe('failure-rate');
    expect(strategyOf({ own, config: { 'restart-strategy.type': 'none' } })).toBe('none');
    expect(strategyOf({ own, checkpointing: false })).toBe('none');
    expect(strategyOf({ own })).toContain('exponential-delay');
  });

  test('is the installed exponential delay rather than the built-in one', () => {
    expect(strategyOf({ plugins: [exponentialDelayRestart({ initialBackoff: 3 })] })).toContain('initial backoff 3 ms');
    expect(
      strategyOf({
        plugins: [exponentialDelayRestart({ initialBackoff: 3 })],
        config: { 'restart-strategy.type': 'exponentialdelay' },
      }),
    ).toContain('initial backoff 3 ms');
  });

  test('is the built-in exponential delay if it is configured and none is installed', () => {
    expect(strategyOf({ config: { 'restart-strategy.type': 'exponential-delay' }, checkpointing: false })).toContain(
      'exponential-delay',
    );
  });

  test('never falls to what the environment has as long as the job has its own', () => {
    const type = fc.constantFrom('none', 'fixed-delay', 'failure-rate', 'exponential-delay', 'custom');
    const candidates = fc.array(
      fc.record({ type, plugin: type, level: fc.constantFrom('environment' as const, 'built-in' as const) }),
    );
    const wishes = fc.record({ configured: fc.option(type, { nil: undefined }), isCheckpointing: fc.boolean() });
    fc.assert(
      fc.property(candidates, type, wishes, (others, own, wish) => {
        const candidate = { type: own, plugin: 'mine', level: 'job' as const };
        expect(chooseRestart([...others, candidate], wish)).toEqual({ kind: 'one', candidate });
      }),
    );
  });
});

test('fallback in the configuration means what the environment has, and else the default (older Flink)', () => {
  const config = { 'restart-strategy': 'fallback' };
  expect(strategyOf({ config, plugins: [strategy('fixed-delay')] })).toBe('fixed-delay');
  expect(strategyOf({ config })).toBe(strategyOf({}));
  expect(strategyOf({ config, checkpointing: false })).toBe(strategyOf({ checkpointing: false }));
});
