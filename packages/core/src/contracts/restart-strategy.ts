import type { Random } from './clock.js';

/** Decides after a failure whether and when to run the next attempt. Pure: all it remembers is in the state it returns. */
export interface RestartStrategy<S = unknown> {
  readonly type: string;
  /** Said in the error when it gives up: "fixed-delay (attempts 3, delay 10000 ms)". */
  readonly description: string;
  initial(): S;
  /** The state returned stays bounded however often it fails. */
  decide(state: S, failure: unknown, context: FailureContext): readonly [S, RestartDecision];
}
export interface FailureContext {
  /** Ms of a clock that never goes back. */
  readonly now: number;
  readonly random: Random;
  /**
   * A checkpoint that the job falls back to has completed since the failure before, or since the job began. If not, the next attempt begins where
   * this one did, however long it ran. True also where no checkpoints are taken: then nobody can tell.
   */
  readonly progressed: boolean;
}
export type RestartDecision =
  { readonly restart: true; readonly delayMs: number } | { readonly restart: false; readonly reason: string };
