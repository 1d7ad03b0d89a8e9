// What Flink's own tests say a checkpointed engine does, as far as it can be said of weir too. Each entry: the class of the source test, the names
// that a test of ours carries in its title (all of them), and what it is about. `title`: a rule of Flink's code that no test of it has a name for;
// the text is part of our title. `in`: part of the path of the file, where several classes have tests of one name. `without`: why there is no test.

const TRIGGERING = 'CheckpointCoordinatorTriggeringTest';
const COORDINATOR = 'CheckpointCoordinatorTest';
const DECIDER = 'CheckpointRequestDeciderTest';
const FAILURE = 'CheckpointFailureManagerTest';
const STORE = 'CompletedCheckpointStoreTest';
const ALIGNED = 'AlignedCheckpointsTest';
const TRACKER = 'CheckpointBarrierTrackerTest';
const UNALIGNED = 'UnalignedCheckpointsTest';
const ALTERNATING = 'AlternatingCheckpointsTest';
const SUBTASK = 'SubtaskCheckpointCoordinatorTest';
const RESTART = 'restart strategies and ExecutionFailureHandlerTest';
const SHARED = 'SharedStateRegistryTest';
const ASSIGNMENT = 'StateAssignmentOperationTest';
const TWO_PHASE = 'TwoPhaseCommitSinkFunctionTest';
const PAPER = 'arXiv 1506.08603';

const ONE_KIND = 'whether checkpoints are incremental is said for the job, and a manual one is no exception';

export const SCENARIOS = [
  // Triggering and queueing
  {
    of: TRIGGERING,
    names: ['testPeriodicTriggering'],
    about: 'one checkpoint per interval, with growing ids; none while stopped',
  },
  {
    of: COORDINATOR,
    names: ['testMinCheckpointPause'],
    about: 'the pause is kept between the end of one and the start of the next',
  },
  {
    of: TRIGGERING,
    names: ['testTriggerCheckpointWithShuttingDownCoordinator'],
    about: 'a trigger fails when the coordinator is shut down in the middle',
  },
  {
    of: TRIGGERING,
    names: ['testTriggerCheckpointBeforePreviousOneCompleted'],
    about: 'of two requests the second waits while the first is set up',
  },
  {
    of: TRIGGERING,
    names: ['testTriggerCheckpointRequestCancelled'],
    about: 'a set-up that hangs ends with the timeout, and triggers nobody afterwards',
  },
  {
    of: TRIGGERING,
    names: ['testTriggerCheckpointSnapshotMasterHookFailed'],
    about: 'a set-up that fails triggers nobody',
  },
  {
    of: COORDINATOR,
    names: ['testTriggerCheckpointWithCounterIOException'],
    about: 'an I/O error of the set-up counts as a failed checkpoint',
  },
  {
    of: COORDINATOR,
    names: [
      'testTriggeringCheckpointsWithNullCheckpointType',
      'testTriggeringCheckpointsWithIncrementalCheckpointType',
      'testTriggeringCheckpointsWithFullCheckpointType',
    ],
    about: 'the kind of a manual checkpoint',
    without: ONE_KIND,
  },
  {
    of: TRIGGERING,
    names: ['testTriggeringFullSnapshotAfterJobmasterFailover'],
    about: 'the first checkpoint after a no-claim restore is a full one',
  },
  {
    of: DECIDER,
    names: ['testEnqueueOnTooManyCleaning'],
    about: 'requests wait while too many old checkpoints are being removed',
    without: 'no request waits for removals: what is postponed is bounded, and holds up nothing',
  },
  { of: DECIDER, names: ['testQueueSizeLimit'], about: 'a full queue refuses exactly one' },
  {
    of: DECIDER,
    names: ['testSavepointTiming', 'testCheckpointTiming'],
    about: 'the pause holds back periodic checkpoints only',
  },
  {
    of: COORDINATOR,
    names: ['testMaxConcurrentAttemptsWithSubsumption'],
    about: 'a newer one that completes makes room for two',
  },
  { of: COORDINATOR, names: ['testMinDelayBetweenSavepoints'], about: 'two in a row that somebody asked for' },
  {
    of: COORDINATOR,
    names: ['testPeriodicSchedulingWithInactiveTasks'],
    about: 'nothing is triggered before every subtask runs',
  },
  {
    of: COORDINATOR,
    names: ['testBaseLocationsNotInitialized'],
    about: 'nothing is written before the first checkpoint',
  },

  // Acknowledgement, decline, timeout, completion
  {
    of: COORDINATOR,
    names: ['testTriggerAndDeclineSync/AsyncCheckpointFailureSimple'],
    about: 'one decline aborts the checkpoint, once',
  },
  {
    of: COORDINATOR,
    names: ['testTriggerAndDeclineCheckpointThenFailureManagerThrowsException'],
    about: 'what failing throws does not keep the remains',
  },
  { of: COORDINATOR, names: ['testCheckpointTimeoutIsolated'], about: 'half acknowledged and expired' },
  { of: COORDINATOR, names: ['testStateCleanupForLateOrUnknownMessages'], about: 'late, unknown and repeated answers' },
  {
    of: 'CheckpointCoordinatorFailureTest',
    names: ['testExceptionInStoringCompletedCheckpointIsReportedToFailureManager'],
    about: 'a checkpoint that cannot be published fails the job once',
  },
  {
    of: COORDINATOR,
    names: ['testTriggerAndConfirmSimpleSavepoint'],
    about: 'a savepoint is no checkpoint of the job, and notifies nobody',
  },
  {
    of: COORDINATOR,
    names: ['testReportLatestCompletedCheckpointIdWithAbort'],
    about: 'an abort tells the newest that is complete',
  },
  {
    of: COORDINATOR,
    names: ['testTimeoutWhileCheckpointOperatorCoordinatorNotFinishing'],
    about: 'an enumerator that never answers',
  },
  {
    of: COORDINATOR,
    names: ['testCheckpointTriggeredAfterSomeTasksFinishedIfAllowed'],
    about: 'finished subtasks count as having answered',
  },
  { of: COORDINATOR, names: ['testExternalizedCheckpoints'], about: 'retention is that of the configured policy' },
  {
    of: 'StopWithSavepointTerminationHandlerImpl',
    title: 'that fails leaves the job running, and periodic checkpoints come again',
    about: 'a stop whose savepoint fails leaves the job running',
  },

  // Failures and retention
  { of: FAILURE, names: ['testContinuousFailure'], about: 'one more failure in a row than is tolerable' },
  { of: FAILURE, names: ['testIgnoreOneCheckpointRepeatedlyCountMultiTimes'], about: 'a checkpoint fails once' },
  {
    of: STORE,
    names: ['testAddCheckpointMoreThanMaxRetained', 'testDiscardAllCheckpoints'],
    about: 'what is retained, and what is left of a finished job',
  },

  // Aligned
  {
    of: ALIGNED,
    in: '/aligned',
    names: ['testMultiChannelJumpingOverCheckpoint'],
    about: 'newer barriers come while others wait',
  },
  {
    of: ALIGNED,
    in: '/aligned',
    names: ['testSingleChannelAbortCheckpoint'],
    about: 'barriers and cancel markers on one input',
  },
  {
    of: ALIGNED,
    in: '/aligned',
    names: ['testIgnoreCancelBarrierIfCheckpointSubsumed'],
    about: 'a cancel marker that comes too late',
  },
  {
    of: ALIGNED,
    in: '/aligned',
    names: ['testStartAlignmentWithClosedChannels'],
    about: 'inputs that ended deliver no barrier',
  },
  { of: ALIGNED, in: '/aligned', names: ['testMetrics'], about: 'how long an alignment took' },

  // At least once
  { of: TRACKER, in: 'counting', names: ['testMultiChannelSkippingCheckpoints'], about: 'a checkpoint is passed over' },
  { of: TRACKER, in: 'counting', names: ['testMultiChannelAbortCheckpoint'], about: 'cancel markers between barriers' },
  {
    of: TRACKER,
    in: 'counting',
    names: ['testTriggerCheckpointsWithEndOfPartition'],
    about: 'an input that ends counts for every pending checkpoint',
  },

  // Unaligned
  {
    of: UNALIGNED,
    in: 'unaligned',
    names: ['testMultiChannelWithBarriers'],
    about: 'what is in flight between the barriers',
  },
  {
    of: UNALIGNED,
    in: 'unaligned',
    names: ['testMissingCancellationBarriers'],
    about: 'cancel markers without barriers',
  },
  {
    of: UNALIGNED,
    in: 'unaligned',
    names: ['testProcessCancellationBarrierBeforeProcessAndReceiveBarrier'],
    about: 'a cancel marker ahead of its barrier',
  },
  {
    of: UNALIGNED,
    in: 'unaligned',
    names: ['testTriggerCheckpointsWithEndOfPartition'],
    about: 'inputs end while others are persisted',
  },
  {
    of: UNALIGNED,
    in: 'unaligned',
    names: ['testStartAlignmentWithClosedChannels'],
    about: 'closed inputs have nothing in flight',
  },

  // Aligned with timeout
  { of: ALTERNATING, names: ['testTimeoutAlignmentBeforeFirstBarrier'], about: 'too late before it began' },
  { of: ALTERNATING, names: ['testAlignedAfterTimedOut'], about: 'the next one starts aligned again' },
  {
    of: ALTERNATING,
    names: ['testTimeoutAlignmentOnUnalignedCheckpoint'],
    about: 'an overtaking barrier meets an alignment',
  },
  { of: ALTERNATING, names: ['testNoActiveTimeoutAlignmentAfterClose'], about: 'a timer that fires for nobody' },
  { of: ALTERNATING, names: ['testAlternation'], about: 'checkpoints and savepoints in turn on many inputs' },

  // A subtask
  {
    of: SUBTASK,
    names: ['testNotifyCheckpointAbortedBeforeAsyncPhase'],
    about: 'given up before anything is captured',
  },
  {
    of: SUBTASK,
    names: ['testNotifyCheckpointComplete'],
    about: 'local copies hear of a completion also when the subtask does not run',
    without: 'state is restored from the checkpoint storage, there are no local copies of it',
  },
  {
    of: SUBTASK,
    names: ['testForceAlignedCheckpointResultingInPriorityEvents'],
    about: 'behind an edge that stays aligned barriers may overtake again',
  },
  {
    of: 'RegularOperatorChain',
    title: 'opens, captures, notifies and closes from tail to head; prepares and finishes from head to tail',
    about: 'the order within a stage',
  },

  // Restarts
  { of: RESTART, names: ['testFailuresExceedingRate'], about: 'the failure that is one too many within the interval' },
  { of: RESTART, names: ['testBackoffMultiplier'], about: 'delays that grow' },
  { of: RESTART, names: ['testJitter', 'testJitterNoHigherThanMax'], about: 'delays that vary, within their bounds' },
  {
    of: RESTART,
    title: 'takes a failure before the planned restart as part of the one that planned it',
    about: 'a second failure before the restart',
  },
  {
    of: RESTART,
    names: [
      'testRestartingSuppressedFailureHandlingResult',
      'testNonRecoverableFailureHandlingResult',
      'testUnrecoverableErrorCheck',
      'testGlobalFailureHandling',
    ],
    about: 'what is restarted, and what is not',
  },

  // State
  { of: SHARED, names: ['testRegistryNormal'], about: 'shared files go with their last user' },
  {
    of: SHARED,
    names: ['testRegisterChangelogStateBackendHandles'],
    about: 'shared files of a range of checkpoints',
  },
  {
    of: SHARED,
    names: ['testUnregisterInitialCheckpoint', 'testUnregisterNonInitialCheckpoint'],
    about: 'shared files of a retained checkpoint',
  },
  { of: ASSIGNMENT, names: ['testRepartitionSplitDistributeState'], about: 'list state is dealt out' },
  {
    of: ASSIGNMENT,
    names: [
      'testRepartitionBroadcastState',
      'testRepartitionBroadcastStateWithNullSubtaskState',
      'testRepartitionBroadcastStateWithEmptySubtaskState',
    ],
    about: 'each subtask gets one copy',
  },
  {
    of: ASSIGNMENT,
    names: ['testCreateKeyGroupPartitions'],
    about: 'a key group belongs to the subtask that its records go to',
  },

  // Two-phase commit
  {
    of: TWO_PHASE,
    names: ['testNotifyOfCompletedCheckpoint'],
    about: 'a completion commits what is covered and no more',
  },
  { of: TWO_PHASE, names: ['testFailBeforeNotify'], about: 'what was prepared is committed after a restore' },
  {
    of: TWO_PHASE,
    names: ['testLogTimeoutAlmostReachedWarningDuringCommit', 'testLogTimeoutAlmostReachedWarningDuringRecovery'],
    about: 'transactions that are about to expire',
    without: 'no sink here has transactions that expire',
  },
  { of: TWO_PHASE, title: 'go on after one that failed', about: 'one commit of several fails' },

  // Loops
  {
    of: PAPER,
    title: 'is restored by taking the logged records before anything of the regular input',
    about: 'records of a loop are replayed before any other',
  },
];
