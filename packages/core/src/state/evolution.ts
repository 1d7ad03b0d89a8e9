import type { Serializer } from '../contracts/serializer.js';
import { WeirError } from '../errors.js';
import { checkedSerializer } from './checked-serializer.js';
import { looksVersioned } from './value-version.js';

/** A JSON Schema, of which draft 07 is understood. */
export type StateSchema = Readonly<Record<string, unknown>> | boolean;

/**
 * From one version of a state's values to the next. What it gets is of a type that the program has left behind: annotate it. Synchronous, and
 * gives the same for the same value.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the compiler cannot know what an older program stored
export type MigrationStep = (value: any) => unknown;

/** How a state has changed from program to program. A list and a map mean their elements and values, a folded state what it has accumulated. */
export interface EvolutionOptions {
  /** Of what the values look like, stored with them. A whole number; default 1, which is also what is stored without one. */
  readonly version?: number | undefined;
  /** By the version that it takes values of: the step to the next one. Values are led through all steps when they are restored. */
  readonly migrate?: Readonly<Record<number, MigrationStep>> | undefined;
  /** What every value restored from a checkpoint must look like after all steps, else STATE_SCHEMA_VIOLATED. Not looked at while a job runs. */
  readonly schema?: StateSchema | undefined;
  /** What the state was called in older checkpoints, by one name or several. */
  readonly renamedFrom?: string | readonly string[] | undefined;
}

export interface Evolution {
  readonly version: number;
  readonly migrate: Readonly<Record<number, MigrationStep>>;
  readonly schema: StateSchema | undefined;
  readonly renamedFrom: readonly string[];
}

/** The options of a descriptor with their defaults; CONFIG_INVALID for what makes no sense. */
export function evolutionOf(options: EvolutionOptions, serializer: Serializer): Evolution {
  const { id } = checkedSerializer(serializer, 'a state');
  if (looksVersioned(id))
    throw invalid(`serializer '${id}' cannot have an id that ends like a version. Give it another id.`);
  const { version = 1, migrate = {}, schema, renamedFrom = [] } = options;
  if (!Number.isSafeInteger(version) || version < 1)
    throw invalid(`the version of a state must be a whole number from 1, not ${String(version)}.`);
  for (const step of Object.keys(migrate)) {
    const from = Number(step);
    if (Number.isSafeInteger(from) && from >= 1 && from < version) continue;
    throw invalid(
      `a state of version ${String(version)} has a migration from '${step}', which leads nowhere. Raise the version with each step.`,
    );
  }
  return { version, migrate, schema, renamedFrom: typeof renamedFrom === 'string' ? [renamedFrom] : renamedFrom };
}

function invalid(what: string): WeirError {
  return new WeirError('CONFIG_INVALID', what.charAt(0).toUpperCase() + what.slice(1), { recoverable: false });
}
