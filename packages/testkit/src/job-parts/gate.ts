import { perBatch, transform, type OperatorContext, type StreamOperator } from '@weir/core/operators';

/** Stalls a branch of a job on purpose. */
export interface Gate {
  /** Passes records on while the gate is open. While it is closed the first batch waits in it, and its whole stage with it, barriers included. */
  pass<T>(): StreamOperator<T, T>;
  open(): void;
  close(): void;
  /** Settles when a batch waits in the gate. */
  reached(): Promise<void>;
}

/** An open gate. It serves any number of attempts; one that ends while it is closed is let go. */
export function gate(): Gate {
  const onOpen = new Set<() => void>();
  const onReached = new Set<() => void>();
  let isOpen = true;

  const wait = ({ signal }: OperatorContext): Promise<void> =>
    new Promise((resolve) => {
      onOpen.add(resolve);
      signal.addEventListener('abort', () => {
        resolve();
      });
      callAll(onReached);
    });

  return {
    pass: () => (stream) =>
      transform([stream], {
        name: 'gate',
        isStateful: false,
        create: (context) => ({
          connect: (source) =>
            source.pipe(
              perBatch(context, (batch, target) => {
                if (isOpen) {
                  target.next(batch);
                  return;
                }
                context.flow.waitFor(wait(context));
                context.flow.suspend(() => {
                  target.next(batch);
                });
              }),
            ),
        }),
      }),
    open() {
      isOpen = true;
      callAll(onOpen);
    },
    close() {
      isOpen = false;
    },
    reached: () =>
      new Promise((resolve) => {
        if (!isOpen && onOpen.size > 0) resolve();
        else onReached.add(resolve);
      }),
  };
}

function callAll(listeners: Set<() => void>): void {
  for (const listener of listeners) listener();
  listeners.clear();
}
