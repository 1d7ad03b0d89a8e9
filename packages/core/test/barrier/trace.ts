import { barrier } from '@weir/core/barrier';
import type { AlignmentInput, AlignmentMode, AlignmentOptions, AlignmentState } from '@weir/core/barrier';
import { alignment, isBlocked, pendingId, step } from '@weir/core/barrier';

/**
 * Plays a script into an alignment and writes down what it does. `B(n,c)`: barrier of checkpoint n on channel c; `D(c)`: data;
 * `X(n,c)`: cancel marker; `E(c)`: the channel ends; `A(n)`: the coordinator aborts n. Each token takes one unit of time.
 */
export class Trace {
  #state: AlignmentState;
  readonly #channels: number;
  now = 0;
  /** `snapshot 1`, or `abort 2 SUBSUMED` with the reason behind CHECKPOINT_DECLINED_. */
  readonly log: string[] = [];
  /** `now` minus `startedAt` of each snapshot. */
  readonly alignmentTimes: number[] = [];

  constructor(mode: AlignmentMode, channels: number, options: AlignmentOptions = {}) {
    this.#channels = channels;
    this.#state = alignment(mode, channels, options);
  }

  take(script: string): this {
    for (const token of script.split(' ').filter((t) => t !== '')) {
      const [, kind, numbers] = /^([BDXEA])\(([\d,]+)\)$/.exec(token) ?? [];
      if (kind === undefined || numbers === undefined) throw new Error(`no token: ${token}`);
      const [first = 0, second = 0] = numbers.split(',').map(Number);
      const channel = kind === 'B' || kind === 'X' ? second : first;
      // Only an end may become known while the channel is blocked.
      if ('BDX'.includes(kind) && isBlocked(this.#state, channel))
        throw new Error(`${token}: channel ${channel} is blocked`);
      if (kind === 'B') this.#step({ kind: 'barrier', channel, barrier: barrier(first) });
      if (kind === 'X') this.#step({ kind: 'cancel', channel, checkpointId: first });
      if (kind === 'E') this.#step({ kind: 'end-of-channel', channel });
      if (kind === 'A') this.#step({ kind: 'abort', checkpointId: first });
      this.now++;
    }
    return this;
  }

  #step(input: AlignmentInput): void {
    const [state, actions] = step(this.#state, input, this.now);
    this.#state = state;
    for (const action of actions) {
      if (action.kind === 'snapshot') {
        this.log.push(`snapshot ${action.barrier.checkpointId}`);
        this.alignmentTimes.push(this.now - action.startedAt);
      }
      if (action.kind === 'abort') {
        const reason = action.reason?.replace('CHECKPOINT_DECLINED_', '') ?? 'BY_COORDINATOR';
        this.log.push(`abort ${action.checkpointId} ${reason}`);
      }
    }
  }

  get blocked(): readonly number[] {
    return Array.from({ length: this.#channels }, (_, c) => c).filter((c) => isBlocked(this.#state, c));
  }
  get pending(): number | undefined {
    return pendingId(this.#state);
  }
}
