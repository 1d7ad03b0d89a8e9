import { FINAL_WATERMARK, type StreamElement } from '@weir/core/contracts';
import { BatchBuffer, transform, type StreamOperator } from '@weir/core/operators';
import { Observable } from 'rxjs';
import { isTimeMark, type TimeMark } from './time-marks.js';

/** Makes watermarks of the marks in a script, and gives records their event time. Nothing else in the job sees a mark. */
export function scriptTime<A>(timestampOf: ((record: A) => number) | undefined): StreamOperator<A | TimeMark, A> {
  return (stream) =>
    transform([stream], {
      name: 'script-time',
      isStateful: false,
      create: () => ({
        connect: (source: Observable<StreamElement<A | TimeMark>>) =>
          new Observable<StreamElement<A>>((target) => {
            const output = new BatchBuffer<A>(target);
            return source.subscribe({
              next(element) {
                if (element.kind !== 'batch') {
                  if (element.kind !== 'watermark' || element.time === FINAL_WATERMARK.time) target.next(element);
                  return;
                }
                for (const item of element.records) {
                  if (!isTimeMark(item)) output.pushAt(item, timestampOf?.(item));
                  else if (item['~time'] === 'watermark') {
                    output.flush();
                    target.next({ kind: 'watermark', time: item.ms });
                  }
                }
                output.flush();
              },
              error: (error: unknown) => {
                target.error(error);
              },
              complete: () => {
                target.complete();
              },
            });
          }),
      }),
    });
}
