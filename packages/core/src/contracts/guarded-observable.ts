import { isObservable, Observable, Subscriber, type Observer, type OperatorFunction, type Subscription } from 'rxjs';
import { observed } from './observed.js';

type Consumer<T> = Partial<Observer<T>> | ((value: T) => void) | null | undefined;

/**
 * An Observable that reports what its last subscribers throw, at once or in a promise, and errors that they do not handle, where RxJS would raise an
 * uncaught exception later. Holds for subscriptions to it and to what its `pipe` returns. `report` may throw: then RxJS does what it always does.
 */
export class GuardedObservable<T> extends Observable<T> {
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void, subscribe: (subscriber: Subscriber<T>) => Subscription) {
    super(subscribe);
    this.#report = report;
  }

  // Of any type, as in RxJS, where overloads say which operators fit together.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  override pipe(...operators: OperatorFunction<any, any>[]): any {
    const piped = operators.reduce<unknown>((source, operator) => operator(source as Observable<unknown>), this);
    if (piped === this || !isObservable(piped)) return piped;
    return new GuardedObservable(this.#report, (subscriber) => piped.subscribe(subscriber));
  }

  override subscribe(
    consumer?: Consumer<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // A Subscriber is an RxJS operator's: its consumer was guarded when it subscribed.
    if (consumer instanceof Subscriber) return super.subscribe(consumer);
    return super.subscribe(
      this.#guarded(
        typeof consumer === 'object' && consumer !== null ? consumer : observerOf(consumer, error, complete),
      ),
    );
  }

  #guarded(observer: Partial<Observer<T>>): Observer<T> {
    return {
      next: (value) => {
        observed(() => observer.next?.(value), this.#report);
      },
      error: (error: unknown) => {
        if (observer.error === undefined) this.#report(error);
        else observed(() => observer.error?.(error), this.#report);
      },
      complete: () => {
        observed(() => observer.complete?.(), this.#report);
      },
    };
  }
}

function observerOf<T>(
  next: ((value: T) => void) | null | undefined,
  error: ((error: unknown) => void) | null | undefined,
  complete: (() => void) | null | undefined,
): Partial<Observer<T>> {
  return { ...(next && { next }), ...(error && { error }), ...(complete && { complete }) };
}
