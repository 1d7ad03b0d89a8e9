// Operators on streams, state descriptors, and the base for operators of one's own. Loads neither ajv, pino nor typedi.
export { filter, flatMap, map, rx, tap } from './graph/operators/stateless.js';
export type { NotAsync, RecordOperator } from './graph/operators/stateless.js';
export { coProcess, groupBy, keyBy, keyedProcess, scan } from './graph/operators/keyed.js';
export type {
  CoProcessSpec,
  KeyByOptions,
  KeyedProcessSpec,
  NameTheOutput,
  ScanOptions,
} from './graph/operators/keyed.js';
export type { Seed } from './operator/seed.js';
export { withTimestamps } from './graph/operators/event-time.js';
export type { TimestampsOptions } from './graph/operators/event-time.js';
export type { Duration } from './time/duration.js';
export { subtaskProcess } from './graph/operators/subtask.js';
export type { SubtaskProcessSpec } from './graph/operators/subtask.js';
export { broadcast, rebalance, union } from './graph/operators/exchange.js';
export { iterate } from './graph/operators/iterate.js';
export type { IterateOptions } from './graph/operators/iterate.js';
export type { LoopBody } from './graph/describe.js';
export { transform } from './graph/describe.js';
export type {
  AtMost,
  EndToEnd,
  Guarantee,
  KeyedStream,
  OperatorOptions,
  SinkOptions,
  Stream,
  StreamOperator,
} from './graph/stream.js';
export { aggregatingState, listState, mapState, reducingState, valueState } from './state/descriptors.js';
export type {
  Aggregation,
  Handles,
  KeyedStateOptions,
  MadeOfValue,
  StateDescriptor,
  StateOptions,
  States,
} from './state/descriptors.js';
export { droppedState } from './state/dropped.js';
export type { DroppedState } from './state/dropped.js';
export type { Evolution, EvolutionOptions, MigrationStep, StateSchema } from './state/evolution.js';
export type { CompileSchema } from './state/schema-check.js';
export type { Declared, OperatorStateDeclaration } from './state/state-match.js';
export type { StateTtl } from './state/ttl.js';
export { broadcastState, operatorListState, unionListState } from './state/operator-state-descriptors.js';
export type {
  BroadcastState,
  OpenOperatorState,
  OperatorHandles,
  OperatorListState,
  OperatorStateDescriptor,
  OperatorStates,
} from './state/operator-state-descriptors.js';
export type { SubtaskContext } from './operator/subtask-process.js';
export type { Emit, KeyContext, Sync, TimerContext } from './operator/key-context.js';
export type { OpenClose, RuntimeContext } from './operator/keyed-handler.js';
export type { TimeDomain, Timers } from './time/timers.js';
export { BatchBuffer } from './operator/batch-buffer.js';
export type { Flow } from './operator/flow.js';
export { perBatch, perRecord } from './operator/per-batch.js';
export { KeyedState } from './operator/keyed-state.js';
export type { KeyedRestoreOptions } from './operator/keyed-state.js';
export type {
  CapturedCommittables,
  CapturedOperatorState,
  DeclaredStates,
  Operator,
  OperatorCapture,
  OperatorContext,
  OperatorEnd,
  OperatorSpec,
  RestoredState,
} from './operator/operator.js';
export type { AggregatingState, ListState, MapState, ReducingState, ValueState } from './contracts/state-backend.js';
export type { Key } from './element/key.js';
export type { KeyType } from './element/key-type.js';
