import type { Observable, Subscription } from 'rxjs';
import { subscribeWithin } from './observable-like.js';

/** What comes of one call of `open`: its records go to an intake until it is closed. */
export interface Opening {
  /** No more records come. Settles when what was opened has let go of its resources. Idempotent. */
  close(): Promise<void>;
}

/** The reader's side of an opening. */
export interface Intake<I> {
  /** False: no more for now. */
  readonly put: (item: I) => boolean;
  /** Settles when there is room again, if ever. */
  readonly room: () => Promise<void>;
  /** Opens anew behind the last item that was put. */
  readonly reopen: () => void;
  readonly complete: () => void;
  readonly fail: (error: unknown) => void;
}

/** Takes items as they are pushed. One that pushes more than there is room for is unsubscribed, and opened anew when there is. */
export function openPushed<I>(input: Observable<I>, intake: Intake<I>, lifetime: Subscription): Opening {
  const pause = async (): Promise<void> => {
    lifetime.unsubscribe();
    await intake.room();
    intake.reopen();
  };
  subscribeWithin<I>(lifetime, input, {
    next: (item) => {
      if (!intake.put(item)) pause().catch(intake.fail);
    },
    error: intake.fail,
    complete: intake.complete,
  });
  return {
    close: async () => {
      lifetime.unsubscribe();
    },
  };
}

/** Asks for one item after the other, and for none while there is no room: it is opened once, and its `finally` runs once. */
export function openPulled<I>(input: AsyncIterable<I>, intake: Intake<I>, lifetime: Subscription): Opening {
  const iterator = input[Symbol.asyncIterator]();
  let isDone = false;
  let returned: Promise<unknown> | undefined;
  const isWanted = (): boolean => !lifetime.closed;
  const pull = async (): Promise<void> => {
    try {
      while (isWanted()) {
        const result = await iterator.next();
        isDone = result.done === true;
        if (!isWanted()) return;
        if (result.done === true) {
          intake.complete();
          return;
        }
        if (!intake.put(result.value)) await intake.room();
      }
    } catch (error) {
      isDone = true;
      if (isWanted()) intake.fail(error);
    }
  };
  void pull();
  return {
    close: async () => {
      lifetime.unsubscribe();
      if (!isDone) returned ??= iterator.return?.();
      await returned;
    },
  };
}
