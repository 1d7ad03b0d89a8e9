import type { CallBounds } from '../bounds/bounded-calls.js';
import { nameOf } from '../bounds/bounded-state.js';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Clock, Random } from '../contracts/clock.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type { KeyedStateStore, StateBackend } from '../contracts/state-backend.js';
import type { AttemptNumber, JobName, OperatorUid } from '../element/ids.js';
import { keyGroupRange } from '../element/key-group.js';
import { WeirError } from '../errors.js';
import type { Flow } from '../operator/flow.js';
import type { OperatorContext } from '../operator/operator.js';
import type { CompileSchema } from '../state/schema-check.js';
import type { RunningStage } from './running-stage.js';

/** Services that all operators of an attempt have in common. */
export interface OperatorServices {
  readonly job: JobName;
  readonly attempt: AttemptNumber;
  readonly stateBackend: () => StateBackend;
  readonly calls: CallBounds;
  readonly compileSchema: CompileSchema;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Aborts when the attempt ends in any way but its natural one. */
  readonly signal: AbortSignal;
}
/** Place of an operator in a job. */
export interface OperatorPlace {
  readonly uid: OperatorUid;
  readonly name: string;
  readonly subtask: number;
  readonly parallelism: number;
  readonly maxParallelism: number;
}
/** Owner of a running operator. */
export interface OperatorOwner {
  readonly running: Pick<RunningStage, 'post' | 'after'>;
  /** Flow of the operator's part of the stage. */
  readonly flow: Flow;
  /** List that gets every store which the operator opens. */
  readonly stores: KeyedStateStore[];
}

/**
 * Context of one instance of an operator. Without an owner it is for what comes before subtasks:
 * enumerators, and what a sink's writers share.
 */
export function operatorContext(
  services: OperatorServices,
  { uid, name, subtask, parallelism, maxParallelism }: OperatorPlace,
  owner?: OperatorOwner,
): OperatorContext {
  const { job, attempt, clock, random, metrics, signal, stateBackend, calls, compileSchema } = services;
  const logger = services.logger.child({ operator: uid, subtask });
  const keyGroups = keyGroupRange(subtask, parallelism, maxParallelism);
  const requireOwner = (): OperatorOwner => {
    if (owner === undefined) throw new WeirError('PROTOCOL_VIOLATION', `Operator ${uid} has no subtask yet.`);
    return owner;
  };
  return {
    job,
    uid,
    name,
    subtask,
    parallelism,
    maxParallelism,
    keyGroups,
    attempt,
    clock,
    random,
    logger,
    metrics,
    signal,
    get flow() {
      return requireOwner().flow;
    },
    openKeyedState: async (states) => {
      const { stores } = requireOwner();
      const scope = { job, operator: uid, subtask, keyGroups, maxParallelism, states, clock, logger };
      const open = (): Awaitable<KeyedStateStore> => stateBackend().open(scope);
      const store = await calls.run('state.open', nameOf(uid), open, { late: (late) => late.close() });
      stores.push(store);
      return store;
    },
    calls,
    compileSchema,
    runInMailbox: (action) => {
      requireOwner().running.post(action);
    },
    timer: (delayMs, action) => requireOwner().running.after(delayMs, action),
  };
}
