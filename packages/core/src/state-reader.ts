// Checkpoints and savepoints as data: reading, exporting, comparing and making them, without the job.
export { openCheckpoint } from './reader/open-checkpoint.js';
export type { CheckpointReader, OpenCheckpointOptions } from './reader/open-checkpoint.js';
export type {
  OperatorReader,
  StoredCommittable,
  StoredInFlight,
  StoredList,
  StoredMapEntry,
  StoredOperatorValue,
  StoredTimer,
  StoredValue,
} from './reader/operator-reader.js';
export type { StateView } from './reader/state-view.js';
export type { OperatorStateSummary, OperatorSummary, StateSummary } from './reader/summary.js';
export { exportJsonLines, parseJsonLine } from './reader/json-lines.js';
export type { ExportedRow, ExportOptions } from './reader/json-lines.js';
export { fromJsonValue, toJsonValue } from './reader/json-value.js';
export type { JsonValue } from './reader/json-value.js';
export { compareCheckpoints } from './reader/compare-checkpoints.js';
export type { Comparison, ComparisonSummary, Difference, StateComparison } from './reader/compare-checkpoints.js';
export { writeSavepoint } from './reader/write-savepoint.js';
export type { WriteSavepointOptions, WrittenSavepoint } from './reader/write-savepoint.js';
export type { OperatorData, OperatorStateData, Rows, StateData } from './reader/savepoint-data.js';
export type { StateEntry } from './contracts/state-backend.js';
