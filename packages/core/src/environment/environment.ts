import { localFileSystem } from '../adapters/local-file-system.js';
import { defaultLocalCopies } from '../adapters/default-local-copies.js';
import { localTemporaryFiles } from '../adapters/local-temporary-files.js';
import { systemId, systemRandom } from '../adapters/system-chance.js';
import { processWarning } from '../adapters/process-warning.js';
import { systemClock } from '../adapters/system-clock.js';
import type { Clock, Random } from '../contracts/clock.js';
import type { ClaimMode } from '../contracts/coordinator.js';
import type { Logger } from '../contracts/logger.js';
import { NO_METRICS, type Metrics } from '../contracts/metrics.js';
import type { Plugin } from '../contracts/plugin.js';
import type { Source, SourceGrade, SourceSplit } from '../contracts/source.js';
import type { CheckpointId } from '../element/ids.js';
import { propertyOf, WeirError } from '../errors.js';
import { sourceStream } from '../graph/describe.js';
import type { OperatorOptions, Stream } from '../graph/stream.js';
import type { LogicalGraph } from '../graph/stream-node.js';
import { parseCallTimeouts, type CallTimeoutOptions } from './call-timeouts.js';
import type { CheckpointOptions, CheckpointingCall, RecoveryOptions } from './checkpoint-settings.js';
import { checkSavepoint } from './check-savepoint.js';
import { parseDuration, type Duration } from './duration.js';
import type { ConfigSource } from './flatten-config.js';
import { guardedLogger } from './guarded-logger.js';
import { guardedMetrics } from './guarded-metrics.js';
import type { HostServices } from './host-services.js';
import type { PluginList } from './install-plugins.js';
import type { JobEnd, JobHandle } from './job-handle.js';
import type { LoadPackage } from './load-plugins.js';
import { defaultLogger } from './logging.js';
import { observerFailures } from './observer-failures.js';
import type { JobDescription } from './prepare-job.js';
import type { SavepointReport } from './savepoint-report.js';
import { inspectShort } from './inspect-short.js';
import { startJob } from './start-job.js';

export interface EnvironmentOptions {
  /** State backend, checkpoint storage, coordinator, restart strategies, ...; arrays may be nested. */
  readonly plugins?: PluginList | undefined;
  /** Settings by their names in Flink, flat or nested; what code says wins. See docs/configuration.md. */
  readonly config?: ConfigSource | undefined;
  /** `(name) => import(name)`: lets the configuration name plugins by their package. */
  readonly load?: LoadPackage | undefined;
  /** Of operators that set none. Default 1. */
  readonly parallelism?: number | undefined;
  /** Number of key groups, the limit of every later parallelism. Default: that of the checkpoint, or 128. */
  readonly maxParallelism?: number | undefined;
  /** Any pino logger. Default: warnings and errors to standard error. */
  readonly logger?: Logger | undefined;
  readonly metrics?: Metrics | undefined;
  /** How long a failed attempt may take to end; then the job fails with CANCELLATION_TIMEOUT instead of running two at once. Default 180 s. */
  readonly cancellationTimeout?: Duration | undefined;
  /** How long calls to the storage, sources, sinks and state may take before they are given up; see docs/timeouts.md. */
  readonly callTimeouts?: CallTimeoutOptions | undefined;
  /** For tests: a virtual clock. */
  readonly clock?: Clock | undefined;
  /** For tests: a seeded generator. */
  readonly random?: Random | undefined;
  /** For tests: ids that repeat from run to run. */
  readonly newId?: (() => string) | undefined;
}

export interface StartOptions {
  /**
   * `auto` (default): the newest completed checkpoint of this job if there is one. `latest`: the same, but none is an error. `none`: from the
   * beginning. A path: that checkpoint or savepoint. `{ checkpoint: 41 }`: that one of this job. After a stop, `auto` and `latest` go on from
   * the savepoint.
   */
  readonly restoreFrom?: string | { readonly checkpoint: CheckpointId } | undefined;
  /** State that no operator claims is left behind instead of refused. Default false. Key `execution.state-recovery.ignore-unclaimed-state`. */
  readonly allowNonRestoredState?: boolean | undefined;
  /**
   * Positions of a source, output of a sink that is not published, and records in flight that no operator claims are left behind instead of refused:
   * records are then lost, or come twice. Default false. Key `weir.state-recovery.ignore-unclaimed-positions-and-output`.
   */
  readonly allowNonRestoredPositionsAndOutput?: boolean | undefined;
  /**
   * Whose what a path leads to is from now on: `no-claim` (default): yours, and never removed; `claim`: the job's, which removes it when it is
   * superfluous, and at its end by the rules for its own checkpoints. Key `execution.state-recovery.claim-mode`.
   */
  readonly claimMode?: ClaimMode | undefined;
  /** The job's own restart strategy; it beats the environment's. */
  readonly restart?: Plugin | undefined;
  /** Ends the job when it aborts, keeping everything that is needed to resume it. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckSavepointOptions {
  /** Both as for a start. */
  readonly allowNonRestoredState?: boolean | undefined;
  readonly allowNonRestoredPositionsAndOutput?: boolean | undefined;
}

/** Describes a job, and starts it. */
export interface Environment {
  /** A stream of what `source` reads. */
  from<T, G extends SourceGrade, Split extends SourceSplit, Position>(
    source: Source<T, G, Split, Position>,
    options?: OperatorOptions,
  ): Stream<T, G>;
  /**
   * Takes a checkpoint every `interval`; without one only manual and final ones. Needs a coordinator and a checkpoint storage. A mode may stand in
   * place of the options, as in Flink.
   */
  enableCheckpointing(interval?: Duration, options?: CheckpointOptions | CheckpointOptions['mode']): void;
  /**
   * Starts the job that was described. Rejects, before anything runs, for whatever can be known to be wrong. Nothing can be described any more
   * (GRAPH_STARTED) unless it rejects; the same job can be started again.
   */
  start(name: string, options?: StartOptions): Promise<JobHandle>;
  /**
   * What a start of the job that was described would do with each state of a savepoint, or any completed checkpoint, and why: without the start,
   * and without reading state. Also while the job runs. Rejects as `start` does for what is wrong with the job itself, and where there is no
   * savepoint or it cannot be read. {@link formatSavepointReport} makes a table of it.
   */
  checkSavepoint(name: string, path: string, options?: CheckSavepointOptions): Promise<SavepointReport>;
  /** Starts the job and waits for its end. */
  execute(name: string, options?: StartOptions): Promise<JobEnd>;
}

export function createEnvironment(options: EnvironmentOptions = {}): Environment {
  const graph: LogicalGraph & { starts: number } = { nodes: [], starts: 0 };
  const host = {
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    newId: options.newId ?? systemId,
    ...guardedObservers(options),
    temporaryFiles: (directory: string | undefined) => localTemporaryFiles(localFileSystem(), directory),
    localDisk: { fileSystem: localFileSystem(), directory: defaultLocalCopies() },
  };
  const cancellationTimeoutMs =
    options.cancellationTimeout === undefined
      ? undefined
      : parseDuration(options.cancellationTimeout, 'cancellationTimeout');
  const callTimeouts = parseCallTimeouts(options.callTimeouts);
  let checkpointing: CheckpointingCall | undefined;

  const describe = (
    name: string,
    { allowNonRestoredState, allowNonRestoredPositionsAndOutput, claimMode }: RecoveryOptions,
  ): JobDescription => ({
    name,
    graph: { nodes: [...graph.nodes] },
    plugins: options.plugins ?? [],
    jobPlugins: [],
    config: options.config ?? {},
    load: options.load,
    parallelism: options.parallelism,
    maxParallelism: options.maxParallelism,
    checkpointing,
    restoreFrom: undefined,
    recovery: { allowNonRestoredState, allowNonRestoredPositionsAndOutput, claimMode },
    host,
  });

  const environment: Environment = {
    from: (source, operatorOptions = {}) => sourceStream(graph, source as unknown as Source<unknown>, operatorOptions),

    enableCheckpointing(interval, optionsOrMode, ...more: unknown[]) {
      if (graph.starts > 0)
        throw new WeirError(
          'CONFIG_INVALID',
          'enableCheckpointing comes before start: it does not change a job that runs.',
        );
      if (checkpointing !== undefined)
        throw new WeirError('CONFIG_CONTRADICTION', 'enableCheckpointing was called twice.');
      if (more.length > 0) throw new WeirError('CONFIG_INVALID', NO_FORCE, { recoverable: false });
      const options = typeof optionsOrMode === 'string' ? { mode: optionsOrMode } : optionsOrMode;
      checkpointing = { interval, options };
    },

    async start(name, startOptions = {}) {
      graph.starts++;
      try {
        return await startJob({
          ...describe(name, startOptions),
          jobPlugins: startOptions.restart === undefined ? [] : [startOptions.restart],
          restoreFrom: restoreWish(startOptions.restoreFrom),
          cancellationTimeoutMs,
          callTimeouts,
          signal: startOptions.signal,
        });
      } catch (error) {
        // Nothing runs of it, so what was missing may be added.
        graph.starts--;
        throw error;
      }
    },

    checkSavepoint: (name, path, checkOptions = {}) => checkSavepoint(describe(name, checkOptions), path),

    async execute(name, startOptions) {
      const job = await environment.start(name, startOptions);
      return job.done;
    },
  };
  return environment;
}

const NO_FORCE =
  "enableCheckpointing takes an interval and options, or a mode. Flink's third argument, force, took checkpoints of jobs with loops " +
  'although what went round was lost: here loops are part of every checkpoint, and { iterations: "force" } loses them as Flink did.';

/** Whatever they throw stays with them. Fails with CONFIG_INVALID where one is none. */
function guardedObservers({
  logger = defaultLogger(),
  metrics = NO_METRICS,
}: EnvironmentOptions): Pick<HostServices, 'logger' | 'metrics' | 'observerFailures'> {
  requireMethods('logger', logger, ['debug', 'info', 'warn', 'error', 'child']);
  requireMethods('metrics', metrics, ['counter', 'histogram', 'gauge']);
  const failures = observerFailures({ logger, metrics, warn: processWarning });
  return {
    logger: guardedLogger(logger, failures),
    metrics: guardedMetrics(metrics, failures),
    observerFailures: failures,
  };
}

function requireMethods(option: string, given: unknown, methods: readonly string[]): void {
  const missing = methods.filter((method) => typeof propertyOf(given, method) !== 'function');
  if (missing.length === 0) return;
  const message = `${option} of createEnvironment has no method ${missing.join(', ')}: it needs ${methods.join(', ')}`;
  throw new WeirError('CONFIG_INVALID', message, { recoverable: false });
}

function restoreWish(
  wish: StartOptions['restoreFrom'],
): 'auto' | 'latest' | 'none' | { path: string } | { checkpointId: CheckpointId } | undefined {
  if (wish === undefined || wish === 'auto' || wish === 'latest' || wish === 'none') return wish;
  if (typeof wish === 'string') return { path: wish };
  const checkpointId = (wish as Partial<typeof wish> | null)?.checkpoint;
  if (typeof checkpointId === 'number') return { checkpointId };
  throw new WeirError(
    'CONFIG_INVALID',
    `restoreFrom must be 'auto', 'latest', 'none', a path or { checkpoint: <id> }, but is ${inspectShort(wish)}`,
    { recoverable: false },
  );
}
