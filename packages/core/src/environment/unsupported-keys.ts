import type { UnsupportedKey } from './config-key.js';

const CHECKPOINTING = 'execution.checkpointing.';
const RECOVERY = 'execution.state-recovery.';

const later = (about: string, ...was: string[]): UnsupportedKey => ({ status: 'later', about, was });
const never = (about: string): UnsupportedKey => ({ status: 'never', about });
const always = (alwaysAs: boolean | string, about: string, ...was: string[]): UnsupportedKey => ({
  status: 'never',
  about,
  was,
  alwaysAs,
});

const MERGING = 'small state is kept inside `_metadata` and a subtask writes few files, so there is nothing to merge';
const CHANGELOG =
  'with `execution.checkpointing.incremental` checkpoints of state in memory tell what has changed, and when to begin anew follows from what that takes';
const REGIONS = 'a checkpoint is always one of the whole job';
const EXPERIMENT = 'an experiment of an unreleased Flink';

/** Keys of Flink that weir knows and does not follow, now or ever. */
export const UNSUPPORTED_KEYS: Readonly<Record<string, UnsupportedKey>> = {
  [`${CHECKPOINTING}interval-during-backlog`]: later('the interval is the same while a source catches up'),
  [`${CHECKPOINTING}unaligned.forced`]: always(false, 'no edge stays aligned that would not have to'),
  [`${CHECKPOINTING}unaligned.interruptible-timers.enabled`]: later('timers that are due fire before a barrier passes'),
  [`${CHECKPOINTING}unaligned.max-subtasks-per-channel-state-file`]: never(
    'a subtask keeps its channel state to itself',
  ),
  [`${CHECKPOINTING}unaligned.recover-output-on-downstream.enabled`]: never(EXPERIMENT),
  [`${CHECKPOINTING}unaligned.during-recovery.enabled`]: never(EXPERIMENT),
  [`${CHECKPOINTING}create-subdir`]: always(
    true,
    'each job has a folder of its own, named for it',
    'state.checkpoints.create-subdir',
  ),
  [`${CHECKPOINTING}cleaner.parallel-mode`]: later(
    'old checkpoints are deleted one by one',
    'state.checkpoint.cleaner.parallel-mode',
  ),
  [`${CHECKPOINTING}file-merging.enabled`]: never(MERGING),
  [`${CHECKPOINTING}file-merging.across-checkpoint-boundary`]: never(MERGING),
  [`${CHECKPOINTING}file-merging.max-file-size`]: never(MERGING),
  [`${CHECKPOINTING}file-merging.pool-blocking`]: never(MERGING),
  [`${CHECKPOINTING}file-merging.max-subtasks-per-file`]: never(MERGING),
  [`${CHECKPOINTING}file-merging.max-space-amplification`]: never(MERGING),
  [`${CHECKPOINTING}region.enabled`]: never(REGIONS),
  [`${CHECKPOINTING}region.max-consecutive-failures`]: never(REGIONS),
  [`${CHECKPOINTING}region.max-failure-ratio`]: never(REGIONS),
  [`${RECOVERY}without-channel-state.checkpoint-id`]: later(
    'what was in flight is part of the checkpoint',
    `${CHECKPOINTING}recover-without-channel-state.checkpoint-id`,
  ),
  'state.changelog.enabled': always(false, CHANGELOG, 'state.backend.changelog.enabled'),
  'state.changelog.storage': never(CHANGELOG),
  'state.changelog.periodic-materialize.enabled': never(CHANGELOG),
  'state.changelog.periodic-materialize.interval': never(CHANGELOG),
  'state.changelog.max-failures-allowed': never(CHANGELOG),
  'state.backend.async': always(true, 'snapshots are always written in the background, and Flink has dropped the key'),
  'jobmanager.execution.failover-strategy': always('full', 'a failure restarts the whole job'),
};
