import { Observable } from 'rxjs';
import type { RecordBatch } from '../element/element.js';
import { BatchBuffer } from './batch-buffer.js';
import { OneAtATime } from './one-at-a-time.js';
import { refusePromise } from './handler-misuse.js';
import type { Operator, OperatorContext } from './operator.js';
import { RECORDS_PER_LOOK } from './per-batch.js';
import { operatorFailure } from './user-code.js';

/** Emits every item of the iterable that `project` makes of a record; stops inside an iterable when the flow closes. */
export function flatMapOperator<A, B>(
  context: OperatorContext,
  project: (value: A) => Iterable<B>,
  keepsKeys = false,
): Operator<A, B> {
  const { flow } = context;
  const iteratorOf = (made: Iterable<B>): Iterator<B> => {
    if (typeof (made as Partial<Iterable<B>> | undefined)?.[Symbol.iterator] === 'function')
      return made[Symbol.iterator]();
    refusePromise(context, made, 'the function given to flatMap');
    throw new TypeError(
      'the function given to flatMap returned no iterable: it gives an array, or is a generator that is not async',
    );
  };
  return {
    connect: (source) =>
      new Observable((target) => {
        const output = new BatchBuffer<B>(target);
        if (keepsKeys) output.keepKeys();
        const work = new OneAtATime(flow);
        let rest: Iterator<B> | undefined;
        let sent = 0;
        let looks = 0;
        // As in perRecord: the flow closes when a batch was sent, or when time is over.
        const mustStop = (): boolean => {
          if (output.sent === sent && ++looks % RECORDS_PER_LOOK !== 0) return false;
          sent = output.sent;
          return !flow.isOpen();
        };
        const run = (batch: RecordBatch<A>, from: number): void => {
          const { records, timestamps, keys } = batch;
          try {
            for (let index = from; index < records.length; index++) {
              rest ??= iteratorOf(project(records[index] as A));
              if (keepsKeys) output.key = keys?.[index];
              const timestamp = timestamps?.[index];
              for (let item = rest.next(); item.done !== true; item = rest.next()) {
                output.pushAt(item.value, timestamp);
                if (mustStop()) {
                  suspend(batch, index);
                  return;
                }
              }
              rest = undefined;
              if (index + 1 < records.length && mustStop()) {
                suspend(batch, index + 1);
                return;
              }
            }
            output.flush();
          } catch (error) {
            // What threw is over: it must not be told to return as well.
            rest = undefined;
            target.error(operatorFailure(context, error));
          }
        };
        const suspend = (batch: RecordBatch<A>, index: number): void => {
          work.suspend(() => {
            run(batch, index);
          });
        };
        const input = source.subscribe({
          next(element) {
            work.take(() => {
              if (element.kind === 'batch') run(element, 0);
              else target.next(element);
            });
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
