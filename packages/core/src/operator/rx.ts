import { of, type OperatorFunction } from 'rxjs';
import { WeirError } from '../errors.js';
import type { Operator, OperatorContext } from './operator.js';
import { perRecord } from './per-batch.js';
import { signOfMemory } from './rx-memory.js';

/**
 * Runs RxJS operators anew for each record, to completion, synchronously: they cannot remember or hold back anything, so there is nothing
 * that a checkpoint would miss. RX_HELD_BACK if the inner stream is still open when its subscription returns. What would remember gives something else
 * than it says when it begins anew: RX_REMEMBERS, where the first record shows it.
 */
export function rxOperator<A, B>(
  context: OperatorContext,
  lifted: OperatorFunction<A, B>,
  keepsKeys = false,
): Operator<A, B> {
  return {
    connect: (source) =>
      source.pipe(
        perRecord<A, B>(
          context,
          (output) => {
            let wasTried = false;
            return (record, timestamp) => {
              if (!wasTried) {
                wasTried = true;
                const sign = signOfMemory(lifted, record);
                if (sign !== undefined) throw remembers(context, sign);
              }
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
            };
          },
          keepsKeys,
        ),
      ),
  };
}

function remembers({ uid, job }: OperatorContext, sign: string): WeirError {
  return new WeirError(
    'RX_REMEMBERS',
    `Operator ${uid} of job ${job}: what is inside rx() ${sign}, but it begins anew for each record, so it would give wrong results. ` +
      REMEMBER_INSTEAD,
    { recoverable: false },
  );
}

/** What to do instead of remembering in RxJS. */
export const REMEMBER_INSTEAD: string =
  'Remember with scan, keyedProcess or subtaskProcess of @weir/core/operators. What is to be made of one record alone belongs into a mergeMap: ' +
  'mergeMap((record) => from(record.items).pipe(reduce(...))).';
