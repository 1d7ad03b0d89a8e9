// Flink: CheckpointingOptions, ExecutionCheckpointingOptions, StateRecoveryOptions, RestartStrategyOptions, PipelineOptions, TaskManagerOptions.
// Written out as literals: that keeps the type of each value for whoever reads it.

/** Every key that has a meaning, with the type of its value. Durations in ms, memory sizes in bytes. */
export const SUPPORTED_KEYS = {
  'execution.checkpointing.interval': {
    status: 'supported',
    type: { kind: 'duration', min: 10, below: 31_536_000_000 },
    about: 'Time between the starts of two periodic checkpoints. Setting it turns checkpointing on.',
  },
  'execution.checkpointing.mode': {
    status: 'supported',
    type: { kind: 'one-of', names: { EXACTLY_ONCE: 'exactly-once', AT_LEAST_ONCE: 'at-least-once' } },
    default: 'exactly-once',
    about: 'Whether barriers are aligned, or records may be counted twice after a failure.',
  },
  'execution.checkpointing.timeout': {
    status: 'supported',
    type: { kind: 'duration', min: 10, below: 31_536_000_000 },
    default: 600_000,
    about: 'A checkpoint that takes longer is aborted.',
  },
  'execution.checkpointing.min-pause': {
    status: 'supported',
    type: { kind: 'duration', below: 31_536_000_000 },
    default: 0,
    about:
      'Shortest time from the end of one checkpoint or savepoint, also of one that failed, to the start of the next periodic one. Excludes more than one at a time.',
  },
  'execution.checkpointing.max-concurrent-checkpoints': {
    status: 'supported',
    type: { kind: 'count', min: 1 },
    default: 1,
    about: 'How many checkpoints may be under way at once.',
  },
  'execution.checkpointing.tolerable-failed-checkpoints': {
    status: 'supported',
    type: { kind: 'count', min: 0, orInfinity: true },
    default: 0,
    about: 'How many checkpoints in a row may fail before the job does.',
  },
  'execution.checkpointing.unaligned.enabled': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    was: ['execution.checkpointing.unaligned'],
    about:
      'Whether barriers overtake the records that wait between subtasks, which then are part of the checkpoint. Exactly-once and one at a time only.',
  },
  'execution.checkpointing.aligned-checkpoint-timeout': {
    status: 'supported',
    type: { kind: 'duration', below: 31_536_000_000 },
    default: 0,
    was: ['execution.checkpointing.alignment-timeout'],
    about: 'How long after its trigger an unaligned checkpoint stays aligned.',
  },
  'execution.checkpointing.incremental': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    was: ['state.backend.incremental'],
    about:
      'Whether checkpoints consist of what has changed and of what earlier ones have stored, where the state backend can do that.',
  },
  'execution.checkpointing.local-backup.enabled': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    about:
      'Whether keyed state that checkpoints write is copied to a disk of the machine, too. Unless set, as `execution.state-recovery.from-local`.',
  },
  'execution.checkpointing.local-backup.dirs': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['taskmanager.state.local.root-dirs'],
    about:
      'Folders for these copies, separated by commas; subtasks are dealt out to them. Unless set, one among the temporary files of the system.',
  },
  'execution.checkpointing.externalized-checkpoint-retention': {
    status: 'supported',
    type: {
      kind: 'one-of',
      names: {
        NO_EXTERNALIZED_CHECKPOINTS: 'no-externalized',
        DELETE_ON_CANCELLATION: 'delete-on-cancellation',
        RETAIN_ON_CANCELLATION: 'retain-on-cancellation',
      },
    },
    default: 'delete-on-cancellation',
    about:
      "Which ends of a job keep its checkpoints: none, a failure, or a failure and a cancel. Flink's default is the first.",
  },
  'execution.checkpointing.num-retained': {
    status: 'supported',
    type: { kind: 'count', min: 1 },
    default: 1,
    was: ['state.checkpoints.num-retained'],
    about: 'How many completed checkpoints are kept.',
  },
  'execution.checkpointing.checkpoints-after-tasks-finish': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: true,
    was: ['execution.checkpointing.checkpoints-after-tasks-finish.enabled'],
    about:
      'Whether checkpoints go on after a subtask has finished. If not, only the final one of the job is taken then.',
  },
  'execution.checkpointing.storage': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['state.checkpoint-storage'],
    about:
      'Which of the installed checkpoint storages is used: `jobmanager` (memory), `filesystem` (fs), or the name of a package.',
  },
  'execution.checkpointing.dir': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['state.checkpoints.dir', 'state.backend.fs.checkpointdir'],
    about: 'Where a file storage keeps checkpoints.',
  },
  'execution.checkpointing.savepoint-dir': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['state.savepoints.dir', 'savepoints.state.backend.fs.dir'],
    about: 'Where a file storage puts savepoints that nobody gives a directory.',
  },
  'execution.checkpointing.prefer-checkpoint-for-recovery': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: true,
    about:
      'Deprecated. `false`: a triggered savepoint is committed, and restored after a failure, like a checkpoint. Flink had it the other way round by default and has dropped it.',
  },
  'execution.checkpointing.data-inline-threshold': {
    status: 'supported',
    type: { kind: 'memory-size', max: 1_048_576 },
    default: 20_480,
    was: ['state.storage.fs.memory-threshold', 'state.backend.fs.memory-threshold'],
    about: 'State up to this size is kept inside `_metadata`.',
  },
  'execution.checkpointing.write-buffer-size': {
    status: 'supported',
    type: { kind: 'memory-size', min: 1 },
    default: 4096,
    was: ['state.storage.fs.write-buffer-size', 'state.backend.fs.write-buffer-size'],
    about: 'Bytes collected before a file is written to.',
  },
  'execution.state-recovery.path': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['execution.savepoint.path'],
    about: 'The checkpoint or savepoint to start from.',
  },
  'execution.state-recovery.from-local': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    was: ['state.backend.local-recovery'],
    about:
      'Whether a restore reads keyed state from local copies where they are whole, else from the checkpoint storage.',
  },
  'execution.state-recovery.claim-mode': {
    status: 'supported',
    type: { kind: 'one-of', names: { NO_CLAIM: 'no-claim', CLAIM: 'claim' } },
    default: 'no-claim',
    was: ['execution.savepoint-restore-mode'],
    about:
      "Whose the checkpoint or savepoint is that a path leads to: the user's, or the job's, which removes it once it is superfluous.",
  },
  'execution.state-recovery.ignore-unclaimed-state': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    was: ['execution.savepoint.ignore-unclaimed-state'],
    about: 'Leaves state behind that no operator of the job claims, instead of refusing to start.',
  },
  'weir.state-recovery.ignore-unclaimed-positions-and-output': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    about:
      'Leaves positions of sources, output that is not published and records in flight behind that no operator of the job claims, instead of refusing to start.',
  },
  'state.backend.type': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['state.backend'],
    about: 'Which of the installed state backends is used: `hashmap` (memory), another type, or the name of a package.',
  },
  'state.backend.rocksdb.localdir': {
    status: 'supported',
    type: { kind: 'text' },
    about:
      'Where RocksDB keeps working state while the process lives, on the local disk. Unless set, the temporary folder of the system.',
  },
  'state.backend.rocksdb.block.cache-size': {
    status: 'supported',
    type: { kind: 'memory-size', min: 1 },
    default: 8_388_608,
    about: "RocksDB's blocks in memory, of each operator in each subtask.",
  },
  'state.backend.rocksdb.writebuffer.size': {
    status: 'supported',
    type: { kind: 'memory-size', min: 1 },
    default: 67_108_864,
    about: 'Writes that RocksDB collects in memory before it makes a file of them, of each operator in each subtask.',
  },
  'state.backend.rocksdb.compression.per.level': {
    status: 'supported',
    type: { kind: 'one-of', names: { SNAPPY_COMPRESSION: 'snappy', NO_COMPRESSION: 'none' } },
    default: 'snappy',
    about: "Compression of RocksDB's files, the same on every level.",
  },
  'restart-strategy.type': {
    status: 'supported',
    type: { kind: 'text' },
    was: ['restart-strategy'],
    about:
      'Which restart strategy is used: `none` (`off`, `disable`), `fixed-delay`, `failure-rate`, `exponential-delay`, or the name of a package. Without checkpointing `none`, with it `exponential-delay`.',
  },
  'restart-strategy.fixed-delay.attempts': {
    status: 'supported',
    type: { kind: 'count', min: 0, orInfinity: true },
    default: 1,
    about: 'How many times the job is restarted.',
  },
  'restart-strategy.fixed-delay.delay': {
    status: 'supported',
    type: { kind: 'duration' },
    default: 1000,
    about: 'Time from a failure to the restart.',
  },
  'restart-strategy.failure-rate.max-failures-per-interval': {
    status: 'supported',
    type: { kind: 'count', min: 1 },
    default: 1,
    about: 'How many failures within the interval are answered by a restart.',
  },
  'restart-strategy.failure-rate.failure-rate-interval': {
    status: 'supported',
    type: { kind: 'duration', min: 1 },
    default: 60_000,
    about: 'The interval, which slides along with the failures.',
  },
  'restart-strategy.failure-rate.delay': {
    status: 'supported',
    type: { kind: 'duration' },
    default: 1000,
    about: 'Time from a failure to the restart.',
  },
  'restart-strategy.exponential-delay.initial-backoff': {
    status: 'supported',
    type: { kind: 'duration', min: 1 },
    default: 1000,
    about: 'Time from the first failure to the restart.',
  },
  'restart-strategy.exponential-delay.max-backoff': {
    status: 'supported',
    type: { kind: 'duration', min: 1 },
    default: 60_000,
    about: 'Longest time from a failure to the restart.',
  },
  'restart-strategy.exponential-delay.backoff-multiplier': {
    status: 'supported',
    type: { kind: 'number', above: 1 },
    default: 1.5,
    about: 'By how much each failure prolongs the time to the restart.',
  },
  'restart-strategy.exponential-delay.jitter-factor': {
    status: 'supported',
    type: { kind: 'number', min: 0, max: 1 },
    default: 0.1,
    about: 'Share of that time by which it varies at random.',
  },
  'restart-strategy.exponential-delay.reset-backoff-threshold': {
    status: 'supported',
    type: { kind: 'duration', min: 1 },
    default: 3_600_000,
    about:
      'After that long without a failure, if a checkpoint has completed in it, the time to the restart is the first one again.',
  },
  'restart-strategy.exponential-delay.attempts-before-reset-backoff': {
    status: 'supported',
    type: { kind: 'count', min: 1, orInfinity: true },
    about: 'How many restarts there may be without such a quiet time between. Any number unless set.',
  },
  'parallelism.default': {
    status: 'supported',
    type: { kind: 'count', min: 1, max: 32_767 },
    default: 1,
    about: 'Parallelism of an operator that sets none.',
  },
  'pipeline.max-parallelism': {
    status: 'supported',
    type: { kind: 'count', min: 1, max: 32_767 },
    default: 128,
    about:
      'Number of key groups, the limit of every later parallelism. A checkpoint keeps its own, which a job that sets none takes over.',
  },
  'sink.committer.retries': {
    status: 'supported',
    type: { kind: 'count', min: 0, orInfinity: true },
    default: 10,
    about:
      'How often a commit that does not succeed is tried again, after 100 ms, 200 ms, and so on up to 10 s. Then the attempt fails with COMMIT_FAILED, and the next one commits.',
  },
  'task.cancellation.timeout': {
    status: 'supported',
    type: { kind: 'duration', min: 1, below: 31_536_000_000 },
    default: 180_000,
    about: 'How long a failed attempt may take to end. Then the job fails, instead of running two attempts at once.',
  },
  'io.tmp.dirs': {
    status: 'supported',
    type: { kind: 'text' },
    about: 'Folder for temporary files, which loops need when much waits in them. Unless set, that of the system.',
  },
  'weir.rocksdb.cache-size': {
    status: 'supported',
    type: { kind: 'memory-size', min: 1 },
    default: 67_108_864,
    about: 'State that is kept as live values in front of RocksDB, of each operator in each subtask.',
  },
  'weir.call-timeout.storage': {
    status: 'supported',
    type: { kind: 'duration', min: 1, below: 31_536_000_000 },
    default: 60_000,
    about: 'How long a call to the checkpoint storage may take, where bytes move without any that does.',
  },
  'weir.call-timeout.source': {
    status: 'supported',
    type: { kind: 'duration', min: 1, below: 31_536_000_000 },
    default: 120_000,
    about: 'How long a call to a source may take. Waiting for records has no limit.',
  },
  'weir.call-timeout.sink': {
    status: 'supported',
    type: { kind: 'duration', min: 1, below: 31_536_000_000 },
    default: 120_000,
    about: 'How long a call to a sink may take.',
  },
  'weir.call-timeout.state': {
    status: 'supported',
    type: { kind: 'duration', min: 1, below: 31_536_000_000 },
    default: 120_000,
    about: 'How long a call to the state backend may take without any progress.',
  },
  'weir.checkpointing.lock-timeout': {
    status: 'supported',
    type: { kind: 'duration', below: 31_536_000_000 },
    default: 10_000,
    about: 'How long a starting process waits for another one that runs the same job on the same directory.',
  },
  'weir.checkpointing.allow-duplicates': {
    status: 'supported',
    type: { kind: 'boolean' },
    default: false,
    about: 'Permits restoring an older checkpoint than the newest, although sinks will repeat output.',
  },
  'weir.checkpointing.iterations': {
    status: 'supported',
    type: { kind: 'one-of', names: { LOGGED: 'logged', REFUSE: 'refuse', FORCE: 'force' } },
    default: 'logged',
    about:
      'What checkpoints do about loops: hold what goes round, refuse the job, or lose it. The last two are what Flink did.',
  },
} as const;
