import { describe, expect, test } from 'vitest';
import type { WeirError } from '../../src/errors.js';
import { defaultOf, readConfiguration, type PluginKey } from '../../src/environment/configuration.js';
import { CONFIG_KEYS, RENAMED_KEYS } from '../../src/environment/config-keys.js';
import type { ConfigSource } from '../../src/environment/flatten-config.js';
import { accepted, refused } from '../../src/environment/reading.js';

const C = 'execution.checkpointing.';

function failure(source: ConfigSource, pluginKeys?: readonly PluginKey[]): WeirError {
  try {
    readConfiguration(source, pluginKeys);
  } catch (error) {
    return error as WeirError;
  }
  throw new Error('nothing was refused');
}

describe('the values of a configuration', () => {
  test('are read in Flink’s terms and given in weir’s', () => {
    const configuration = readConfiguration({
      [`${C}interval`]: '10 s',
      [`${C}mode`]: 'AT_LEAST_ONCE',
      [`${C}timeout`]: '10 min',
      [`${C}min-pause`]: '500',
      [`${C}max-concurrent-checkpoints`]: '1',
      [`${C}tolerable-failed-checkpoints`]: 3,
      [`${C}externalized-checkpoint-retention`]: 'retain_on_cancellation',
      [`${C}data-inline-threshold`]: '20 kb',
      'restart-strategy.exponential-delay.backoff-multiplier': '1.2',
      'weir.checkpointing.allow-duplicates': 'TRUE',
    });
    expect(configuration.get(`${C}interval`)).toBe(10_000);
    expect(configuration.get(`${C}mode`)).toBe('at-least-once');
    expect(configuration.get(`${C}timeout`)).toBe(600_000);
    expect(configuration.get(`${C}min-pause`)).toBe(500);
    expect(configuration.get(`${C}max-concurrent-checkpoints`)).toBe(1);
    expect(configuration.get(`${C}tolerable-failed-checkpoints`)).toBe(3);
    expect(configuration.get(`${C}externalized-checkpoint-retention`)).toBe('retain-on-cancellation');
    expect(configuration.get(`${C}data-inline-threshold`)).toBe(20_480);
    expect(configuration.get('restart-strategy.exponential-delay.backoff-multiplier')).toBe(1.2);
    expect(configuration.get('weir.checkpointing.allow-duplicates')).toBe(true);
    expect(configuration.notices).toEqual([]);
  });

  test('may be nested as in a file, in part or in full', () => {
    const nested = readConfiguration({
      execution: { checkpointing: { interval: '1 s', 'min-pause': 5 } },
      'restart-strategy': { type: 'none' },
    });
    expect(Object.fromEntries(nested.settings)).toEqual({
      [`${C}interval`]: 1000,
      [`${C}min-pause`]: 5,
      'restart-strategy.type': 'none',
    });
  });

  test.each([new Map([[`${C}interval`, '10 s']]), new URLSearchParams(), Promise.resolve({}), [], 'a: b', null])(
    'are not found in %o, which is refused',
    (source) => {
      expect(failure(source as unknown as ConfigSource).message).toMatch(
        /^CONFIG_INVALID: The configuration \(config\) must be a plain object, \{ … \}, but is /,
      );
      expect(failure(new Map() as never).message).toContain('Object.fromEntries makes one of it');
    },
  );

  test('that are undefined are not set', () => {
    expect(
      readConfiguration({ [`${C}interval`]: undefined, execution: { checkpointing: { mode: undefined } } }).settings
        .size,
    ).toBe(0);
  });

  test.each(['exactly-once', 'EXACTLY_ONCE', 'Exactly-Once', 'exactly_once'])('name a mode as %s', (mode) => {
    expect(readConfiguration({ [`${C}mode`]: mode }).get(`${C}mode`)).toBe('exactly-once');
  });

  test.each([
    ...[0, -1, 0.5, 9, NaN, Infinity, '', 'soon', '9 ms', '365 d', '-1 s', true, [], null].map(
      (v) => [`${C}interval`, v] as const,
    ),
    ...[0, -1, 0.5, NaN, Infinity, '5 ms'].map((v) => [`${C}timeout`, v] as const),
    ...[-1, 0.5, NaN, Infinity, '400 d'].map((v) => [`${C}min-pause`, v] as const),
    ...[0, -1, 0.5, NaN, Infinity, '', '0x10', true, null, '1 s'].map(
      (v) => [`${C}max-concurrent-checkpoints`, v] as const,
    ),
    ...[0, -1, 0.5, NaN, Infinity, '2.5'].map((v) => [`${C}num-retained`, v] as const),
    ...[-1, 0.5, NaN, '1 s'].map((v) => [`${C}tolerable-failed-checkpoints`, v] as const),
    ...['TWICE', '', 3, null].map((v) => [`${C}mode`, v] as const),
    ...['2 mb', -1, 'x'].map((v) => [`${C}data-inline-threshold`, v] as const),
    ...[0, 32_768, '1.5'].map((v) => ['pipeline.max-parallelism', v] as const),
    ...['', 5, null, ['a']].map((v) => [`${C}dir`, v] as const),
    ...[1, 'yes', null, 0].map((v) => ['weir.checkpointing.allow-duplicates', v] as const),
    ...[1, 0.5, Infinity].map((v) => ['restart-strategy.exponential-delay.backoff-multiplier', v] as const),
    ...[-0.1, 1.1].map((v) => ['restart-strategy.exponential-delay.jitter-factor', v] as const),
    ['restart-strategy.failure-rate.max-failures-per-interval', 0] as const,
    ['restart-strategy.failure-rate.failure-rate-interval', 0] as const,
  ])('are refused by name: %s = %j', (key, value) => {
    const error = failure({ [key]: value });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain(`${key} must `);
    expect(error.recoverable).toBe(false);
  });

  test('that are wrong are all named at once', () => {
    expect(failure({ [`${C}interval`]: 0, [`${C}timeout`]: 'soon' }).message).toBe(
      `CONFIG_INVALID: ${C}interval must be at least 10 ms, but is 0; ${C}timeout must be a duration, such as '500 ms', '10 s', '5 min', '1 h' or '2 d', but is 'soon'`,
    );
  });

  test('may be larger than a timer of Node takes', () => {
    expect(readConfiguration({ [`${C}timeout`]: 2 ** 31 }).get(`${C}timeout`)).toBe(2 ** 31);
  });

  test('that can be without limit are', () => {
    const key = 'restart-strategy.fixed-delay.attempts';
    expect(readConfiguration({ [key]: 'infinite' }).get(key)).toBe(Infinity);
    expect(readConfiguration({ [key]: Infinity }).get(key)).toBe(Infinity);
  });
});

describe('a key', () => {
  test('that nobody knows is refused, and the nearest one named', () => {
    const error = failure({ [`${C}intervall`]: 5 });
    expect(error.code).toBe('CONFIG_UNKNOWN_KEY');
    expect(error.message).toBe(
      `CONFIG_UNKNOWN_KEY: ${C}intervall is not a configuration key: did you mean ${C}interval?`,
    );
  });

  test.each(['__proto__', 'constructor', 'toString'])('is not known because every object has %s', (key) => {
    expect(failure(JSON.parse(`{ "${key}": 5 }`) as ConfigSource).code).toBe('CONFIG_UNKNOWN_KEY');
  });

  test('that belongs to a whole object is not known', () => {
    expect(failure({ execution: 5 }).code).toBe('CONFIG_UNKNOWN_KEY');
  });

  test.each([...RENAMED_KEYS].filter(([, key]) => CONFIG_KEYS.get(key)?.status === 'supported'))(
    'still works as %s, with a notice',
    (old, key) => {
      const value = ['x', 5, '2 kb', true, 'CLAIM'].find((v) => {
        try {
          return readConfiguration({ [key]: v }).settings.size > 0;
        } catch {
          return false;
        }
      });
      const configuration = readConfiguration({ [old]: value });
      expect([...configuration.settings]).toEqual([...readConfiguration({ [key]: value }).settings]);
      expect(configuration.notices).toEqual([`${old} is now called ${key}`]);
    },
  );

  test('may be given by both of its names if they say the same', () => {
    const configuration = readConfiguration({ 'state.checkpoints.num-retained': '3', [`${C}num-retained`]: 3 });
    expect(configuration.get(`${C}num-retained`)).toBe(3);
  });

  test('is refused if its names say different things', () => {
    const error = failure({ 'state.checkpoints.num-retained': 2, [`${C}num-retained`]: 3 });
    expect(error.code).toBe('CONFIG_CONTRADICTION');
    expect(error.message).toContain('state.checkpoints.num-retained is 2');
    expect(error.message).toContain(`${C}num-retained, the same setting, is 3`);
  });

  test('is refused if it is set flat to one thing and nested to another', () => {
    const error = failure({ [`${C}interval`]: 50, execution: { checkpointing: { interval: 60 } } });
    expect(error.code).toBe('CONFIG_CONTRADICTION');
    expect(error.message).toContain(`${C}interval is set twice, to 50 and to 60`);
  });

  test.each([...CONFIG_KEYS].flatMap(([key, entry]) => (entry.status === 'supported' ? [] : [[key, entry] as const])))(
    'that is known but not followed has its own error: %s',
    (key, entry) => {
      for (const name of [key, ...(entry.was ?? [])]) {
        const error = failure({ [name]: 'something' });
        expect(error.code).toBe('CONFIG_UNSUPPORTED_KEY');
        expect(error.message).toContain(
          `${name} is not supported${entry.status === 'later' ? ' yet' : ''}: ${entry.about}`,
        );
      }
    },
  );

  test('of a cluster is ignored, and all of them are named once', () => {
    const configuration = readConfiguration({
      jobmanager: { rpc: { address: 'localhost', port: 6123 } },
      'taskmanager.numberOfTaskSlots': 4,
      [`${C}interval`]: '10 s',
    });
    expect(configuration.notices).toEqual([
      'weir has no cluster, so these keys of the configuration have no effect: jobmanager.rpc.address, jobmanager.rpc.port, taskmanager.numberOfTaskSlots',
    ]);
    expect([...configuration.settings.keys()]).toEqual([`${C}interval`]);
  });

  test.each([
    ['table.exec.state.ttl', 'weir has no SQL and no Table API'],
    ['state.backend.rocksdb.thread.num', 'RocksDB is tuned by the keys that work'],
  ])('of a family that is not followed is refused with the reason: %s', (key, about) => {
    const error = failure({ [key]: 1 });
    expect(error.code).toBe('CONFIG_UNSUPPORTED_KEY');
    expect(error.message).toContain(`${key} is not supported: ${about}`);
  });

  test('that nothing is like has no hint', () => {
    expect(failure({ 'acme.colour': 1 }).message).toBe(
      'CONFIG_UNKNOWN_KEY: acme.colour is not a configuration key: see the page on configuration for those that are',
    );
  });

  test.each([
    ['state.backend.async', true],
    ['state.backend.async', 'true'],
    [`${C}create-subdir`, 'TRUE'],
    ['jobmanager.execution.failover-strategy', 'full'],
  ])('that asks for what happens anyway is noticed and ignored: %s = %j', (key, value) => {
    const configuration = readConfiguration({ [key]: value });
    expect(configuration.notices).toEqual([expect.stringContaining(`${key} has no effect: `)]);
    expect(configuration.settings.size).toBe(0);
  });

  test.each([
    ['state.backend.async', false],
    [`${C}create-subdir`, false],
  ])('that asks for what cannot be is refused: %s = %j', (key, value) => {
    expect(failure({ [key]: value }).code).toBe('CONFIG_UNSUPPORTED_KEY');
  });
});

describe('the keys of plugins', () => {
  const even = (key: string): PluginKey => ({
    key,
    read: (value) => (Number(value) % 2 === 0 ? accepted(Number(value)) : refused('size must be even')),
  });

  test('are known, and read as the plugin wants them', () => {
    const configuration = readConfiguration({ 'state.backend.lmdb.size': '4' }, [even('state.backend.lmdb.size')]);
    expect(configuration.settings.get('state.backend.lmdb.size')).toBe(4);
  });

  test('are refused by name', () => {
    const error = failure({ 'state.backend.lmdb.size': '3' }, [even('state.backend.lmdb.size')]);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('state.backend.lmdb.size: size must be even');
  });

  test('are among those that a typing error may have meant', () => {
    expect(failure({ 'state.backend.lmdb.sise': '4' }, [even('state.backend.lmdb.size')]).message).toContain(
      'did you mean state.backend.lmdb.size?',
    );
  });

  test('may be ones that weir alone does not follow', () => {
    const key = `${C}cleaner.parallel-mode`;
    expect(readConfiguration({ [key]: 2 }, [even(key)]).settings.get(key)).toBe(2);
    expect(readConfiguration({ 'state.checkpoint.cleaner.parallel-mode': 2 }, [even(key)]).settings.get(key)).toBe(2);
  });

  test('may hold an object', () => {
    const whole: PluginKey = { key: 'acme.retry', read: (value) => accepted(value) };
    expect(readConfiguration({ acme: { retry: { times: 3 } } }, [whole]).settings.get('acme.retry')).toEqual({
      times: 3,
    });
  });
});

test('a setting that nobody sets has the default of the table', () => {
  expect(defaultOf(`${C}timeout`)).toBe(600_000);
  expect(defaultOf(`${C}interval`)).toBeUndefined();
});
