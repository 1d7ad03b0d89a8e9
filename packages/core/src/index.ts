export { createEnvironment } from './environment/environment.js';
export type { CallTimeoutOptions } from './environment/call-timeouts.js';
export type {
  CheckSavepointOptions,
  Environment,
  EnvironmentOptions,
  StartOptions,
} from './environment/environment.js';
export { formatSavepointReport } from './environment/savepoint-report.js';
export type {
  OperatorReport,
  SavepointProblem,
  SavepointReport,
  SavepointVerdict,
  StateReport,
  StateReportKind,
} from './environment/savepoint-report.js';
export type { JobEnd, JobHandle, StopWithSavepointOptions } from './environment/job-handle.js';
export { isRecoverable, isWeirError, WeirError } from './errors.js';
export type { ErrorCode, ErrorRecord } from './errors.js';
export { defineRole } from './contracts/plugin.js';
export type { Binder, OptionsSchema, Plugin, PluginFactory, Role, Scope } from './contracts/plugin.js';
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
export type { AbortReason, CheckpointStats, JobEvent, JobStatus } from './contracts/job-events.js';
export type { CheckpointOptions } from './environment/checkpoint-settings.js';
export { definePlugin } from './environment/define-plugin.js';
export type { PluginSpec } from './environment/define-plugin.js';
export { parseDuration } from './environment/duration.js';
export type { Duration } from './environment/duration.js';
export { exponentialDelayRestart } from './environment/exponential-delay-restart.js';
export type { ExponentialDelayOptions } from './environment/exponential-delay.js';
export type { ConfigSource } from './environment/flatten-config.js';
export type { PluginList } from './environment/install-plugins.js';
export type { LoadPackage } from './environment/load-plugins.js';
export { parseMemorySize } from './environment/memory-size.js';
export type { MemorySize } from './environment/memory-size.js';
export { noRestart } from './environment/none-restart.js';
export { settingOf } from './environment/setting-of.js';
export type { SettingName } from './environment/config-keys.js';
