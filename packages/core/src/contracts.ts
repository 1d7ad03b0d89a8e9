// The contracts between weir and its plugins, and the words they are made of.
export {
  ERROR_CODES,
  WeirError,
  causesOf,
  hasCode,
  isRecoverable,
  isWeirError,
  messageOf,
  propertyOf,
} from './errors.js';
export { CommitMarks } from './contracts/commit-marks.js';
export type { ErrorCode, ErrorRecord, WeirErrorOptions } from './errors.js';
export { classifyFailure, isIoFailure } from './failures.js';
export type { FailureClass } from './failures.js';
export { subtaskName } from './element/ids.js';
export type {
  AttemptNumber,
  CheckpointId,
  JobName,
  KeyGroup,
  Lineage,
  OperatorUid,
  StageId,
  SubtaskId,
} from './element/ids.js';
export {
  BATCH_SIZE,
  END_OF_CHANNEL,
  END_OF_DATA,
  FINAL_WATERMARK,
  barrier,
  batch,
  cancelMarker,
} from './element/element.js';
export type {
  Barrier,
  CancelMarker,
  ControlElement,
  EndOfChannel,
  EndOfData,
  IdleFlag,
  RecordBatch,
  SnapshotKind,
  StreamElement,
  Watermark,
} from './element/element.js';
export { ByteReader, ByteWriter } from './element/bytes.js';
export type { Key } from './element/key.js';
export type { KeyType } from './element/key-type.js';
export { assertKey } from './element/assert-key.js';
export { decodeKey, decodeKeyBlock, encodeKey, encodeKeyBlock, keyBytes } from './element/key-bytes.js';
export { ownKey } from './element/own-key.js';
export { ByteWriterPool, type ByteWriterPoolOptions } from './element/byte-writer-pool.js';
export { keyIdentity } from './element/key-identity.js';
export type { KeyIdentity } from './element/key-identity.js';
export { hashKey } from './element/key-hash.js';
export {
  DEFAULT_MAX_PARALLELISM,
  MAX_MAX_PARALLELISM,
  flinkMurmur,
  keyGroupOf,
  keyGroupRange,
  subtaskOfKeyGroup,
} from './element/key-group.js';
export { allOf, closeInTurn } from './contracts/all-of.js';
export type { Awaitable } from './contracts/awaitable.js';
export type {
  BlobWriter,
  CheckpointLocation,
  CheckpointStorage,
  JobStorage,
  StorageCapabilities,
  StorageLock,
  StorageScope,
  StoredCheckpoint,
} from './contracts/checkpoint-storage.js';
export { delegating } from './contracts/delegating.js';
export { untilAborted } from './contracts/until-aborted.js';
export { withinTime } from './contracts/within-time.js';
export { betweenParts, nextTurn, sleep } from './contracts/clock.js';
export type { Clock, Random } from './contracts/clock.js';
export type {
  Acknowledgement,
  AttemptGateway,
  AttemptStart,
  CheckpointCoordinator,
  CheckpointRecord,
  CheckpointSettings,
  CheckpointStatistics,
  ClaimMode,
  CoordinatorContext,
  CoordinatorFactory,
  Decline,
  ExaminedCheckpoint,
  OperatorDescription,
  PlanDescription,
  RestoreFrom,
  RestorePlan,
  RetentionPolicy,
  StageDescription,
  StartDecision,
  StopOptions,
  StopSavepoint,
  SubtaskReport,
} from './contracts/coordinator.js';
export type { DirectoryEntry, FileHandle, FileKind, FileStat, FileSystem } from './contracts/file-system.js';
export { GuardedObservable } from './contracts/guarded-observable.js';
export { makeDurableFolder, syncIfAllowed } from './contracts/make-durable-folder.js';
export type {
  AbortReason,
  CheckpointStats,
  CheckpointTrigger,
  JobEnding,
  JobEvent,
  JobEventBody,
  JobStatus,
} from './contracts/job-events.js';
export { SILENT } from './contracts/logger.js';
export type { Logger } from './contracts/logger.js';
export { NO_METRICS } from './contracts/metrics.js';
export type { Counter, Histogram, Labels, Metrics } from './contracts/metrics.js';
export type {
  CheckpointMetadata,
  EnumeratorState,
  OperatorMetadata,
  RestoredFrom,
  SubtaskState,
} from './contracts/metadata.js';
export { describeParts, isEmptySnapshot, permissionFor, storedParts } from './contracts/stored-parts.js';
export type { StoredPart, UnclaimedPermission } from './contracts/stored-parts.js';
export { defineRole } from './contracts/plugin.js';
export type { Binder, OptionsSchema, Plugin, PluginFactory, Role, Scope } from './contracts/plugin.js';
export type { FailureContext, RestartDecision, RestartStrategy } from './contracts/restart-strategy.js';
export {
  CheckpointStorageRole,
  ClockRole,
  CoordinatorRole,
  LoggerRole,
  MetricsRole,
  RandomRole,
  RestartStrategyRole,
  StateBackendRole,
} from './contracts/roles.js';
export type { Serializer, SerializerRef } from './contracts/serializer.js';
export type {
  CommitOutcome,
  Committer,
  Sink,
  CommitMark,
  SinkContext,
  SinkDestination,
  SinkGrade,
  SinkWriter,
  SinkWriterContext,
} from './contracts/sink.js';
export type {
  BlobHandle,
  BlobPart,
  CheckpointRef,
  Committable,
  CommittableIdentity,
  DestinationRef,
  ChannelStateHandle,
  CommittablesHandle,
  EdgeName,
  EnumeratorSnapshot,
  FileBlob,
  InlineBlob,
  KeyGroupRange,
  KeyedStateHandle,
  NativeFile,
  NativeStateHandle,
  OperatorRestore,
  OperatorSnapshot,
  OperatorStateHandle,
  OperatorStateMeta,
  OperatorStateMode,
  OperatorStateShare,
  RecordedKind,
  SectionsHandle,
  SharedBlob,
  StateKind,
  StateMeta,
  SubtaskSnapshot,
} from './contracts/snapshot.js';
export type {
  ReaderContext,
  Source,
  SourceContext,
  SourceGrade,
  SourceReader,
  SourceSplit,
  SplitEnumerator,
} from './contracts/source.js';
export type {
  AggregatingState,
  CaptureMode,
  CaptureRequest,
  IncrementalOutput,
  KeyedCapture,
  KeyedGroup,
  KeyedSection,
  KeyedStateOutput,
  KeyedStateStore,
  ListState,
  MapState,
  ReducingState,
  RestoredBase,
  Slice,
  StateBackend,
  StateBackendCapabilities,
  StateDeclaration,
  StateEntry,
  StateExpiry,
  StateHandle,
  StateScope,
  StoredBytes,
  ValueState,
  ValueStateHandle,
} from './contracts/state-backend.js';
export { WEIR_VERSION } from './contracts/version.js';
export { defaultSerializer } from './state/default-serializer.js';
export { v8Serializer } from './state/v8-serializer.js';
export { withErrorContext } from './state/with-error-context.js';
export { closedStore, noCurrentKey, ownedGroup, restoringSection, unknownState } from './state/store-rules.js';
export { readRows, writeListRow, writeMapRow, writeValueRow } from './state/rows.js';
export type { RowVisitor } from './state/rows.js';
export {
  readChanges,
  writeEntryRemoval,
  writeListChange,
  writeListGrowth,
  writeMapChange,
  writeRemoval,
  writeValueChange,
} from './state/changes.js';
export type { ChangeVisitor } from './state/changes.js';
export { localFileSystem } from './adapters/local-file-system.js';
export { KeyedSectionWriter } from './snapshot/keyed-section-writer.js';
export type { KeyedSectionsOptions } from './snapshot/keyed-section-writer.js';
export { readKeyedGroups } from './snapshot/keyed-section-reader.js';
export { blobsOfKeyed } from './snapshot/blobs-of-keyed.js';
export { decodeMetadata, encodeMetadata } from './snapshot/metadata.js';
export { decodeRecord, encodeRecord, isCount } from './snapshot/json-record.js';
export type { ReadRecord } from './snapshot/json-record.js';
export { decodeReference, encodeReference, identityOf, isSame, referenceTo } from './snapshot/savepoint-reference.js';
export type { CheckpointIdentity, SavepointReference } from './snapshot/savepoint-reference.js';
export { localPath } from './adapters/local-path.js';
export { systemClock } from './adapters/system-clock.js';
export { staticSplits } from './operator/static-splits.js';
export type { StaticSplitsOptions } from './operator/static-splits.js';
