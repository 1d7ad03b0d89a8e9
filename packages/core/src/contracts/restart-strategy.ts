import type { Random } from './clock.js';

/** Decides after a failure whether and when to run the next attempt. Pure: all it remembers is in the state it returns. */
export interface RestartStrategy<S = unknown> {
  readonly type: string;
  /** Said in the error when it gives up: "fixed-delay (attempts 3, delay 10000 ms)". */
  readonly description: string;
  initial(): S;
  /** `now` in ms of a clock that never goes back. The state returned stays bounded however often it fails. */
  decide(
    state: S,
    failure: unknown,
    context: { readonly now: number; readonly random: Random },
  ): readonly [S, RestartDecision];
}
export type RestartDecision =
  { readonly restart: true; readonly delayMs: number } | { readonly restart: false; readonly reason: string };
