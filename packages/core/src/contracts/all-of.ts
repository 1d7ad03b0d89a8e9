/** Settles when all of `promises` have, so that none goes on after a failure of another; rejects with the error of the first of them in the list that failed. */
export async function allOf(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === 'rejected') throw outcome.reason;
}
