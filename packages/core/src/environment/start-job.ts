import { localPath } from '../adapters/local-path.js';
import { BoundedCalls } from '../bounds/bounded-calls.js';
import { boundedStorage } from '../bounds/bounded-storage.js';
import type { CallTimeouts } from '../bounds/calls.js';
import type { CheckpointCoordinator } from '../contracts/coordinator.js';
import type { JobEvent, JobEventBody, JobStatus } from '../contracts/job-events.js';
import { CheckpointStorageRole, CoordinatorRole, StateBackendRole } from '../contracts/roles.js';
import { messageOf, WeirError } from '../errors.js';
import { describePlan, withMaxParallelism } from '../graph/plan.js';
import { Attempt } from '../host/attempt.js';
import { JobRun } from '../host/job-run.js';
import { callTimeoutsOf } from './call-timeouts.js';
import { disposeAfter } from './dispose-after.js';
import type { HostServices } from './host-services.js';
import { RunningJob, type JobEnd, type JobHandle } from './job-handle.js';
import { countRead, endLocalCopies, localCopiesOf } from './local-copies-of.js';
import { prepareJob, type JobDescription, type PreparedJob } from './prepare-job.js';
import { restartStrategyOf } from './restart-choice.js';
import { compileStateSchema } from './state-schema.js';
import { SUPPORTED_KEYS } from './supported-keys.js';
import { notifyJobEnd } from './notify-job-end.js';

const CANCELLATION_TIMEOUT = 'task.cancellation.timeout';
const COMMIT_RETRIES = 'sink.committer.retries';

export interface StartJobOptions extends JobDescription {
  readonly cancellationTimeoutMs: number | undefined;
  readonly callTimeouts: Partial<CallTimeouts>;
  readonly signal: AbortSignal | undefined;
}

/** Checks everything that can be checked before anything runs, then runs the job in a container of its own. */
export async function startJob(options: StartJobOptions): Promise<JobHandle> {
  options.signal?.throwIfAborted();
  const prepared = await prepareJob(options);
  try {
    return run(options, prepared);
  } catch (error) {
    await disposeAfter(prepared.container, options.host.logger);
    throw error;
  }
}

function run(options: StartJobOptions, prepared: PreparedJob): JobHandle {
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
    // A savepoint is nothing that a failure would go back to.
    if (body.kind === 'checkpoint-completed' && body.trigger !== 'savepoint') jobRun.checkpointCompleted();
  };

  const calls = new BoundedCalls({
    job: name,
    timeouts: callTimeoutsOf(options.callTimeouts, configuration),
    clock,
    logger,
    metrics,
    emit,
  });
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
        calls,
        compileSchema: compileStateSchema,
        temporaryFiles: host.temporaryFiles(temporaryDirectory(configuration.get('io.tmp.dirs'))),
        clock,
        random,
        logger: logger.child({ attempt }),
        metrics,
        verify: async () => coordinator?.verify(attempt),
        commitRetries: configuration.get(COMMIT_RETRIES) ?? SUPPORTED_KEYS[COMMIT_RETRIES].default,
        allowDuplicates: settings?.allowDuplicates,
        branch: coordinator && (() => coordinator.branch(attempt)),
        emit,
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
    onSubscriberFailed: (error) => {
      host.observerFailures.failed('subscriber', `an event or status of job ${name}`, error);
    },
    run: () =>
      notifyJobEnd(options.graph, name, { logger, calls }, async () => {
        // The caller gets the handle before anything happens, so that it can subscribe.
        await Promise.resolve();
        for (const message of notices) emit({ kind: 'warning', message });
        const within = { clock, logger, timeoutMs: cancellationTimeoutMs };
        const gauge =
          coordinator && metrics.gauge('weir.job.failures_in_a_row', () => jobRun.failuresInARow, { job: name });
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
          gauge?.();
        }
        await container[Symbol.asyncDispose]();
        return end;
      }).finally(() => {
        calls.close();
      }),
  });

  function makeCoordinator(failAttempt: (attempt: number, error: unknown) => void): CheckpointCoordinator | undefined {
    if (settings === undefined) return undefined;
    return container.get(CoordinatorRole).create({
      job: name,
      plan: describePlan(plan),
      settings,
      storage: boundedStorage(container.get(CheckpointStorageRole), calls),
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
    case 'call-stalled':
      logger.warn(
        { call: event.call, waitedMs: event.waitedMs },
        `${event.of} has not answered ${event.call} for ${String(event.waitedMs)} ms; it is given up after ${String(event.timeoutMs)} ms`,
      );
      return;
    case 'failure-repeated':
      logger.error({ attempt: event.attempt, inARow: event.inARow }, event.message);
      return;
    case 'warning':
      logger.warn({}, event.message);
      return;
    case 'output-left':
      logger.warn(
        { sink: event.sink, checkpoint: event.checkpointId, committables: event.committables },
        `${String(event.committables)} prepared outputs of sink ${event.sink} stay uncommitted in ${event.destination}: the sink has another destination now`,
      );
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

function temporaryDirectory(given: string | undefined): string | undefined {
  return given === undefined ? undefined : localPath(given, 'io.tmp.dirs');
}
