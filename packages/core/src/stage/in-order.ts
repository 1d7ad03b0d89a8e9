import type { Awaitable } from '../contracts/awaitable.js';

/** Runs `step` for each item in order, waiting where a step asks for it; without any such step it stays synchronous. */
export function inOrder<T>(
  items: readonly T[],
  step: (item: T) => Awaitable<void> | undefined,
  from = 0,
): Awaitable<void> {
  for (let i = from; i < items.length; i++) {
    const result = step(items[i] as T);
    if (result !== undefined) return Promise.resolve(result).then(() => inOrder(items, step, i + 1));
  }
  return undefined;
}
