/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
