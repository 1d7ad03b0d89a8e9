import type { Barrier } from './element.js';

/** It overtakes what waits in a channel, from now on and on every edge that allows it. */
export function isOvertaking({ snapshot, overtakesAfter, isForcedAligned }: Barrier): boolean {
  return snapshot === 'checkpoint' && overtakesAfter === 0 && isForcedAligned !== true;
}

/** It waits its turn, but will overtake once it has taken too long. */
export function isTimeoutable({ snapshot, overtakesAfter = 0, isForcedAligned }: Barrier): boolean {
  return snapshot === 'checkpoint' && overtakesAfter > 0 && isForcedAligned !== true;
}

/** Ms until the barrier may overtake, 0 from then on. `now` is epoch ms, as the trigger time is: all edges on the way share one timeout. */
export function overtakesIn({ timestamp, overtakesAfter = 0 }: Barrier, now: number): number {
  return Math.max(0, overtakesAfter - (now - timestamp));
}

/** The barrier for an edge on which none may overtake. */
export function forcedAligned(barrier: Barrier): Barrier {
  return barrier.overtakesAfter === undefined ? barrier : { ...barrier, isForcedAligned: true };
}

/** The barrier as it goes on: what forced it into line on one edge does not hold for the next, and one that has overtaken does so again. */
export function forwarded(barrier: Barrier, hasOvertaken: boolean): Barrier {
  const { isForcedAligned, ...rest } = barrier;
  if (hasOvertaken && rest.overtakesAfter !== undefined && rest.overtakesAfter > 0)
    return { ...rest, overtakesAfter: 0 };
  return isForcedAligned === true ? rest : barrier;
}
