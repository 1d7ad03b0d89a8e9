import type { CallBounds } from '../bounds/bounded-calls.js';
import { nameOf } from '../bounds/bounded-state.js';
import type { Awaitable } from '../contracts/awaitable.js';
import type { Clock, Random } from '../contracts/clock.js';
import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import type { KeyedStateStore, StateBackend } from '../contracts/state-backend.js';
import type { AttemptNumber, JobName } from '../element/ids.js';
import { keyGroupRange } from '../element/key-group.js';
import { WeirError } from '../errors.js';
import type { PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { Flow } from '../operator/flow.js';
import type { OperatorContext } from '../operator/operator.js';
import type { CompileSchema } from '../state/schema-check.js';
import type { Subtask } from './subtask.js';

/** What all operators of an attempt have in common. */
export interface AttemptSurroundings {
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
/** Where an operator runs. */
export interface OperatorOwner {
  readonly subtask: Subtask;
  /** Of the operator's part of the stage. */
  readonly flow: Flow;
  /** Gets every store that the operator opens. */
  readonly stores: KeyedStateStore[];
}

/** What one instance of an operator is given. Without an owner it is for what comes before subtasks: enumerators, and what a sink's writers share. */
export function operatorContext(
  surroundings: AttemptSurroundings,
  { parallelism, maxParallelism }: PlannedStage,
  { uid, node }: PlannedOperator,
  subtask: number,
  owner?: OperatorOwner,
): OperatorContext {
  const { job, attempt, clock, random, metrics, signal, stateBackend, calls, compileSchema } = surroundings;
  const logger = surroundings.logger.child({ operator: uid, subtask });
  const keyGroups = keyGroupRange(subtask, parallelism, maxParallelism);
  const requireOwner = (): OperatorOwner => {
    if (owner === undefined) throw new WeirError('PROTOCOL_VIOLATION', `Operator ${uid} has no subtask yet.`);
    return owner;
  };
  return {
    job,
    uid,
    name: node.name,
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
      requireOwner().subtask.post(action);
    },
    timer: (delayMs, action) => requireOwner().subtask.after(delayMs, action),
  };
}
