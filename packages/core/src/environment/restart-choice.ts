import { RestartStrategyRole } from '../contracts/roles.js';
import type { RestartStrategy } from '../contracts/restart-strategy.js';
import type { Configuration } from './configuration.js';
import type { JobContainer } from './container.js';
import { exponentialDelayRestart } from './exponential-delay-restart.js';
import { installPlugins } from './install-plugins.js';
import { noRestart } from './none-restart.js';
import { ambiguousPlugin, missingPlugin } from './plugin-errors.js';
import { selectCandidate, type Candidate, type Selection } from './select-candidate.js';
import { typeName } from './type-names.js';

export interface RestartWishes {
  /** restart-strategy.type of the configuration. */
  readonly configured: string | undefined;
  readonly isCheckpointing: boolean;
}

const ROLE = RestartStrategyRole.name;

/**
 * Which restart strategy a job has: its own; else, and for `fallback`, what configuration and plugins of the environment say; else
 * exponential delay with checkpointing and none without (Flink: RestartBackoffTimeStrategyFactoryLoader).
 */
export function chooseRestart<C extends Candidate>(
  candidates: readonly C[],
  { configured, isCheckpointing }: RestartWishes,
): Selection<C> {
  const eligible = candidates.filter(({ type }) => typeName(ROLE, type) !== 'fallback');
  const choice = configured === undefined || typeName(ROLE, configured) === 'fallback' ? undefined : configured;
  const isSet = choice !== undefined || eligible.some(({ level }) => level !== 'built-in');
  return selectCandidate(ROLE, eligible, isSet ? choice : isCheckpointing ? 'exponential-delay' : 'none');
}

/** The restart strategy of a job whose plugins are installed. Fails with PLUGIN_MISSING or PLUGIN_AMBIGUOUS. */
export function restartStrategyOf(
  container: JobContainer,
  configuration: Configuration,
  isCheckpointing: boolean,
): RestartStrategy {
  installPlugins(container, [noRestart(), exponentialDelayRestart()], configuration, 'built-in');
  const configured = configuration.get('restart-strategy.type');
  const candidates = container.candidates(RestartStrategyRole);
  const selection = chooseRestart(candidates, { configured, isCheckpointing });
  switch (selection.kind) {
    case 'one':
      return container.getCandidate(RestartStrategyRole, selection.candidate);
    case 'several':
      throw ambiguousPlugin(ROLE, selection.candidates, configured);
    case 'none':
    case 'not-installed':
      throw missingPlugin([{ role: ROLE, choice: configured, installed: candidates.map(({ type }) => type) }]);
    default:
      return selection satisfies never;
  }
}
