import { of, type OperatorFunction } from 'rxjs';
import { WeirError } from '../errors.js';
import type { Operator, OperatorContext } from './operator.js';
import { perRecord } from './per-batch.js';

/**
 * Runs RxJS operators anew for each record, to completion, synchronously: they cannot remember or hold back anything, so there is nothing
 * that a checkpoint would miss. RX_HELD_BACK if the inner stream is still open when its subscription returns.
 */
export function rxOperator<A, B>(context: OperatorContext, lifted: OperatorFunction<A, B>): Operator<A, B> {
  return {
    connect: (source) =>
      source.pipe(
        perRecord<A, B>(context, (output) => (record, timestamp) => {
          let failure: { readonly error: unknown } | undefined;
          const subscription = of(record)
            .pipe(lifted)
            .subscribe({
              next(value) {
                output.pushAt(value, timestamp);
              },
              error(error: unknown) {
                failure = { error };
              },
            });
          const isHeldBack = !subscription.closed;
          subscription.unsubscribe();
          if (failure !== undefined) throw failure.error;
          if (isHeldBack) {
            throw new WeirError(
              'RX_HELD_BACK',
              `Operator ${context.uid} of job ${context.job}: an RxJS operator inside rx() did not complete synchronously. ` +
                'Time and asynchronous operators cannot be lifted; hold state with keyedProcess instead.',
              { recoverable: false },
            );
          }
        }),
      ),
  };
}
