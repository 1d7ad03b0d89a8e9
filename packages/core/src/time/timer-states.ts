import type { TimeDomain } from './timers.js';

export const TIMER_DOMAINS: readonly TimeDomain[] = ['event', 'processing'];

/** Timers are keyed state, so that every backend snapshots, restores and rescales them without knowing: a map state with their times as keys. */
export function timerStateOf(domain: TimeDomain): string {
  return `~timers-${domain}`;
}

/** Undefined: it is a state of the user's. */
export function timerDomainOf(state: string): TimeDomain | undefined {
  return TIMER_DOMAINS.find((domain) => timerStateOf(domain) === state);
}
