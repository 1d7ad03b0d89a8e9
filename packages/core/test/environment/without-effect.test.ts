import { describe, expect, test } from 'vitest';
import {
  resolveCheckpointSettings,
  type CheckpointingCall,
  type RecoveryOptions,
} from '../../src/environment/checkpoint-settings.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import type { ConfigSource } from '../../src/environment/flatten-config.js';
import { withoutEffect } from '../../src/environment/without-effect.js';
import { SILENT } from '../../src/contracts/logger.js';
import { createEnvironment, noRestart, type JobEvent } from '../../src/index.js';
import { collecting, numbers } from './support.js';

function notices(
  call: CheckpointingCall | undefined,
  config: ConfigSource = {},
  recovery: RecoveryOptions = {},
): readonly string[] {
  const configuration = readConfiguration(config);
  return withoutEffect({ call, configuration, recovery }, resolveCheckpointSettings(call, configuration, recovery));
}

describe('settings that do nothing are named', () => {
  test('all of checkpoints and restoring, where no checkpoints are taken', () => {
    const config = {
      'execution.checkpointing.timeout': '1 min',
      'execution.checkpointing.dir': '/state',
      'execution.state-recovery.claim-mode': 'CLAIM',
      'parallelism.default': 2,
    };
    expect(notices(undefined, config, { allowNonRestoredState: true, claimMode: undefined })).toEqual([
      'No checkpoints are taken, so execution.checkpointing.timeout, execution.checkpointing.dir, execution.state-recovery.claim-mode, ' +
        'allowNonRestoredState have no effect. Call env.enableCheckpointing(...) or set execution.checkpointing.interval.',
    ]);
    expect(notices(undefined, { 'parallelism.default': 2 })).toEqual([]);
    expect(notices(undefined, { ...config, 'execution.checkpointing.interval': '1 min' })).toEqual([]);
  });

  test.each<[CheckpointingCall, ConfigSource, RegExp | undefined]>([
    [{ options: { minPause: '5 s' } }, {}, /^minPause has no effect: .* without an interval/],
    [{}, { 'execution.checkpointing.min-pause': '5 s' }, /^minPause has no effect/],
    [{ interval: '1 s', options: { minPause: '5 s' } }, {}, undefined],
    [{ options: { minPause: '5 s' } }, { 'execution.checkpointing.interval': '1 s' }, undefined],
    [{ options: { minPause: 0 } }, {}, undefined],
    [{ interval: '1 s', options: { localDirs: '/a' } }, {}, /^localDirs has no effect/],
    [{ interval: '1 s', options: { localDirs: '/a', localBackup: true } }, {}, undefined],
    [{ interval: '1 s', options: { localDirs: '/a', localRecovery: true } }, {}, undefined],
  ])('%o with %o', (call, config, message) => {
    expect(notices(call, config)).toEqual(message === undefined ? [] : [expect.stringMatching(message)]);
  });

  test('when the job starts, as a warning', async () => {
    const env = createEnvironment({
      logger: SILENT,
      plugins: [noRestart()],
      config: { 'execution.checkpointing.min-pause': '5 s' },
    });
    env.from(numbers(3)).to(collecting<number>([]));
    const job = await env.start('job');
    const events: JobEvent[] = [];
    job.events$.subscribe((event) => events.push(event));
    await job.done;
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'warning',
        message: expect.stringContaining('so execution.checkpointing.min-pause has no effect'),
      }),
    );
  });
});

test.each([
  [{ storag: '5 s' }, /callTimeouts has no option storag: did you mean storage\?/],
  [new Map([['storage', '5 s']]), /What callTimeouts takes must be a plain object/],
])('time-outs of calls that would not be found are refused: %o', (callTimeouts, message) => {
  expect(() => createEnvironment({ callTimeouts: callTimeouts as never })).toThrow(message);
});
