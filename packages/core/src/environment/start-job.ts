import type { CheckpointCoordinator, RestoreFrom } from '../contracts/coordinator.js';
import type { JobEvent, JobEventBody, JobStatus } from '../contracts/job-events.js';
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
import { messageOf, WeirError } from '../errors.js';
import { describePlan, planOf, withMaxParallelism, type Plan } from '../graph/plan.js';
import type { LogicalGraph } from '../graph/stream-node.js';
import { Attempt } from '../host/attempt.js';
import { JobRun } from '../host/job-run.js';
import {
  deprecations,
  resolveCheckpointSettings,
  type CheckpointingCall,
  type CheckpointingOfJob,
  type RecoveryOptions,
} from './checkpoint-settings.js';
import { readConfiguration, type Configuration } from './configuration.js';
import { JobContainer } from './container.js';
import type { HostServices } from './host-services.js';
import { checkGuarantees } from './guarantees.js';
import { checkLoops } from './loops.js';
import { flattenPlugins, installPlugins, keysOfPlugins, type PluginList } from './install-plugins.js';
import { RunningJob, type JobEnd, type JobHandle } from './job-handle.js';
import { countRead, endLocalCopies, localCopiesOf } from './local-copies-of.js';
import { loadPlugins, packagesToLoad, type LoadPackage } from './load-plugins.js';
import { restartStrategyOf } from './restart-choice.js';
import { choicesIn } from './role-choices.js';
import type { ConfigSource } from './flatten-config.js';
import { compileStateSchema } from './state-schema.js';
import { SUPPORTED_KEYS } from './supported-keys.js';

const CANCELLATION_TIMEOUT = 'task.cancellation.timeout';
import { tellingTheEnd } from './telling-the-end.js';

export interface StartJobOptions {
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
  readonly cancellationTimeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly host: HostServices;
}

/** Checks everything that can be checked before anything runs, then runs the job in a container of its own. */
export async function startJob(options: StartJobOptions): Promise<JobHandle> {
  const { name, graph, host, signal } = options;
  signal?.throwIfAborted();
  if (typeof (name as unknown) !== 'string' || name === '')
    throw new WeirError('CONFIG_INVALID', 'A job needs a name: it is what its checkpoints are found by.', {
      recoverable: false,
    });

  const given = flattenPlugins(options.plugins);
  const plugins = [...given, ...(await loadPlugins(packagesToLoad(options.config, given), options.load))];
  const configuration = readConfiguration(options.config, keysOfPlugins(plugins));
  const plan = planOf(graph, {
    parallelism:
      options.parallelism ?? configuration.get('parallelism.default') ?? SUPPORTED_KEYS['parallelism.default'].default,
    maxParallelism: options.maxParallelism ?? configuration.get('pipeline.max-parallelism'),
  });
  const settings = resolveCheckpointSettings(options.checkpointing, configuration, options.recovery);
  const restoreFrom = options.restoreFrom ?? configuredRestore(configuration);
  if (settings === undefined) refuseToRestore(name, restoreFrom);
  const notices = [
    ...configuration.notices,
    ...deprecations(options.checkpointing, configuration),
    ...checkGuarantees(graph, settings),
    ...checkLoops(name, graph, settings),
    ...uidNotices(plan, settings),
  ];

  const container = new JobContainer(choicesIn(configuration));
  container.supply(ClockRole, host.clock);
  container.supply(RandomRole, host.random);
  container.supply(LoggerRole, host.logger);
  container.supply(MetricsRole, host.metrics);
  try {
    installPlugins(container, plugins, configuration);
    installPlugins(container, flattenPlugins(options.jobPlugins), configuration, 'job');
    requireServices(container, plan, settings);
    return run(options, { plan, settings, restoreFrom, notices, container, configuration });
  } catch (error) {
    await disposeAfter(container, host.logger);
    throw error;
  }
}

interface Prepared {
  readonly plan: Plan;
  readonly settings: CheckpointingOfJob | undefined;
  readonly restoreFrom: RestoreFrom;
  readonly notices: readonly string[];
  readonly container: JobContainer;
  readonly configuration: Configuration;
}

function run(options: StartJobOptions, prepared: Prepared): JobHandle {
  const { plan, settings, restoreFrom, notices, container, configuration } = prepared;
  const { name, host, signal } = options;
  const { clock, random, metrics, newId } = host;
  const logger = host.logger.child({ job: name });
  const cancel = new AbortController();
  let keep = false;
  const events: { emit?: (event: JobEvent) => void; setStatus?: (status: JobStatus) => void } = {};
  const emit = (body: JobEventBody): void => {
    say(body, logger);
    events.emit?.({ ...body, at: clock.now() });
  };

  const coordinator = makeCoordinator((attempt, error) => {
    jobRun.failAttempt(attempt, error);
  });
  const cancellationTimeoutMs =
    options.cancellationTimeoutMs ??
    configuration.get(CANCELLATION_TIMEOUT) ??
    SUPPORTED_KEYS[CANCELLATION_TIMEOUT].default;
  const localCopies = localCopiesOf(name, settings, host, (message) => {
    emit({ kind: 'warning', message });
  });
  const jobRun = new JobRun({
    job: name,
    coordinator,
    restart: restartStrategyOf(container, configuration, settings !== undefined),
    restoreFrom,
    cancellationTimeoutMs,
    clock,
    random,
    newId,
    logger,
    emit,
    onStatus: (status) => events.setStatus?.(status),
    cancel: cancel.signal,
    keepOnCancel: () => keep,
    makeAttempt: ({ attempt, lineage, restore }) =>
      new Attempt({
        job: name,
        plan: restore?.maxParallelism === undefined ? plan : withMaxParallelism(plan, restore.maxParallelism),
        attempt,
        lineage,
        restore,
        checkpointing: settings !== undefined,
        mode: settings?.mode === 'at-least-once' ? 'counting' : 'aligned',
        logLoops: settings?.iterations !== 'force',
        checkpointsAfterFinish: settings?.checkpointsAfterFinish,
        localCopies,
        onRead: (bytes) => {
          if (restore !== undefined)
            emit({ kind: 'state-read', checkpointId: restore.checkpointId, attempt, ...bytes });
          countRead(metrics, name, bytes);
        },
        stateBackend: () => container.get(StateBackendRole),
        compileSchema: compileStateSchema,
        temporaryFiles: host.temporaryFiles(configuration.get('io.tmp.dirs')),
        clock,
        random,
        logger: logger.child({ attempt }),
        metrics,
        verify: async () => coordinator?.verify(attempt),
        requestCheckpoint: coordinator === undefined ? undefined : () => coordinator.triggerCheckpoint(),
        report: (report) => coordinator?.receive(report),
        onFinished: (subtask) => {
          emit({ kind: 'subtask-finished', attempt, subtask });
        },
      }),
  });

  const end = (keepState: boolean): void => {
    if (cancel.signal.aborted) return;
    keep = keepState;
    cancel.abort(new WeirError('JOB_CANCELLED', `Job ${name} was cancelled.`, { recoverable: false }));
  };
  const onSignal = (): void => {
    end(true);
  };
  signal?.addEventListener('abort', onSignal, { once: true });
  // Plugins may have taken their time to load, and nobody tells what has happened before.
  if (signal?.aborted === true) onSignal();
  return new RunningJob({
    name,
    now: () => clock.now(),
    coordinator,
    cancel: end,
    stop: (stopOptions) => jobRun.stopWithSavepoint(stopOptions),
    events,
    run: () =>
      tellingTheEnd(options.graph, name, logger, async () => {
        // The caller gets the handle before anything happens, so that it can subscribe.
        await Promise.resolve();
        for (const message of notices) emit({ kind: 'warning', message });
        const within = { clock, logger, timeoutMs: cancellationTimeoutMs };
        let end: JobEnd;
        try {
          end = await jobRun.run();
          await endLocalCopies(localCopies, end === 'finished' || (end === 'cancelled' && !keep), within);
        } catch (error) {
          await endLocalCopies(localCopies, false, within);
          await disposeAfter(container, logger);
          throw error;
        } finally {
          signal?.removeEventListener('abort', onSignal);
        }
        await container[Symbol.asyncDispose]();
        return end;
      }),
  });

  function makeCoordinator(failAttempt: (attempt: number, error: unknown) => void): CheckpointCoordinator | undefined {
    if (settings === undefined) return undefined;
    return container.get(CoordinatorRole).create({
      job: name,
      plan: describePlan(plan),
      settings,
      storage: container.get(CheckpointStorageRole),
      clock,
      random,
      newId,
      logger,
      metrics,
      emit,
      failAttempt,
    });
  }
}

/** After a failure, which is what the caller must hear of: that services could not be closed either is for the log. */
async function disposeAfter(container: JobContainer, logger: HostServices['logger']): Promise<void> {
  try {
    await container[Symbol.asyncDispose]();
  } catch (error) {
    logger.error({ err: error }, 'closing the services of a job that failed has failed too');
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

/** The events that somebody who only reads the log must know. */
function say(event: JobEventBody, logger: HostServices['logger']): void {
  switch (event.kind) {
    case 'restored':
      logger.warn(
        { checkpoint: event.checkpointId, pointer: event.pointer },
        `resuming from checkpoint ${String(event.checkpointId)}`,
      );
      return;
    case 'fresh-start':
      logger.info({}, `starting afresh: ${event.reason}`);
      return;
    case 'warning':
      logger.warn({}, event.message);
      return;
    case 'checkpoint-aborted':
      logger.warn({ checkpoint: event.checkpointId, reason: event.reason }, `checkpoint aborted: ${event.message}`);
      return;
    case 'failure':
      logger.error({ attempt: event.attempt, err: event.error }, `the job failed: ${messageOf(event.error)}`);
      return;
    default:
      logger.debug(event, event.kind);
  }
}
