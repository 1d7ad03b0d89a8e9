import type { Sink } from '../../src/contracts/sink.js';
import type { SinkServices } from '../../src/operator/sink-services.js';

/** A job with checkpoints, started afresh, that nobody has fenced off. */
export function sinkServices(changes: Partial<SinkServices> = {}): SinkServices {
  return {
    lineage: 'lineage',
    restoredFrom: undefined,
    checkpointing: true,
    verify: () => Promise.resolve(),
    commitRetries: 10,
    destination: { id: 'place', name: 'place' },
    ...changes,
  };
}

/** Appends to `written`, at once or, where `isSlow` says so, a few microtasks later. Two writes at a time are an error. */
export function slowSink<T>(written: T[], isSlow: () => boolean): Sink<T, 'at-least-once'> {
  return {
    grade: 'at-least-once',
    open: () => {
      let isWriting = false;
      return {
        write(batch) {
          if (isWriting) throw new Error('a write overlaps the one before it');
          if (!isSlow()) {
            written.push(...batch);
            return undefined;
          }
          isWriting = true;
          return Promise.resolve()
            .then(() => undefined)
            .then(() => {
              written.push(...batch);
              isWriting = false;
            });
        },
        close: () => undefined,
      };
    },
  };
}
