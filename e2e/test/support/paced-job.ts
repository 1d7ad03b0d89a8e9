import type { JobEvent, JobHandle } from '@weir/core';
import { staticSplits, type Source } from '@weir/core/contracts';
import type { VirtualClock } from '@weir/testkit';

/** The numbers below `count`, one every `everyMs`, in one split. `onOpen` is called for each reader. */
export function paced(
  count: number,
  everyMs: number,
  onOpen: () => void = () => undefined,
): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, start = 0, { clock }) => {
      onOpen();
      let next = start;
      return Promise.resolve({
        poll: () =>
          new Promise<readonly number[] | 'end'>((resolve) => {
            clock.timer(everyMs, () => {
              resolve(next < count ? [next++] : 'end');
            });
          }),
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Ends the process of a job: everything that its storage holds stays. */
export async function leaving(process: AbortController, job: JobHandle, clock: VirtualClock): Promise<void> {
  process.abort();
  let hasLeft = false;
  void job.done.catch(() => undefined).finally(() => (hasLeft = true));
  await clock.until(() => hasLeft);
}

export function ofKind<K extends JobEvent['kind']>(
  events: readonly JobEvent[],
  kind: K,
): Extract<JobEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<JobEvent, { kind: K }> => event.kind === kind);
}
