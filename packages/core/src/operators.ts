// Operators on streams, state descriptors, and the base for operators of one's own. Loads neither ajv, pino nor typedi.
export { filter, flatMap, map, rx, tap } from './graph/operators/stateless.js';
export type { NotAsync } from './graph/operators/stateless.js';
export { coProcess, keyBy, keyedProcess, scan } from './graph/operators/keyed.js';
export type { CoProcessSpec, KeyedProcessSpec, NameTheOutput, ScanOptions } from './graph/operators/keyed.js';
export { broadcast, rebalance, union } from './graph/operators/exchange.js';
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
export { listState, mapState, valueState } from './state/descriptors.js';
export type { Handles, StateDescriptor, StateOptions, States } from './state/descriptors.js';
export type { Emit, KeyContext, OpenClose, RuntimeContext, Sync } from './operator/keyed-handler.js';
export { BatchBuffer } from './operator/batch-buffer.js';
export type { Flow } from './operator/flow.js';
export { perBatch, perRecord } from './operator/per-batch.js';
export { KeyedState } from './operator/keyed-state.js';
export type {
  CapturedCommittables,
  CapturedOperatorState,
  Operator,
  OperatorCapture,
  OperatorContext,
  OperatorEnd,
  OperatorSpec,
  RestoredState,
} from './operator/operator.js';
export type { ListState, MapState, ValueState } from './contracts/state-backend.js';
export type { Key } from './element/key.js';
