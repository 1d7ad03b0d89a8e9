/* eslint-disable @typescript-eslint/no-deprecated -- the deprecated switch is read as well as what took its place */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WeirError } from '../../src/errors.js';
import {
  deprecations,
  resolveCheckpointSettings,
  type CheckpointOptions,
} from '../../src/environment/checkpoint-settings.js';
import { failOnCheckpointErrorNotices } from '../../src/environment/fail-on-checkpoint-error.js';
import type { ConfigSource } from '../../src/environment/flatten-config.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import type { Duration } from '../../src/environment/duration.js';

const C = 'execution.checkpointing.';
const NOTHING = readConfiguration({});

function failure(interval: unknown, options?: unknown): WeirError {
  try {
    resolveCheckpointSettings({ interval: interval as Duration, options: options as CheckpointOptions }, NOTHING);
  } catch (error) {
    return error as WeirError;
  }
  throw new Error('nothing was refused');
}

test.each<[CheckpointOptions, ConfigSource, object]>([
  [{ localRecovery: true }, {}, { areMade: true, areUsed: true, dirs: undefined }],
  [{ localBackup: true }, {}, { areMade: true, areUsed: false, dirs: undefined }],
  [{ localRecovery: true, localBackup: false }, {}, { areMade: false, areUsed: true, dirs: undefined }],
  [{}, { 'state.backend.local-recovery': true }, { areMade: true, areUsed: true, dirs: undefined }],
  [
    {},
    { 'execution.checkpointing.local-backup.enabled': 'true', 'taskmanager.state.local.root-dirs': ' /a , /b c|/d,' },
    { areMade: true, areUsed: false, dirs: ['/a', '/b c', '/d'] },
  ],
  [
    { localDirs: '/code' },
    { 'taskmanager.state.local.root-dirs': '/config' },
    { areMade: false, areUsed: false, dirs: ['/code'] },
  ],
])('local copies asked for by %j and %j', (options, config, expected) => {
  const settings = resolveCheckpointSettings({ interval: '1s', options }, readConfiguration(config));
  expect(settings?.localCopies).toEqual(expected);
});

describe('checkpoint settings', () => {
  test('do not exist unless code or configuration turns checkpointing on', () => {
    expect(resolveCheckpointSettings(undefined, NOTHING)).toBeUndefined();
    expect(resolveCheckpointSettings(undefined, readConfiguration({ [`${C}timeout`]: '1 s' }))).toBeUndefined();
  });

  test('are the documented ones where nobody says otherwise', () => {
    expect(resolveCheckpointSettings({ interval: '1s' }, NOTHING)).toEqual({
      intervalMs: 1000,
      mode: 'exactly-once',
      timeoutMs: 600_000,
      minPauseMs: 0,
      maxConcurrent: 1,
      unaligned: false,
      alignedTimeoutMs: 0,
      tolerableFailures: 0,
      incremental: false,
      retention: 'delete-on-cancellation',
      numRetained: 1,
      checkpointsAfterFinish: true,
      lockTimeoutMs: 10_000,
      allowDuplicates: false,
      allowNonRestoredState: false,
      allowNonRestoredPositionsAndOutput: false,
      claimMode: 'no-claim',
      preferCheckpointForRecovery: true,
      iterations: 'logged',
      localCopies: { areMade: false, areUsed: false, dirs: undefined },
    });
  });

  test('take how to restore from the start of the job before the configuration, and turn nothing on with it', () => {
    const configuration = readConfiguration({
      'execution.state-recovery.claim-mode': 'CLAIM',
      'execution.state-recovery.ignore-unclaimed-state': 'true',
      'weir.state-recovery.ignore-unclaimed-positions-and-output': 'true',
    });
    expect(resolveCheckpointSettings(undefined, configuration, { claimMode: 'claim' })).toBeUndefined();
    expect(resolveCheckpointSettings({}, configuration)).toMatchObject({
      claimMode: 'claim',
      allowNonRestoredState: true,
      allowNonRestoredPositionsAndOutput: true,
    });
    expect(
      resolveCheckpointSettings({}, configuration, { claimMode: 'no-claim', allowNonRestoredState: false }),
    ).toMatchObject({ claimMode: 'no-claim', allowNonRestoredState: false });
    expect(() => resolveCheckpointSettings({}, NOTHING, { claimMode: 'legacy' as 'claim' })).toThrow(
      /^CONFIG_INVALID: claimMode must be one of NO_CLAIM, CLAIM/,
    );
    // It belongs to a start, not to enableCheckpointing.
    expect(failure(10, { claimMode: 'claim' }).message).toContain('no option claimMode');
  });

  test('preferCheckpointForRecovery is accepted and called deprecated, whatever it says', () => {
    expect(deprecations({}, NOTHING)).toEqual([]);
    const set = [true, false].flatMap((preferCheckpointForRecovery) => [
      deprecations({ options: { preferCheckpointForRecovery } }, NOTHING),
      deprecations({}, readConfiguration({ [`${C}prefer-checkpoint-for-recovery`]: preferCheckpointForRecovery })),
    ]);
    for (const notices of set) expect(notices).toEqual([expect.stringMatching(/deprecated/)]);
  });

  test.each<[settings: CheckpointOptions, config: Readonly<Record<string, number>>, tolerable: number]>([
    [{ failOnCheckpointError: true }, {}, 0],
    [{ failOnCheckpointError: false }, {}, Infinity],
    [{ failOnCheckpointError: false, tolerableFailures: 3 }, {}, 3],
    [{ failOnCheckpointError: true, tolerableFailures: Infinity }, {}, Infinity],
    [{ failOnCheckpointError: false }, { [`${C}tolerable-failed-checkpoints`]: 2 }, 2],
    [{ failOnCheckpointError: false }, { [`${C}tolerable-failed-checkpoints`]: 0 }, 0],
  ])('understand %o with %o as %d tolerable failures', (options, config, tolerable) => {
    const settings = resolveCheckpointSettings({ options }, readConfiguration(config));
    expect(settings?.tolerableFailures).toBe(tolerable);
  });

  test('take nothing but true and false for failOnCheckpointError', () => {
    expect(failure('1s', { failOnCheckpointError: 'no' }).message).toContain(
      "failOnCheckpointError must be true or false, but is 'no'",
    );
  });

  test('say that failOnCheckpointError is deprecated, and what to say instead', () => {
    expect(failOnCheckpointErrorNotices({})).toEqual([]);
    expect(failOnCheckpointErrorNotices({ failOnCheckpointError: true })).toEqual([
      expect.stringContaining('tolerableFailures: 0'),
    ]);
    expect(failOnCheckpointErrorNotices({ failOnCheckpointError: false, tolerableFailures: 1 })).toEqual([
      expect.stringMatching(/tolerableFailures: Infinity.*no effect/),
    ]);
  });

  test('have no interval if only manual and final checkpoints are wanted', () => {
    expect(resolveCheckpointSettings({}, NOTHING)?.intervalMs).toBeUndefined();
  });

  test('come from the configuration alone', () => {
    const configuration = readConfiguration({
      [`${C}interval`]: '10 s',
      [`${C}mode`]: 'AT_LEAST_ONCE',
      [`${C}max-concurrent-checkpoints`]: 2,
      [`${C}externalized-checkpoint-retention`]: 'NO_EXTERNALIZED_CHECKPOINTS',
      'state.checkpoints.num-retained': 4,
      'weir.checkpointing.lock-timeout': '3 s',
      'weir.checkpointing.allow-duplicates': 'true',
      'weir.checkpointing.iterations': 'FORCE',
    });
    expect(resolveCheckpointSettings(undefined, configuration)).toMatchObject({
      intervalMs: 10_000,
      mode: 'at-least-once',
      maxConcurrent: 2,
      retention: 'no-externalized',
      numRetained: 4,
      lockTimeoutMs: 3000,
      allowDuplicates: true,
      iterations: 'force',
    });
  });

  test('take code over configuration over default, setting by setting', () => {
    const options = {
      timeout: [`${C}timeout`, 600_000],
      minPause: [`${C}min-pause`, 0],
      numRetained: [`${C}num-retained`, 1],
      tolerableFailures: [`${C}tolerable-failed-checkpoints`, 0],
      lockTimeout: ['weir.checkpointing.lock-timeout', 10_000],
    } as const;
    const fields = {
      timeout: 'timeoutMs',
      minPause: 'minPauseMs',
      numRetained: 'numRetained',
      tolerableFailures: 'tolerableFailures',
      lockTimeout: 'lockTimeoutMs',
    } as const;
    const value = fc.option(fc.integer({ min: 10, max: 1000 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.record({ code: fc.record(mapOf(options, value)), file: fc.record(mapOf(options, value)) }),
        ({ code, file }) => {
          const names = Object.keys(options) as (keyof typeof options)[];
          const configuration = readConfiguration(
            Object.fromEntries(names.map((name) => [options[name][0], file[name]])),
          );
          const settings = resolveCheckpointSettings({ interval: 50, options: code }, configuration);
          for (const name of names) expect(settings?.[fields[name]]).toBe(code[name] ?? file[name] ?? options[name][1]);
        },
      ),
    );
  });

  test('may tolerate any number of failures', () => {
    expect(
      resolveCheckpointSettings({ interval: 10, options: { tolerableFailures: Infinity } }, NOTHING)?.tolerableFailures,
    ).toBe(Infinity);
  });

  test('may outlast the longest timer of Node', () => {
    expect(resolveCheckpointSettings({ interval: 10, options: { timeout: 2 ** 31 } }, NOTHING)?.timeoutMs).toBe(
      2 ** 31,
    );
  });

  test('read a bare number in text as milliseconds', () => {
    expect(
      resolveCheckpointSettings({ interval: '1000' as Duration, options: { timeout: '10 s' } }, NOTHING),
    ).toMatchObject({
      intervalMs: 1000,
      timeoutMs: 10_000,
    });
  });

  test.each([0, -1, 0.5, 9, NaN, Infinity, 365 * 86_400_000, 'soon', ''])('refuse an interval of %j', (interval) => {
    expect(failure(interval)).toMatchObject({ code: 'CONFIG_INVALID', recoverable: false });
    expect(failure(interval).message).toMatch(/^CONFIG_INVALID: interval must .*, but is /);
  });

  test.each([
    ...[0, -1, 0.5, 9, NaN, Infinity, 'x', null].map((value) => ['timeout', value]),
    ...[-1, 0.5, NaN, Infinity, 'x', null].map((value) => ['minPause', value]),
    ...[0, -1, 0.5, NaN, Infinity, 'x', null].map((value) => ['maxConcurrent', value]),
    ...[0, -1, 0.5, NaN, Infinity, 'x', null].map((value) => ['numRetained', value]),
    ...[-1, 0.5, NaN, 'x', null].map((value) => ['tolerableFailures', value]),
    ...['always', 1, null].map((value) => ['externalized', value]),
    ...['often', null].map((value) => ['mode', value]),
    ...[-1, NaN].map((value) => ['lockTimeout', value]),
    ['allowDuplicates', 1],
    ['unaligned', 'x'],
    ...[-1, 0.5, NaN, Infinity, 'x', null].map((value) => ['alignedTimeout', value]),
    ['iterations', 'lost'],
  ])('refuse %s = %j, naming the option', (option, value) => {
    const error = failure(100, { [option as string]: value });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toMatch(new RegExp(`^CONFIG_INVALID: ${String(option)} must .*, but is `));
  });

  test('refuse an option that there is not, naming the nearest', () => {
    expect(failure(100, { minimumPause: 5 }).message).toContain(
      'enableCheckpointing has no option minimumPause: did you mean minPause?',
    );
    expect(failure(100, { toString: 5 }).code).toBe('CONFIG_INVALID');
  });

  test.each([new Map([['minPause', 5]]), new URLSearchParams(), ['5 s'], Promise.resolve({}), 5])(
    'refuse %o in place of options: nothing of it would be found',
    (options) => {
      expect(failure(100, options).message).toMatch(
        /^CONFIG_INVALID: What enableCheckpointing takes must be a plain object, \{ … \}, but is /,
      );
    },
  );

  test('refuse a minimum pause together with more than one checkpoint at a time, wherever they come from', () => {
    const both = failure(100, { minPause: 5, maxConcurrent: 2 });
    expect(both.code).toBe('CONFIG_CONTRADICTION');
    expect(both.message).toContain('minPause (5 ms) and maxConcurrent (2) exclude each other');
    const configuration = readConfiguration({ [`${C}min-pause`]: 5 });
    expect(() => resolveCheckpointSettings({ interval: 100, options: { maxConcurrent: 2 } }, configuration)).toThrow(
      /CONFIG_CONTRADICTION/,
    );
    expect(
      resolveCheckpointSettings({ interval: 100, options: { minPause: 0, maxConcurrent: 2 } }, configuration)
        ?.maxConcurrent,
    ).toBe(2);
  });

  test.each<[CheckpointOptions, string]>([
    [{ unaligned: true, mode: 'at-least-once' }, 'unaligned and mode at-least-once exclude each other'],
    [{ unaligned: true, maxConcurrent: 2 }, 'unaligned and maxConcurrent (2) exclude each other'],
    [{ unaligned: true, alignedTimeout: '1s', maxConcurrent: 2 }, 'unaligned and maxConcurrent (2) exclude each other'],
    [{ alignedTimeout: '1s' }, 'alignedTimeout (1000 ms) is the time until an unaligned checkpoint overtakes'],
    [{ unaligned: true, alignedTimeout: '1 min', timeout: '1 min' }, 'alignedTimeout (60000 ms) is not below timeout'],
    [{ unaligned: true, alignedTimeout: '11 min' }, 'alignedTimeout (660000 ms) is not below timeout (600000 ms)'],
  ])('refuse %o: what is in flight belongs to one exactly-once checkpoint at a time', (options, message) => {
    expect(failure(100, options)).toMatchObject({ code: 'CONFIG_CONTRADICTION', recoverable: false });
    expect(failure(100, options).message).toContain(message);
  });

  test('take barriers that overtake from the configuration, under their old names too', () => {
    for (const [enabled, timeout] of [
      ['unaligned.enabled', 'aligned-checkpoint-timeout'],
      ['unaligned', 'alignment-timeout'],
    ]) {
      const configuration = readConfiguration({ [`${C}${enabled}`]: 'true', [`${C}${timeout}`]: '30 s' });
      expect(resolveCheckpointSettings({ interval: 100 }, configuration)).toMatchObject({
        unaligned: true,
        alignedTimeoutMs: 30_000,
      });
    }
  });
});

function mapOf<N extends string, V>(names: Readonly<Record<N, unknown>>, value: V): Record<N, V> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, value])) as Record<N, V>;
}
