import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { RecordBatch, StreamElement } from '../element/element.js';
import { BatchBuffer } from './batch-buffer.js';
import { OneAtATime } from './one-at-a-time.js';
import type { OperatorContext } from './operator.js';
import { operatorFailure } from './user-code.js';

/** Between two questions whether the time slice is over. */
export const RECORDS_PER_LOOK = 64;

/** An RxJS operator over elements that hands batches to `onBatch` and passes everything else on. What throws errors the output. */
export function perBatch<A, B>(
  context: OperatorContext,
  onBatch: (batch: RecordBatch<A>, target: Subscriber<StreamElement<B>>) => void,
): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return (source) =>
    new Observable((target) =>
      source.subscribe({
        next(element) {
          if (element.kind !== 'batch') {
            target.next(element);
            return;
          }
          try {
            onBatch(element, target);
          } catch (error) {
            target.error(operatorFailure(context, error));
          }
        },
        error(error) {
          target.error(error);
        },
        complete() {
          target.complete();
        },
      }),
    );
}

/**
 * An RxJS operator over elements that works record by record and may emit any number for each. It stops between two records when the flow
 * closes, and goes on from there when the stage resumes it.
 */
export function perRecord<A, B>(
  context: OperatorContext,
  start: (output: BatchBuffer<B>) => (record: A, timestamp: number | undefined) => void,
): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return (source) =>
    new Observable((target) => {
      const output = new BatchBuffer<B>(target);
      const { flow } = context;
      const work = new OneAtATime(flow);
      const onRecord = start(output);
      const run = (batch: RecordBatch<A>, from: number): void => {
        const { records, timestamps } = batch;
        try {
          let sent = output.sent;
          const last = records.length - 1;
          for (let i = from; i <= last; i++) {
            onRecord(records[i] as A, timestamps === undefined ? undefined : timestamps[i]);
            // The flow closes when a batch was sent, or when time is over: no need to ask for every record.
            if (output.sent === sent && i % RECORDS_PER_LOOK !== 0) continue;
            sent = output.sent;
            if (i < last && !flow.isOpen()) {
              work.suspend(() => {
                run(batch, i + 1);
              });
              return;
            }
          }
          output.flush();
        } catch (error) {
          target.error(operatorFailure(context, error));
        }
      };
      return source.subscribe({
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
    });
}
