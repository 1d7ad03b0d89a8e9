import type { EndOfChannel, EndOfData } from '../element/element.js';
import { END_OF_CHANNEL } from '../element/element.js';

/**
 * The ends of several channels as one: end of data once every channel had it or ended, end of channel once every channel ended.
 * Markers are passed on if any channel sent one and are not invented for channels that just complete.
 */
export class ChannelEnds {
  readonly #channels: number;
  readonly #withoutData = new Set<number>();
  readonly #ended = new Set<number>();
  #drain = true;
  #isDataMarked = false;
  #isChannelMarked = false;

  constructor(channels: number) {
    this.#channels = channels;
  }

  hasData(channel: number): boolean {
    return !this.#withoutData.has(channel);
  }
  get allEnded(): boolean {
    return this.#ended.size === this.#channels;
  }

  /** No more records from the channel; with no marker it ended without saying so, which leaves nothing to drain. */
  endOfData(channel: number, marker?: EndOfData): EndOfData | undefined {
    if (marker !== undefined) {
      this.#isDataMarked = true;
      this.#drain &&= marker.drain;
    }
    this.#withoutData.add(channel);
    const isLast = this.#withoutData.size === this.#channels;
    return isLast && this.#isDataMarked ? { kind: 'end-of-data', drain: this.#drain } : undefined;
  }

  /** Idempotent: a channel may complete after its marker. */
  endOfChannel(channel: number, isMarked: boolean): EndOfChannel | undefined {
    this.#isChannelMarked ||= isMarked;
    this.#ended.add(channel);
    return this.allEnded && this.#isChannelMarked ? END_OF_CHANNEL : undefined;
  }
}
