import { sleep, type Clock } from '../../src/contracts/clock.js';
import type { StreamElement } from '../../src/element/element.js';
import { perBatch, transform, type OperatorContext, type StreamOperator } from '../../src/operators.js';

/** Passes records on, and takes its time over each batch: `msFor` says how long, in which subtask. Nothing else of its stage moves meanwhile. */
export function slowly<T>(clock: Clock, msFor: (subtask: number) => number, uid: string): StreamOperator<T, T> {
  return (stream) =>
    transform(
      [stream],
      {
        name: 'slow',
        isStateful: false,
        create: (context: OperatorContext) => ({
          connect: (source) =>
            source.pipe(
              perBatch<T, T>(context, (batch, target) => {
                const ms = msFor(context.subtask);
                if (ms > 0) context.flow.waitFor(sleep(clock, ms));
                target.next(batch satisfies StreamElement<T>);
              }),
            ),
        }),
      },
      { uid },
    );
}
