import type { CheckpointStorage } from './checkpoint-storage.js';
import type { Clock, Random } from './clock.js';
import type { CoordinatorFactory } from './coordinator.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { defineRole, type Role } from './plugin.js';
import type { RestartStrategy } from './restart-strategy.js';
import type { StateBackend } from './state-backend.js';

export const StateBackendRole: Role<StateBackend> = defineRole('weir.state-backend/1');
export const CheckpointStorageRole: Role<CheckpointStorage> = defineRole('weir.checkpoint-storage/1');
export const CoordinatorRole: Role<CoordinatorFactory> = defineRole('weir.checkpoint-coordinator/1');
export const RestartStrategyRole: Role<RestartStrategy> = defineRole('weir.restart-strategy/1');
/** Services of the host, always present. */
export const ClockRole: Role<Clock> = defineRole('weir.clock/1');
export const RandomRole: Role<Random> = defineRole('weir.random/1');
export const LoggerRole: Role<Logger> = defineRole('weir.logger/1');
export const MetricsRole: Role<Metrics> = defineRole('weir.metrics/1');
