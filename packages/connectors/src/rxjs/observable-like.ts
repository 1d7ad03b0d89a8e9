import { Observable, type Observer, type Subscription } from 'rxjs';

/** What `fromObservable` subscribes to: an RxJS Observable of any copy or version, or the platform's own (WHATWG). */
export interface ObservableLike<out T> {
  subscribe(
    observer: { next(value: T): void; error(error: unknown): void; complete(): void },
    options?: { signal: AbortSignal },
  ): unknown;
}

/**
 * Subscribes for as long as `lifetime` is open. Unlike a Subscription that `subscribe` returns, it can be closed from within `next` while the source
 * still emits synchronously. What `subscribe` throws is an error of the source.
 */
export function subscribeWithin<T>(lifetime: Subscription, source: ObservableLike<T>, observer: Observer<T>): void {
  new Observable<T>((subscriber) => {
    lifetime.add(subscriber);
    const controller = new AbortController();
    subscriber.add(() => {
      controller.abort();
    });
    const handle = source.subscribe(subscriber, { signal: controller.signal });
    if (isUnsubscribable(handle)) {
      subscriber.add(() => {
        handle.unsubscribe();
      });
    }
  }).subscribe(observer);
}

function isUnsubscribable(handle: unknown): handle is { unsubscribe(): void } {
  return (
    typeof handle === 'object' && handle !== null && 'unsubscribe' in handle && typeof handle.unsubscribe === 'function'
  );
}
