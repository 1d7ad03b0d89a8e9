export { readerContext, sinkContext, sourceContext } from './contexts.js';
export { checkpointStorageSuite } from './checkpoint-storage-suite/checkpoint-storage-suite.js';
export type {
  CheckpointStorageFixture,
  CheckpointStorageSuiteOptions,
  Damage,
} from './checkpoint-storage-suite/fixture.js';
export { CrashFileSystem } from './crash-file-system/crash-file-system.js';
export type { CrashFileSystemOptions } from './crash-file-system/crash-file-system.js';
export { NAMES_WITHOUT_BYTES, ZEROED_BYTES, tornBy } from './crash-file-system/crash-outcome.js';
export type { CrashOutcome } from './crash-file-system/crash-outcome.js';
export type { FailureOptions, Hold } from './crash-file-system/faults.js';
export { FileError } from './crash-file-system/file-error.js';
export type { Operation, OperationName, OperationPattern } from './crash-file-system/operation.js';
export { fileSystemSuite } from './file-system-suite.js';
export type { FileSystemFixture, FileSystemSuiteOptions } from './file-system-suite.js';
export { restartStrategySuite } from './restart-strategy-suite.js';
export type { RestartStrategySuiteOptions } from './restart-strategy-suite.js';
export { seededRandom } from './seeded-random.js';
export { serializerSuite } from './serializer-suite.js';
export type { SerializerSuiteOptions } from './serializer-suite.js';
export { sinkSuite } from './sink-suite/sink-suite.js';
export type { SinkFixture, SinkSuiteOptions } from './sink-suite/fixture.js';
export { sourceSuite } from './source-suite/source-suite.js';
export type { SourceFixture, SourceSuiteOptions } from './source-suite/fixture.js';
export { runSuite } from './suite.js';
export type { SuiteReport, TestFunction } from './suite.js';
export { VirtualClock } from './virtual-clock.js';
