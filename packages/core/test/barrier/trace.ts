import { barrier } from '@weir/core/barrier';
import type { Barrier, AlignmentInput, AlignmentMode, AlignmentOptions, AlignmentState } from '@weir/core/barrier';
import { alignment, isBlocked, pendingId, snapshotsOnTimeout, step } from '@weir/core/barrier';

/** Barriers by the letter of their token. */
const BARRIERS: Readonly<Record<string, (id: number) => Barrier>> = {
  B: (id) => barrier(id),
  U: (id) => ({ ...barrier(id), overtakesAfter: 0 }),
  P: (id) => ({ ...barrier(id), overtakesAfter: 10 }),
  S: (id) => ({ ...barrier(id, 0, 'savepoint'), overtakesAfter: 0 }),
  F: (id) => ({ ...barrier(id), overtakesAfter: 0, isForcedAligned: true }),
};

/**
 * Plays a script into an alignment and writes down what it does. `B(n,c)`: barrier of checkpoint n on channel c (`U`: one that overtakes, `P`:
 * one that overtakes once it has taken too long, `S`: of a savepoint, `F`: forced into line); `D(c)`: data, `D(c)*`: data that is in flight at the
 * checkpoint; `X(n,c)`: cancel marker; `E(c)`: the channel ends; `T(n)`: n has taken too long; `N(n)`: a barrier of n is
 * announced; `A(n)`: the coordinator aborts n. Each token takes
 * one unit of time.
 */
export class Trace {
  #state: AlignmentState;
  readonly #channels: number;
  now = 0;
  /** `snapshot 1`, or `abort 2 SUBSUMED` with the reason behind CHECKPOINT_DECLINED_. */
  readonly log: string[] = [];
  /** Channels that are persisted. */
  readonly persisted = new Set<number>();
  /** Checkpoints whose waiting barriers were let overtake, each time. */
  readonly letOvertake: number[] = [];
  /** Barriers as they went on. */
  readonly forwarded: Barrier[] = [];
  /** `now` minus `startedAt` of each snapshot. */
  readonly alignmentTimes: number[] = [];

  constructor(mode: AlignmentMode, channels: number, options: AlignmentOptions = {}) {
    this.#channels = channels;
    this.#state = alignment(mode, channels, options);
  }

  take(script: string): this {
    for (const token of script.split(' ').filter((t) => t !== '')) {
      const [, kind, numbers] = /^([BUPSFDXEATN])\(([\d,]+)\)\*?$/.exec(token) ?? [];
      if (kind === undefined || numbers === undefined) throw new Error(`no token: ${token}`);
      const [first = 0, second = 0] = numbers.split(',').map(Number);
      const barrierOf = BARRIERS[kind];
      const channel = barrierOf !== undefined || kind === 'X' ? second : first;
      // Only an end may become known while the channel is blocked.
      if ((barrierOf !== undefined || 'DX'.includes(kind)) && isBlocked(this.#state, channel))
        throw new Error(`${token}: channel ${channel} is blocked`);
      if (kind === 'D' && this.persisted.has(channel) !== token.endsWith('*'))
        throw new Error(`${token}: in flight are channels ${[...this.persisted].join()}`);
      if (barrierOf !== undefined) this.#step({ kind: 'barrier', channel, barrier: barrierOf(first) });
      if (kind === 'X') this.#step({ kind: 'cancel', channel, checkpointId: first });
      if (kind === 'E') this.#step({ kind: 'end-of-channel', channel });
      if (kind === 'T') this.#step({ kind: 'timeout', checkpointId: first });
      if (kind === 'N') this.#step({ kind: 'announced', checkpointId: first });
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
        this.forwarded.push(action.barrier);
      }
      if (action.kind === 'let-overtake') this.letOvertake.push(action.checkpointId);
      if (action.kind === 'persist') for (const channel of action.channels) this.persisted.add(channel);
      if (action.kind === 'persisted' && !this.persisted.delete(action.channel))
        throw new Error(`channel ${action.channel} ends twice`);
      if (action.kind === 'inputs-complete') this.log.push(`inputs ${action.checkpointId}`);
      if (action.kind === 'abort') {
        this.persisted.clear();
        const reason = action.reason?.replace('CHECKPOINT_DECLINED_', '') ?? 'BY_COORDINATOR';
        this.log.push(`abort ${action.checkpointId} ${reason}`);
      }
    }
  }

  snapshotsOnTimeout(checkpointId: number): boolean {
    return snapshotsOnTimeout(this.#state, checkpointId);
  }
  get blocked(): readonly number[] {
    return Array.from({ length: this.#channels }, (_, c) => c).filter((c) => isBlocked(this.#state, c));
  }
  get pending(): number | undefined {
    return pendingId(this.#state);
  }
}
