import { filterBatch, mapBatch } from '../element/batch-loops.js';
import type { Operator, OperatorContext } from './operator.js';
import { perBatch } from './per-batch.js';

export function mapOperator<A, B>(context: OperatorContext, project: (value: A) => B): Operator<A, B> {
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, B>(context, (batch, target) => {
          target.next(mapBatch(batch, project));
        }),
      ),
  };
}

export function filterOperator<A>(context: OperatorContext, predicate: (value: A) => boolean): Operator<A, A> {
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, A>(context, (batch, target) => {
          const kept = filterBatch(batch, predicate);
          if (kept !== undefined) target.next(kept);
        }),
      ),
  };
}

export function tapOperator<A>(context: OperatorContext, look: (value: A) => void): Operator<A, A> {
  return {
    connect: (source) =>
      source.pipe(
        perBatch<A, A>(context, (batch, target) => {
          for (const record of batch.records) look(record);
          target.next(batch);
        }),
      ),
  };
}
