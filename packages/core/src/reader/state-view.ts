import { from, type Observable } from 'rxjs';

/** What was stored, read anew each time it is gone through, as far as it is gone through. */
export interface StateView<E> extends AsyncIterable<E> {
  /** The same as an Observable: cold, reads while it is subscribed to. */
  toObservable(): Observable<E>;
}

export function viewOf<E>(read: () => AsyncGenerator<E, void, undefined>): StateView<E> {
  const view: AsyncIterable<E> = { [Symbol.asyncIterator]: read };
  return { ...view, toObservable: () => from(view) };
}
