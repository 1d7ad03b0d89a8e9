import { delimiter } from 'node:path';
import { localPath } from '../adapters/local-path.js';
import type { CheckpointSettings, ClaimMode, RetentionPolicy } from '../contracts/coordinator.js';
import { WeirError } from '../errors.js';
import type { SettingName, SettingValue } from './config-keys.js';
import { defaultOf, type Configuration } from './configuration.js';
import type { Duration } from './duration.js';
import { failOnCheckpointErrorNotices, toleratedBy } from './fail-on-checkpoint-error.js';
import { refuseUnknownOptions } from './known-options.js';
import { inspectShort } from './inspect-short.js';
import { SUPPORTED_KEYS } from './supported-keys.js';
import { readValue } from './value-type.js';

/** What `enableCheckpointing` takes. Whatever is left out comes from the configuration, else it is the default. */
export interface CheckpointOptions {
  /** Default `exactly-once`. */
  readonly mode?: CheckpointSettings['mode'] | undefined;
  /** A checkpoint that takes longer is aborted. Default 10 min. */
  readonly timeout?: Duration | undefined;
  /** Shortest time from the end of one checkpoint to the start of the next. Default 0. Excludes `maxConcurrent` above 1. */
  readonly minPause?: Duration | undefined;
  /** How many checkpoints may be under way at once. Default 1. */
  readonly maxConcurrent?: number | undefined;
  /**
   * Barriers overtake the records that wait between subtasks, which then are part of the checkpoint: it takes as long under backpressure as
   * without. Exactly-once and one checkpoint at a time only. Default false.
   */
  readonly unaligned?: boolean | undefined;
  /** How long after its trigger an unaligned checkpoint stays aligned; below `timeout`. Needs `unaligned`. Default 0. */
  readonly alignedTimeout?: Duration | undefined;
  /** How many checkpoints in a row may fail before the job does; Infinity: any number. Default 0. */
  readonly tolerableFailures?: number | undefined;
  /**
   * True: the first failed checkpoint fails the job; false: none does. An explicit `tolerableFailures` wins.
   * @deprecated Say `tolerableFailures`: 0 for true, Infinity for false. (Flink: CheckpointConfig.setFailOnCheckpointingErrors.)
   */
  readonly failOnCheckpointError?: boolean | undefined;
  /** Checkpoints go on after a subtask has finished. False: then only the final one is taken. Default true. */
  readonly checkpointsAfterFinish?: boolean | undefined;
  /**
   * Checkpoints consist of what has changed and of what earlier ones have stored, where the state backend can do that; savepoints are always
   * whole. Default false.
   */
  readonly incremental?: boolean | undefined;
  /**
   * A restore reads keyed state from copies on a disk of the machine where they are whole, else from the checkpoint storage (Flink: task-local
   * recovery). Default false.
   */
  readonly localRecovery?: boolean | undefined;
  /** Such copies are made of what checkpoints write. Default: the same as `localRecovery`. */
  readonly localBackup?: boolean | undefined;
  /** The folders for them, separated by commas; subtasks are dealt out to them. Default: one among the temporary files of the system. */
  readonly localDirs?: string | undefined;
  /** Which checkpoints outlive the job. Default `delete-on-cancellation`: those of a job that failed. */
  readonly externalized?: RetentionPolicy | undefined;
  /** How many completed checkpoints are kept. Default 1. */
  readonly numRetained?: number | undefined;
  /** How long a start waits for another process that runs the same job on the same directory. Default 10 s. */
  readonly lockTimeout?: Duration | undefined;
  /** Permits restoring an older checkpoint than the newest although sinks will repeat output. Default false. */
  readonly allowDuplicates?: boolean | undefined;
  /** @deprecated Leave it out. False: a triggered savepoint is committed, and restored after a failure, like a checkpoint. Default true. */
  readonly preferCheckpointForRecovery?: boolean | undefined;
  /**
   * What checkpoints do about loops. `logged` (default): they hold what goes round. `refuse`: a job with loops does not start. `force`: they do
   * not, and what was going round is lost by a restore. The last two are what Flink did.
   */
  readonly iterations?: Iterations | undefined;
}
export type Iterations = 'logged' | 'refuse' | 'force';

/** With what concerns the engine alone. */
export interface CheckpointingOfJob extends CheckpointSettings {
  readonly iterations: Iterations;
  /** Copies of keyed state on a disk of the machine. */
  readonly localCopies: {
    readonly areMade: boolean;
    readonly areUsed: boolean;
    /** Absent: where the host has them. */
    readonly dirs: readonly string[] | undefined;
  };
}

/** How the checkpoint is restored that a job starts from. */
export interface RecoveryOptions {
  readonly allowNonRestoredState?: boolean | undefined;
  readonly allowNonRestoredPositionsAndOutput?: boolean | undefined;
  readonly claimMode?: ClaimMode | undefined;
}

/** One call of `enableCheckpointing`. Without an interval there are only manual and final checkpoints, unless the configuration has one. */
export interface CheckpointingCall {
  readonly interval?: Duration | undefined;
  readonly options?: CheckpointOptions | undefined;
}

/** Which key of the configuration stands behind which option. */
const KEYS = {
  interval: 'execution.checkpointing.interval',
  mode: 'execution.checkpointing.mode',
  timeout: 'execution.checkpointing.timeout',
  minPause: 'execution.checkpointing.min-pause',
  maxConcurrent: 'execution.checkpointing.max-concurrent-checkpoints',
  unaligned: 'execution.checkpointing.unaligned.enabled',
  alignedTimeout: 'execution.checkpointing.aligned-checkpoint-timeout',
  tolerableFailures: 'execution.checkpointing.tolerable-failed-checkpoints',
  incremental: 'execution.checkpointing.incremental',
  localRecovery: 'execution.state-recovery.from-local',
  localBackup: 'execution.checkpointing.local-backup.enabled',
  localDirs: 'execution.checkpointing.local-backup.dirs',
  externalized: 'execution.checkpointing.externalized-checkpoint-retention',
  numRetained: 'execution.checkpointing.num-retained',
  checkpointsAfterFinish: 'execution.checkpointing.checkpoints-after-tasks-finish',
  lockTimeout: 'weir.checkpointing.lock-timeout',
  allowDuplicates: 'weir.checkpointing.allow-duplicates',
  preferCheckpointForRecovery: 'execution.checkpointing.prefer-checkpoint-for-recovery',
  iterations: 'weir.checkpointing.iterations',
} as const satisfies Record<'interval' | Exclude<keyof CheckpointOptions, 'failOnCheckpointError'>, SettingName>;

const OPTIONS = [...Object.keys(KEYS).filter((name) => name !== 'interval'), 'failOnCheckpointError'];

const RECOVERY_KEYS = {
  allowNonRestoredState: 'execution.state-recovery.ignore-unclaimed-state',
  allowNonRestoredPositionsAndOutput: 'weir.state-recovery.ignore-unclaimed-positions-and-output',
  claimMode: 'execution.state-recovery.claim-mode',
} as const satisfies Record<keyof RecoveryOptions, SettingName>;

const ALL_KEYS = { ...KEYS, ...RECOVERY_KEYS };
type Option = keyof typeof ALL_KEYS;

/**
 * Code over configuration over default; undefined if neither code nor configuration turns checkpointing on.
 * Fails with CONFIG_INVALID or CONFIG_CONTRADICTION, naming the options.
 */
export function resolveCheckpointSettings(
  call: CheckpointingCall | undefined,
  configuration: Configuration,
  recovery: RecoveryOptions = {},
): CheckpointingOfJob | undefined {
  if (call === undefined && configuration.get(KEYS.interval) === undefined) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- read where it is given
  const { failOnCheckpointError, ...options } = call?.options ?? {};
  if (call?.options !== undefined) refuseUnknownOptions('enableCheckpointing', call.options, OPTIONS);
  const inCode: Partial<Record<string, unknown>> = { ...options, interval: call?.interval, ...recovery };

  const optional = <O extends Option>(option: O): SettingValue<(typeof ALL_KEYS)[O]> | undefined => {
    const key = ALL_KEYS[option];
    return inCode[option] === undefined
      ? (configuration.get(key) ?? defaultOf(key))
      : readOption(option, key, inCode[option]);
  };
  // Every option but the interval has a default in the table.
  const setting = <O extends Exclude<Option, 'interval'>>(option: O): SettingValue<(typeof ALL_KEYS)[O]> =>
    optional(option)!;

  const isExplicit = (option: Option): boolean =>
    inCode[option] !== undefined || configuration.get(ALL_KEYS[option]) !== undefined;

  const settings: CheckpointingOfJob = {
    intervalMs: optional('interval'),
    mode: setting('mode'),
    timeoutMs: setting('timeout'),
    minPauseMs: setting('minPause'),
    maxConcurrent: setting('maxConcurrent'),
    unaligned: setting('unaligned'),
    alignedTimeoutMs: setting('alignedTimeout'),
    tolerableFailures: isExplicit('tolerableFailures')
      ? setting('tolerableFailures')
      : (toleratedBy(failOnCheckpointError) ?? setting('tolerableFailures')),
    incremental: setting('incremental'),
    retention: setting('externalized'),
    numRetained: setting('numRetained'),
    checkpointsAfterFinish: setting('checkpointsAfterFinish'),
    lockTimeoutMs: setting('lockTimeout'),
    allowDuplicates: setting('allowDuplicates'),
    allowNonRestoredState: setting('allowNonRestoredState'),
    allowNonRestoredPositionsAndOutput: setting('allowNonRestoredPositionsAndOutput'),
    claimMode: setting('claimMode'),
    preferCheckpointForRecovery: setting('preferCheckpointForRecovery'),
    iterations: setting('iterations'),
    localCopies: {
      areMade: setting(isExplicit('localBackup') ? 'localBackup' : 'localRecovery'),
      areUsed: setting('localRecovery'),
      dirs: foldersOf(optional('localDirs')),
    },
  };
  refuseContradictions(settings);
  return settings;
}

function readOption<K extends SettingName>(option: Option, key: K, value: unknown): SettingValue<K> {
  const reading = readValue(SUPPORTED_KEYS[key].type, value);
  if (!reading.ok)
    throw new WeirError('CONFIG_INVALID', `${option} ${reading.problem}, but is ${inspectShort(value)}`, {
      recoverable: false,
    });
  return reading.value as SettingValue<K>;
}

/** Flink separates them by commas, bars, or what separates paths on this system; the colon of a URL does not. */
function foldersOf(text: string | undefined): readonly string[] | undefined {
  const folders = text?.split(new RegExp(`[,|]|${delimiter}(?!//)`)).map((folder) => folder.trim());
  const named = folders
    ?.filter((folder) => folder !== '')
    .map((folder) => localPath(folder, 'execution.checkpointing.local-backup.dirs'));
  return named === undefined || named.length === 0 ? undefined : named;
}

/** What a user should know about what was asked for. */
export function deprecations(call: CheckpointingCall | undefined, configuration: Configuration): readonly string[] {
  const option = 'preferCheckpointForRecovery';
  const isAsked = call?.options?.[option] !== undefined || configuration.get(KEYS[option]) !== undefined;
  const ofSwitch = failOnCheckpointErrorNotices(call?.options);
  if (!isAsked) return ofSwitch;
  return [
    ...ofSwitch,
    `${option} is deprecated. Leave it out: a job that fails goes back to its newest checkpoint, or to the savepoint it started from; a savepoint taken meanwhile stays out of it.`,
  ];
}

function refuseContradictions(settings: CheckpointSettings): void {
  const message = contradiction(settings);
  if (message !== undefined) throw new WeirError('CONFIG_CONTRADICTION', message, { recoverable: false });
}

function contradiction(settings: CheckpointSettings): string | undefined {
  const { minPauseMs, maxConcurrent, mode, unaligned, alignedTimeoutMs, timeoutMs } = settings;
  if (minPauseMs > 0 && maxConcurrent > 1)
    return `minPause (${String(minPauseMs)} ms) and maxConcurrent (${String(maxConcurrent)}) exclude each other: a pause between checkpoints means one at a time`;
  if (alignedTimeoutMs > 0 && !unaligned)
    return `alignedTimeout (${String(alignedTimeoutMs)} ms) is the time until an unaligned checkpoint overtakes, and unaligned is off`;
  if (alignedTimeoutMs > 0 && alignedTimeoutMs >= timeoutMs)
    return `alignedTimeout (${String(alignedTimeoutMs)} ms) is not below timeout (${String(timeoutMs)} ms): a checkpoint would be aborted before its barriers may overtake`;
  if (unaligned && mode !== 'exactly-once')
    return `unaligned and mode ${mode} exclude each other: without exactly-once nothing is aligned in the first place`;
  if (unaligned && maxConcurrent > 1)
    return `unaligned and maxConcurrent (${String(maxConcurrent)}) exclude each other: what is in flight belongs to one checkpoint at a time`;
  return undefined;
}
