import { CheckpointStorageRole, RestartStrategyRole, StateBackendRole } from '../contracts/roles.js';

/** Flink's names, old and new, for what a plugin calls by weir's. */
const ALIASES: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  // Before 1.13 one name said where state is kept while it is worked on, and where it is stored.
  [StateBackendRole.name, { hashmap: 'memory', filesystem: 'memory', jobmanager: 'memory' }],
  [CheckpointStorageRole.name, { jobmanager: 'memory', filesystem: 'fs' }],
  [
    RestartStrategyRole.name,
    {
      disable: 'none',
      off: 'none',
      fixeddelay: 'fixed-delay',
      failurerate: 'failure-rate',
      exponentialdelay: 'exponential-delay',
    },
  ],
]);

/** The one spelling of a candidate's type, as plugins and configuration may both write it. */
export function typeName(roleName: string, type: string): string {
  const name = type.trim().toLowerCase();
  return ALIASES.get(roleName)?.[name] ?? name;
}
