import { betweenParts } from '../contracts/clock.js';
import type { RestoreFrom } from '../contracts/coordinator.js';
import {
  CheckpointStorageRole,
  ClockRole,
  CoordinatorRole,
  LoggerRole,
  MetricsRole,
  RandomRole,
  StateBackendRole,
} from '../contracts/roles.js';
import type { JobName } from '../element/ids.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import { planning, type Plan, type PlanOptions } from '../graph/plan.js';
import type { LogicalGraph } from '../graph/stream-node.js';
import {
  deprecations,
  resolveCheckpointSettings,
  type CheckpointingCall,
  type CheckpointingOfJob,
  type RecoveryOptions,
} from './checkpoint-settings.js';
import { readConfiguration, type Configuration } from './configuration.js';
import { JobContainer } from './container.js';
import { disposeAfter } from './dispose-after.js';
import type { ConfigSource } from './flatten-config.js';
import { checkGuarantees } from './guarantees.js';
import type { HostServices } from './host-services.js';
import { flattenPlugins, installPlugins, keysOfPlugins, type PluginList } from './install-plugins.js';
import { loadPlugins, packagesToLoad, type LoadPackage } from './load-plugins.js';
import { checkLoops } from './loops.js';
import { choicesIn } from './role-choices.js';
import { SUPPORTED_KEYS } from './supported-keys.js';
import { withoutEffect } from './without-effect.js';

/** What was described, and what it is to run with. */
export interface JobDescription {
  readonly name: JobName;
  readonly graph: LogicalGraph;
  readonly plugins: PluginList;
  /** The job's own, which beat the environment's. */
  readonly jobPlugins: PluginList;
  readonly config: ConfigSource;
  readonly load: LoadPackage | undefined;
  readonly parallelism: number | undefined;
  readonly maxParallelism: number | undefined;
  readonly checkpointing: CheckpointingCall | undefined;
  readonly restoreFrom: RestoreFrom | undefined;
  readonly recovery: RecoveryOptions;
  readonly host: HostServices;
}

export interface PreparedJob {
  readonly plan: Plan;
  readonly settings: CheckpointingOfJob | undefined;
  readonly restoreFrom: RestoreFrom;
  readonly notices: readonly string[];
  readonly container: JobContainer;
  readonly configuration: Configuration;
}

/** Checks everything that can be checked before anything runs. What it gives is the caller's to dispose of. */
export async function prepareJob(options: JobDescription): Promise<PreparedJob> {
  const { name, graph, host } = options;
  const pause = (): Promise<void> | undefined => betweenParts(host.clock, graph.nodes.length);
  if (typeof (name as unknown) !== 'string' || name === '' || !isWellFormed(name))
    throw new WeirError(
      'CONFIG_INVALID',
      'A job needs a name of valid Unicode that is not empty: it is what its checkpoints are found by.',
      { recoverable: false },
    );

  const given = flattenPlugins(options.plugins);
  const plugins = [...given, ...(await loadPlugins(packagesToLoad(options.config, given), options.load))];
  const configuration = readConfiguration(options.config, keysOfPlugins(plugins));
  const plan = await planInSteps(options, {
    parallelism:
      options.parallelism ?? configuration.get('parallelism.default') ?? SUPPORTED_KEYS['parallelism.default'].default,
    maxParallelism: options.maxParallelism ?? configuration.get('pipeline.max-parallelism'),
  });
  await pause();
  const settings = resolveCheckpointSettings(options.checkpointing, configuration, options.recovery);
  const restoreFrom = options.restoreFrom ?? configuredRestore(configuration);
  if (settings === undefined) refuseToRestore(name, restoreFrom);
  const notices = [
    ...configuration.notices,
    ...deprecations(options.checkpointing, configuration),
    ...withoutEffect({ call: options.checkpointing, configuration, recovery: options.recovery }, settings),
    ...checkGuarantees(graph, settings),
  ];
  await pause();
  notices.push(...checkLoops(name, graph, settings), ...uidNotices(plan, settings));
  await pause();

  const container = new JobContainer(choicesIn(configuration));
  container.supply(ClockRole, host.clock);
  container.supply(RandomRole, host.random);
  container.supply(LoggerRole, host.logger);
  container.supply(MetricsRole, host.metrics);
  try {
    installPlugins(container, plugins, configuration);
    installPlugins(container, flattenPlugins(options.jobPlugins), configuration, 'job');
    requireServices(container, plan, settings);
    await pause();
    return { plan, settings, restoreFrom, notices, container, configuration };
  } catch (error) {
    await disposeAfter(container, host.logger);
    throw error;
  }
}

async function planInSteps(job: JobDescription, options: PlanOptions): Promise<Plan> {
  const steps = planning(job.graph, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await betweenParts(job.host.clock, job.graph.nodes.length);
  }
}

function requireServices(container: JobContainer, plan: Plan, settings: CheckpointingOfJob | undefined): void {
  const roles = settings === undefined ? [] : [CoordinatorRole, CheckpointStorageRole];
  const hasKeyedState = plan.stages.some(({ operators }) =>
    // What the head of a loop keeps in checkpoints is no keyed state.
    operators.some(({ node }) => node.kind === 'operator' && node.spec.isStateful && node.loop === undefined),
  );
  container.require(...roles, ...(hasKeyedState ? [StateBackendRole] : []));
}

function uidNotices({ derivedUids }: Plan, settings: CheckpointingOfJob | undefined): readonly string[] {
  if (settings === undefined || derivedUids.length === 0) return [];
  return [
    `Operators without uid find their state by their place in the program, which a change of the program moves: ${derivedUids.join(', ')}. Set uid on each.`,
  ];
}

/** Starting from the beginning instead would repeat output without a word. */
function refuseToRestore(job: JobName, restoreFrom: RestoreFrom): void {
  if (restoreFrom === 'auto' || restoreFrom === 'none') return;
  throw new WeirError(
    'CONFIG_CONTRADICTION',
    `Job ${job} is to start from a checkpoint, but checkpointing is off: call env.enableCheckpointing(...), or leave restoreFrom and execution.state-recovery.path out.`,
    { recoverable: false },
  );
}

function configuredRestore(configuration: Configuration): RestoreFrom {
  const path = configuration.get('execution.state-recovery.path');
  return path === undefined ? 'auto' : { path };
}
