import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { RecordBatch, StreamElement, Watermark } from '../element/element.js';
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

/** Works through the records of a batch from `from` to before `to`; returns where to go on: at `to`, or behind the record that filled a batch. */
export type RecordLoop<A> = (batch: RecordBatch<A>, from: number, to: number) => number;

/**
 * An RxJS operator over elements that works record by record and may emit any number for each. It stops between two records when the flow
 * closes, and goes on from there when the stage resumes it. `keepsKeys`: what it emits has the key of the record.
 */
export function perRecord<A, B>(
  context: OperatorContext,
  start: (output: BatchBuffer<B>) => (record: A, timestamp: number | undefined) => void,
  keepsKeys = false,
): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return inLoops(context, (output) => {
    if (keepsKeys) output.keepKeys();
    const onRecord = start(output);
    return ({ records, timestamps, keys }, from, to) => {
      const { sent } = output;
      for (let i = from; i < to; i++) {
        if (keepsKeys) output.key = keys?.[i];
        onRecord(records[i] as A, timestamps === undefined ? undefined : timestamps[i]);
        if (output.sent !== sent) return i + 1;
      }
      return to;
    };
  });
}

/** What the passing of event time sets off in an operator, before the watermark goes on. */
export interface EventTimeWork {
  /** A watermark has come. True: it sets something off. */
  advance(watermark: number): boolean;
  /** Does some of what was set off; true while there is more of it. */
  step(): boolean;
}

/**
 * As {@link perRecord}, for operators that bring the loop over the records themselves: it is short, for each call of it. An operator of several
 * inputs has one `work` for all of them, or the watermark, which enters at the first, would overtake a record of another.
 */
export function inLoops<A, B>(
  context: OperatorContext,
  start: (output: BatchBuffer<B>) => RecordLoop<A>,
  eventTime?: EventTimeWork,
  work: OneAtATime = new OneAtATime(context.flow),
): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return (source) =>
    new Observable((target) => {
      const output = new BatchBuffer<B>(target);
      const { flow } = context;
      const loop = start(output);
      const run = (batch: RecordBatch<A>, from: number): void => {
        const { length } = batch.records;
        try {
          // The flow closes when a batch was sent, or when time is over: no need to ask for every record.
          let next = from;
          while (next < length) {
            next = loop(batch, next, Math.min(next + RECORDS_PER_LOOK, length));
            if (next < length && !flow.isOpen()) {
              work.suspend(() => {
                run(batch, next);
              });
              return;
            }
          }
          output.flush();
        } catch (error) {
          target.error(operatorFailure(context, error));
        }
      };
      const pass = (watermark: Watermark, mayMove: boolean): void => {
        try {
          // Resumed, there is demand: one step is done before the flow is looked at again.
          for (let more = true; more;) {
            if (!mayMove) {
              work.suspend(() => {
                pass(watermark, true);
              });
              return;
            }
            more = (eventTime as EventTimeWork).step();
            mayMove = flow.isOpen();
          }
          output.flush();
          target.next(watermark);
        } catch (error) {
          target.error(operatorFailure(context, error));
        }
      };
      return source.subscribe({
        next(element) {
          work.take(() => {
            if (element.kind === 'batch') run(element, 0);
            else if (element.kind === 'watermark' && eventTime?.advance(element.time) === true)
              pass(element, flow.isOpen());
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
