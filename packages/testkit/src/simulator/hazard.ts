import type { RecordBatch } from '@weir/core/contracts';
import { perBatch, transform, type StreamOperator } from '@weir/core/operators';
import type { Faults } from './faults.js';

/** Passes records on; sometimes late, and sometimes its subtask dies of them. */
export function hazard<T>(faults: Faults): StreamOperator<T, T> {
  return (stream) =>
    transform([stream], {
      name: 'hazard',
      isStateful: false,
      create: (context) => {
        const place = `operator ${context.uid}`;
        let held = 0;
        return {
          connect: (source) =>
            source.pipe(
              perBatch<T, T>(context, (batch, target) => {
                const hold = (): void => {
                  held++;
                  context.flow.suspend(() => {
                    held--;
                    target.next(batch satisfies RecordBatch<T>);
                  });
                };
                faults.visit(place);
                const slow = faults.slowness(place);
                if (slow !== undefined) context.flow.waitFor(faults.wait(slow, context.signal));
                // What comes behind a batch that waits, waits behind it.
                if (slow !== undefined || held > 0) hold();
                else target.next(batch);
              }),
            ),
        };
      },
    });
}
