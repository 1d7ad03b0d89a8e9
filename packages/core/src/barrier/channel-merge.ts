import type { Subscriber } from 'rxjs';
import type { EndOfData, IdleFlag, StreamElement, Watermark } from '../element/element.js';
import { cancelMarker } from '../element/element.js';
import { WeirError } from '../errors.js';
import type { AlignmentInput, AlignmentState } from './alignment.js';
import { alignment, isBlocked, pendingId, step } from './alignment.js';
import { ChannelEnds } from './channel-ends.js';
import type { Arrival } from './held-elements.js';
import { HeldElements } from './held-elements.js';
import { InFlightBatches, type InFlight } from './in-flight.js';
import { MergedTime } from './merged-time.js';
import type { AlignmentMode } from './modes.js';

export interface ChannelMergeOptions<T> {
  readonly mode: AlignmentMode;
  readonly channels: number;
  /** Records that may be held back, and that may be in flight, at once. */
  readonly bound: number;
  readonly inFlight: (inFlight: InFlight<T>) => void;
}

/** Carries out what the alignment decides, and merges everything else: several channels become one. Calls must not overlap. */
export class ChannelMerge<T> {
  readonly #options: ChannelMergeOptions<T>;
  readonly #out: Subscriber<StreamElement<T>>;
  readonly #held: HeldElements<T>;
  readonly #inFlight: InFlightBatches<T>;
  readonly #time: MergedTime;
  readonly #ends: ChannelEnds;
  #state: AlignmentState;
  #isUnblocked = false;

  constructor(options: ChannelMergeOptions<T>, out: Subscriber<StreamElement<T>>) {
    const { mode, channels, bound } = options;
    this.#options = options;
    this.#out = out;
    this.#held = new HeldElements(channels, bound);
    this.#inFlight = new InFlightBatches(channels, bound);
    this.#time = new MergedTime(channels);
    this.#ends = new ChannelEnds(channels);
    this.#state = alignment(mode, channels);
  }

  /** Takes the next arrival of a channel. Throws BUFFER_OVERFLOW if the channel is blocked and the bound is reached. */
  take(channel: number, arrival: Arrival<T>): void {
    if (isBlocked(this.#state, channel)) {
      if (!this.#held.hold(channel, arrival)) throw this.#overflow(channel);
      return;
    }
    this.#handle(channel, arrival);
    if (this.#isUnblocked) this.#drain();
  }

  #handle(channel: number, arrival: Arrival<T>): void {
    switch (arrival.kind) {
      case 'batch':
        if (!this.#inFlight.add(channel, arrival)) throw this.#tooMuchInFlight(channel);
        this.#out.next(arrival);
        return;
      case 'watermark':
      case 'idle':
        this.#send(this.#time.signal(channel, arrival));
        return;
      case 'barrier':
        this.#align({ kind: 'barrier', channel, barrier: arrival });
        return;
      case 'cancel':
        this.#align({ kind: 'cancel', channel, checkpointId: arrival.checkpointId });
        return;
      case 'end-of-data':
        this.#endOfData(channel, arrival);
        return;
      case 'end-of-channel':
      case 'completed':
        this.#endOfChannel(channel, arrival.kind === 'end-of-channel');
        return;
    }
  }

  #align(input: AlignmentInput): void {
    // How long an alignment took is of no interest here, so neither is the time.
    const [state, actions] = step(this.#state, input, 0);
    this.#state = state;
    for (const action of actions) {
      switch (action.kind) {
        case 'block':
        case 'let-overtake':
          // Whatever is here is taken as it comes: nothing waits in a channel.
          break;
        case 'unblock-all':
          this.#isUnblocked = true;
          break;
        case 'snapshot':
          this.#out.next(action.barrier);
          break;
        case 'persist':
          this.#inFlight.begin(action.channels);
          break;
        case 'persisted':
          this.#inFlight.end(action.channel);
          break;
        case 'inputs-complete':
          this.#options.inFlight(this.#inFlight.complete(action.checkpointId));
          break;
        case 'abort':
          this.#inFlight.discard();
          this.#out.next(cancelMarker(action.checkpointId));
          break;
      }
    }
  }

  #endOfData(channel: number, marker: EndOfData | undefined): void {
    // Stopped rather than drained: its timers are to fire after a restore, so the channel goes on holding back the watermark.
    if (marker?.drain !== false) this.#send(this.#time.remove(channel));
    const merged = this.#ends.endOfData(channel, marker);
    if (merged !== undefined) this.#out.next(merged);
  }

  #endOfChannel(channel: number, isMarked: boolean): void {
    if (this.#ends.hasData(channel)) this.#endOfData(channel, undefined);
    this.#align({ kind: 'end-of-channel', channel });
    const merged = this.#ends.endOfChannel(channel, isMarked);
    if (merged !== undefined) this.#out.next(merged);
    if (this.#ends.allEnded) this.#out.complete();
  }

  /** Round by round, one element of each channel, so that none waits for all that another one has piled up. */
  #drain(): void {
    let isMoving = true;
    while (isMoving) {
      isMoving = false;
      for (let channel = 0; channel < this.#options.channels; channel++) {
        if (isBlocked(this.#state, channel)) continue;
        const arrival = this.#held.take(channel);
        if (arrival === undefined) continue;
        this.#handle(channel, arrival);
        isMoving = true;
      }
    }
    this.#isUnblocked = false;
  }

  #send(elements: readonly (Watermark | IdleFlag)[]): void {
    for (const element of elements) this.#out.next(element);
  }

  #overflow(channel: number): WeirError {
    const { mode, bound } = this.#options;
    const name = mode === 'unaligned' ? 'maxBuffered' : 'maxBlocked';
    return new WeirError(
      'BUFFER_OVERFLOW',
      `channel ${channel} delivered the barrier of checkpoint ${String(pendingId(this.#state))} before others did, and more than ` +
        `${name} = ${bound} records had to be held back meanwhile. Raise ${name}, or slow down the channels that are ahead.`,
    );
  }

  #tooMuchInFlight(channel: number): WeirError {
    return new WeirError(
      'BUFFER_OVERFLOW',
      `channel ${channel} has not delivered the barrier of checkpoint ${String(pendingId(this.#state))} yet, and more than ` +
        `maxBuffered = ${this.#options.bound} records were in flight before it. Raise maxBuffered, or let the channel deliver its barrier sooner.`,
    );
  }
}
