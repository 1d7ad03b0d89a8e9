import { CheckpointStorageRole, CoordinatorRole, RestartStrategyRole, StateBackendRole } from '../contracts/roles.js';
import { WeirError } from '../errors.js';
import { CHOOSING_KEYS } from './role-choices.js';
import type { Candidate } from './select-candidate.js';

interface Missing {
  readonly role: string;
  /** What the configuration wants. */
  readonly choice?: string | undefined;
  /** Types that are there. */
  readonly installed?: readonly string[];
  /** Who asked, if it was another service. */
  readonly neededBy?: string | undefined;
}

/** What each role is for, and what to install to fill it. */
const ROLES: ReadonlyMap<string, { readonly need: string; readonly install: readonly string[] }> = new Map([
  [
    CoordinatorRole.name,
    {
      need: 'enableCheckpointing needs a coordinator',
      install: ['npm i @weir/coordinator, then plugins: [checkpointCoordinator()]'],
    },
  ],
  [
    CheckpointStorageRole.name,
    {
      need: 'enableCheckpointing needs a checkpoint storage',
      install: [
        "npm i @weir/backend-fs, then plugins: [fsBackend({ checkpointsDir: './state' })]",
        'npm i @weir/backend-memory, then plugins: [memoryBackend()], which lasts as long as the process',
      ],
    },
  ],
  [
    StateBackendRole.name,
    {
      need: 'keyed state needs a state backend',
      install: [
        'npm i @weir/backend-memory, then plugins: [memoryBackend()]',
        "npm i @weir/backend-fs, then plugins: [fsBackend({ checkpointsDir: './state' })]",
      ],
    },
  ],
  [
    RestartStrategyRole.name,
    {
      need: 'the restart strategy is not there',
      install: [
        'npm i @weir/restart-strategies, then plugins: [fixedDelayRestart({ attempts: 3 })] or another of its strategies',
      ],
    },
  ],
]);

/** PLUGIN_MISSING, saying what to install for each role that nothing fills. */
export function missingPlugin(missing: readonly Missing[]): WeirError {
  return new WeirError('PLUGIN_MISSING', missing.map(describe).join('; '), { recoverable: false });
}

function describe({ role, choice, installed = [], neededBy }: Missing): string {
  const known = ROLES.get(role);
  const asked = neededBy === undefined ? '' : ` (${neededBy} asks for it)`;
  const install = known === undefined ? 'add a plugin that provides it' : known.install.join(', or ');
  if (choice === undefined) return `${known?.need ?? `nothing provides ${role}`}${asked}: ${install}`;
  return `${CHOOSING_KEYS.get(role) ?? role} is ${choice}, but what is installed is ${installed.join(', ') || 'nothing'}${asked}: ${install}`;
}

/** PLUGIN_AMBIGUOUS, listing who provides the role. */
export function ambiguousPlugin(role: string, candidates: readonly Candidate[], choice: string | undefined): WeirError {
  const list = candidates.map(({ type, plugin }) => `${type} (${plugin})`).join(', ');
  const key = CHOOSING_KEYS.get(role);
  const message =
    key !== undefined && choice !== undefined
      ? `${key} is ${choice}, which fits several plugins: ${list}. Keep one of them.`
      : `several plugins provide ${role}: ${list}. Keep one of them${key === undefined ? '' : `, or set ${key}`}.`;
  return new WeirError('PLUGIN_AMBIGUOUS', message, { recoverable: false });
}
