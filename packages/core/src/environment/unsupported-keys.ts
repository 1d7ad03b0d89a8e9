import type { UnsupportedKey } from './config-key.js';

const CHECKPOINTING = 'execution.checkpointing.';
const RECOVERY = 'execution.state-recovery.';

const later = (about: string, ...was: string[]): UnsupportedKey => ({ status: 'later', about, was });
const never = (about: string, ...was: string[]): UnsupportedKey => ({ status: 'never', about, was });
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
  [`${CHECKPOINTING}interval-during-backlog`]: never('the interval is the same while a source catches up'),
  [`${CHECKPOINTING}unaligned.forced`]: always(false, 'no edge stays aligned that would not have to'),
  [`${CHECKPOINTING}unaligned.interruptible-timers.enabled`]: never('timers that are due fire before a barrier passes'),
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
  [`${CHECKPOINTING}cleaner.parallel-mode`]: never(
    'old checkpoints go oldest first, because one that outlived a newer one would pass for the newest',
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
  [`${RECOVERY}without-channel-state.checkpoint-id`]: never(
    'what was in flight is part of the checkpoint, and is never left out',
    `${CHECKPOINTING}recover-without-channel-state.checkpoint-id`,
  ),
  [`${RECOVERY}approximate-local-recovery`]: always(
    false,
    'a failure restarts the whole job',
    `${CHECKPOINTING}approximate-local-recovery`,
  ),
  [`${CHECKPOINTING}during-recovery.enabled`]: never(EXPERIMENT),
  [`${CHECKPOINTING}force`]: always(
    false,
    'loops are part of checkpoints; `weir.checkpointing.iterations` says otherwise',
  ),
  [`${CHECKPOINTING}snapshot-compression`]: {
    ...later('state is stored as it is'),
    alwaysAs: false,
  },
  'execution.runtime-mode': always('streaming', 'weir has no batch mode'),
  'pipeline.name': never('`start` takes the name of the job'),
  'pipeline.object-reuse': always(true, 'records are handed on and not copied'),
  'pipeline.operator-chaining.enabled': always(
    true,
    'operators with no exchange between them are one stage',
    'pipeline.operator-chaining',
  ),
  'pipeline.operator-chaining.chain-operators-with-different-max-parallelism': always(
    true,
    'a job has one maximum parallelism',
  ),
  'pipeline.auto-generate-uids': always(
    true,
    'a stateful operator without a uid gets one from its place, and a warning',
  ),
  'pipeline.auto-watermark-interval': never('watermarks follow the records that move them, not a clock'),
  'pipeline.closure-cleaner-level': never('functions stay in the process that made them'),
  'pipeline.global-job-parameters': never('what describes a job takes its parameters as arguments'),
  'pipeline.sources.pause-until-first-checkpoint': never('sources begin at once'),
  'state.backend.rocksdb.memory.managed': always(false, 'each operator of each subtask has a cache of its own'),
  'state.backend.rocksdb.predefined-options': always('default', 'RocksDB is tuned by the keys that work'),
  'state.backend.rocksdb.ttl.compaction.filter.enabled': always(
    true,
    'expired state goes when RocksDB compacts its files',
  ),
  'state.changelog.enabled': always(false, CHANGELOG, 'state.backend.changelog.enabled'),
  'state.changelog.storage': never(CHANGELOG),
  'state.changelog.periodic-materialize.enabled': never(CHANGELOG),
  'state.changelog.periodic-materialize.interval': never(CHANGELOG),
  'state.changelog.max-failures-allowed': never(CHANGELOG),
  'state.backend.async': always(true, 'snapshots are always written in the background, and Flink has dropped the key'),
  'jobmanager.execution.failover-strategy': always('full', 'a failure restarts the whole job'),
};
