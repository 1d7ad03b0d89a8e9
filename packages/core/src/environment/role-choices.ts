import { CheckpointStorageRole, RestartStrategyRole, StateBackendRole } from '../contracts/roles.js';
import type { SettingName } from './config-keys.js';
import type { Configuration } from './configuration.js';

/** Which key of the configuration chooses among the candidates for a role. */
export const CHOOSING_KEYS: ReadonlyMap<string, SettingName> = new Map<string, SettingName>([
  [StateBackendRole.name, 'state.backend.type'],
  [CheckpointStorageRole.name, 'execution.checkpointing.storage'],
  [RestartStrategyRole.name, 'restart-strategy.type'],
]);

/** Type or package that the configuration wants for each role it speaks of. */
export function choicesIn(configuration: Configuration): ReadonlyMap<string, string> {
  const choices = new Map<string, string>();
  for (const [role, key] of CHOOSING_KEYS) {
    const value = configuration.get(key);
    if (typeof value === 'string') choices.set(role, value);
  }
  return choices;
}
