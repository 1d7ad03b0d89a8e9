import { together } from '../errors.js';
import type { Awaitable } from './awaitable.js';

/** Settles when all of `promises` have, so that none goes on after a failure of another; rejects with the error of the first of them in the list that failed. */
export async function allOf(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === 'rejected') throw outcome.reason;
}

/** The same for what is being closed: of that every error is told. */
export async function allClosed(promises: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(promises);
  const errors = outcomes.flatMap((outcome): unknown[] => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (errors.length > 0) throw together(errors);
}

/** Takes every step of closing, one after the other, whatever the others do; then tells every error. */
export async function closeInTurn(steps: readonly (() => Awaitable<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw together(errors);
}
