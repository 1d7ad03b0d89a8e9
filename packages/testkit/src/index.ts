export { readerContext, sinkContext, sourceContext } from './contexts.js';
export { checkpointStorageSuite } from './checkpoint-storage-suite/checkpoint-storage-suite.js';
export type {
  CheckpointStorageFixture,
  CheckpointStorageSuiteOptions,
  Damage,
} from './checkpoint-storage-suite/fixture.js';
export { delegating } from '@weir/core/contracts';
export { CrashFileSystem } from './crash-file-system/crash-file-system.js';
export type { CrashFileSystemOptions } from './crash-file-system/crash-file-system.js';
export { NAMES_WITHOUT_BYTES, ZEROED_BYTES, tornBy } from './crash-file-system/crash-outcome.js';
export type { CrashOutcome } from './crash-file-system/crash-outcome.js';
export type { FailureOptions, Hold } from './crash-file-system/faults.js';
export { FileError } from './crash-file-system/file-error.js';
export type { Operation, OperationName, OperationPattern } from './crash-file-system/operation.js';
export { crash } from './crash-script/crash.js';
export type { Crash } from './crash-script/crash.js';
export { runOperator } from './crash-script/run-operator.js';
export type { RunOperatorOptions } from './crash-script/run-operator.js';
export { elapse, watermark } from './crash-script/time-marks.js';
export type { TimeMark } from './crash-script/time-marks.js';
export { assertExactlyOnce } from './exactly-once.js';
export { faultyStorage } from './faulty-storage/faulty-storage.js';
export type { FaultyStorage } from './faulty-storage/faulty-storage.js';
export type { Misfortune, StorageFault, StorageOperation } from './faulty-storage/fault.js';
export { fileSystemSuite } from './file-system-suite/file-system-suite.js';
export type { FileSystemFixture } from './file-system-suite/checks.js';
export type { FileSystemSuiteOptions } from './file-system-suite/file-system-suite.js';
export { failOnce } from './job-parts/fail-once.js';
export { gate } from './job-parts/gate.js';
export type { Gate } from './job-parts/gate.js';
export { ledger } from './job-parts/ledger.js';
export type { Ledger, LedgerEntry } from './job-parts/ledger.js';
export { numbers } from './job-parts/numbers.js';
export type { NumbersOptions } from './job-parts/numbers.js';
export { transactionalMemorySink } from './job-parts/transactional-memory-sink.js';
export type { TransactionalMemorySink, TransactionStep } from './job-parts/transactional-memory-sink.js';
export { checkOperator } from './operator-harness/check-operator.js';
export type { CheckOperatorOptions } from './operator-harness/check-operator.js';
export {
  createReferenceStateBackend,
  referenceStateBackend,
} from './reference-state-backend/reference-state-backend.js';
export { FAULT_CLASSES } from './simulator/fault-classes.js';
export type { FaultClass, FaultCounts } from './simulator/fault-classes.js';
export { randomJobs } from './simulator/random-job/random-job.js';
export type { Surroundings } from './simulator/random-job/random-job.js';
export { runSeed } from './simulator/run-seed.js';
export type { SeedReport } from './simulator/run-seed.js';
export { simulate } from './simulator/simulate.js';
export type { SimulateOptions, SimulationReport } from './simulator/simulate.js';
export type { MakeSimulatedJob, SimulatedJob, Simulation } from './simulator/simulated-job.js';
export type { Trace } from './simulator/trace.js';
export { restartStrategySuite } from './restart-strategy-suite.js';
export type { RestartStrategySuiteOptions } from './restart-strategy-suite.js';
export { seededRandom } from './seeded-random.js';
export { serializerSuite } from './serializer-suite.js';
export type { SerializerSuiteOptions } from './serializer-suite.js';
export { sinkSuite } from './sink-suite/sink-suite.js';
export type { BrokenLine, SinkFixture, SinkLine, SinkSuiteOptions } from './sink-suite/fixture.js';
export { sourceSuite } from './source-suite/source-suite.js';
export type { ArrivingRecords, SourceFixture, SourceOutside, SourceSuiteOptions } from './source-suite/fixture.js';
export { stateBackendSuite } from './state-backend-suite/state-backend-suite.js';
export type { StateBackendSuiteOptions } from './state-backend-suite/fixture.js';
export { runSuite } from './suite.js';
export type { SuiteReport, TestFunction } from './suite.js';
export { VirtualClock } from './virtual-clock.js';
