import { filterBatch, mapBatch } from '../element/batch-loops.js';
import { refusePromise } from './handler-misuse.js';
import type { Operator, OperatorContext } from './operator.js';
import { perBatch } from './per-batch.js';

export function mapOperator<A, B>(context: OperatorContext, project: (value: A) => B): Operator<A, B> {
  const look = (result: B): void => {
    refusePromise(context, result, 'the function given to map');
  };
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, B>(context, (batch, target) => {
          target.next(mapBatch(batch, project, look));
        }),
      ),
  };
}

export function filterOperator<A>(context: OperatorContext, predicate: (value: A) => boolean): Operator<A, A> {
  const look = (verdict: unknown): void => {
    refusePromise(context, verdict, 'the function given to filter');
  };
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, A>(context, (batch, target) => {
          const kept = filterBatch(batch, predicate, look);
          if (kept !== undefined) target.next(kept);
        }),
      ),
  };
}

/** From JavaScript `look` may give anything. */
export function tapOperator<A>(context: OperatorContext, look: (value: A) => unknown): Operator<A, A> {
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, A>(context, (batch, target) => {
          for (const record of batch.records) {
            const returned = look(record);
            if (typeof returned === 'object') refusePromise(context, returned, 'the function given to tap');
          }
          target.next(batch);
        }),
      ),
  };
}
