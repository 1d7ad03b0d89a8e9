import type { RecordBatch, StreamElement } from '@weir/core/contracts';
import { perBatch, transform, type StreamOperator } from '@weir/core/operators';
import { Observable, type MonoTypeOperatorFunction } from 'rxjs';
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
        const hold = (pass: () => void): void => {
          held++;
          context.flow.suspend(() => {
            held--;
            pass();
          });
        };
        return {
          connect: (source) =>
            source.pipe(
              perBatch<T, T>(context, (batch, target) => {
                faults.visit(place);
                const slow = faults.slowness(place);
                if (slow !== undefined) context.flow.waitFor(faults.wait(slow, context.signal));
                const pass = (): void => {
                  target.next(batch satisfies RecordBatch<T>);
                };
                if (slow !== undefined || held > 0) hold(pass);
                else pass();
              }),
              behind(hold, () => held > 0),
            ),
        };
      },
    });
}

/** What comes behind a batch that waits, waits behind it: watermarks, too. */
function behind<T>(
  hold: (pass: () => void) => void,
  isHolding: () => boolean,
): MonoTypeOperatorFunction<StreamElement<T>> {
  return (source) =>
    new Observable((target) =>
      source.subscribe({
        next(element) {
          const pass = (): void => {
            target.next(element);
          };
          if (element.kind !== 'batch' && isHolding()) hold(pass);
          else pass();
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
