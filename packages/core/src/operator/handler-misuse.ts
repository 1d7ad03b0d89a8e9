import { WeirError } from '../errors.js';
import type { OperatorContext } from './operator.js';

/** What is done from a timeout or a promise belongs to no record, so no checkpoint could tell whether it was counted. */
export function refuseLate(
  { uid, job, runInMailbox }: Pick<OperatorContext, 'uid' | 'job' | 'runInMailbox'>,
  what: 'emit' | 'timers',
): void {
  const [done, instead] =
    what === 'emit'
      ? ['called emit', 'Emit while the handler runs.']
      : ['used timers', 'Use them while the handler runs.'];
  runInMailbox(() => {
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `Operator ${uid} of job ${job} ${done} after its handler had returned, from a timeout or a promise. ${instead}`,
      { recoverable: false },
    );
  });
}

/**
 * What an asynchronous function does after its first `await` belongs to no record: it would change the state of another key, or be lost. And a promise is
 * no record, nor an answer to whether one is to be kept.
 */
export function refusePromise(
  { uid, job }: Pick<OperatorContext, 'uid' | 'job'>,
  returned: unknown,
  whose = 'its handler',
): void {
  if (typeof (returned as Partial<PromiseLike<unknown>> | null)?.then !== 'function') return;
  // The failure below counts; that of the handler has nobody else to hear it.
  void Promise.resolve(returned).catch(() => undefined);
  throw new WeirError(
    'OPERATOR_FAILED',
    `Operator ${uid} of job ${job}: ${whose} returned a promise, but operators are synchronous. Make it a plain function, and ` +
      'wait for what comes from outside in the source or in the sink.',
    { recoverable: false },
  );
}
