import { seededRandom, VirtualClock } from '@weir/testkit';
import { NO_METRICS } from '../../src/contracts/metrics.js';
import { SILENT } from '../../src/contracts/logger.js';
import { compileStateSchema } from '../../src/environment/state-schema.js';
import { OPEN_FLOW } from '../../src/operator/flow.js';
import type { OperatorContext } from '../../src/operator/operator.js';

/** What an operator is given when nothing around it matters: subtask 0 of 1, a flow that nobody holds back, a mailbox that is read at once. */
export function operatorContext(changes: Partial<OperatorContext> = {}): OperatorContext {
  const clock = new VirtualClock();
  return {
    job: 'test',
    uid: 'operator',
    name: 'operator',
    subtask: 0,
    parallelism: 1,
    maxParallelism: 128,
    keyGroups: { first: 0, last: 127 },
    attempt: 1,
    clock,
    random: seededRandom(1),
    logger: SILENT,
    metrics: NO_METRICS,
    flow: OPEN_FLOW,
    signal: new AbortController().signal,
    openKeyedState: () => Promise.reject(new Error('this operator has no keyed state')),
    compileSchema: compileStateSchema,
    runInMailbox: (action) => {
      action();
    },
    timer: (delayMs, action) => (changes.clock ?? clock).timer(delayMs, action),
    ...changes,
  };
}
