import { Observable } from 'rxjs';
import { BATCH_SIZE, type RecordBatch } from '../element/element.js';
import { BatchBuffer } from './batch-buffer.js';
import type { Operator, OperatorContext } from './operator.js';
import { operatorFailure } from './user-code.js';

/** Emits every item of the iterable that `project` makes of a record; stops inside an iterable when the flow closes. */
export function flatMapOperator<A, B>(context: OperatorContext, project: (value: A) => Iterable<B>): Operator<A, B> {
  const { flow } = context;
  return {
    connect: (source) =>
      new Observable((target) => {
        const output = new BatchBuffer<B>(target);
        let rest: Iterator<B> | undefined;
        const run = (batch: RecordBatch<A>, from: number): void => {
          const { records, timestamps } = batch;
          let index = from;
          try {
            for (; index < records.length; index++) {
              const timestamp = timestamps?.[index];
              rest ??= project(records[index] as A)[Symbol.iterator]();
              for (let emitted = 1; ; emitted++) {
                const item = rest.next();
                if (item.done === true) break;
                output.pushAt(item.value, timestamp);
                if (emitted % BATCH_SIZE === 0 && !flow.isOpen()) {
                  suspend(batch, index);
                  return;
                }
              }
              rest = undefined;
              if (index + 1 < records.length && !flow.isOpen()) {
                suspend(batch, index + 1);
                return;
              }
            }
            output.flush();
          } catch (error) {
            target.error(operatorFailure(context, error));
          }
        };
        const suspend = (batch: RecordBatch<A>, index: number): void => {
          flow.suspend(() => {
            run(batch, index);
          });
        };
        const input = source.subscribe({
          next(element) {
            if (element.kind === 'batch') run(element, 0);
            else target.next(element);
          },
          error(error) {
            target.error(error);
          },
          complete() {
            target.complete();
          },
        });
        return () => {
          input.unsubscribe();
          rest?.return?.();
        };
      }),
  };
}
