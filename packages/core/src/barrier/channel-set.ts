/** An immutable set of channel numbers: one bit each, so that a copy with one channel more or less takes a few bytes of many. */
export class ChannelSet implements Iterable<number> {
  /** The empty set. */
  static readonly NONE: ChannelSet = new ChannelSet(new Uint32Array(0), 0);

  readonly size: number;
  readonly #words: Uint32Array;

  private constructor(words: Uint32Array, size: number) {
    this.#words = words;
    this.size = size;
  }

  /** The channels from 0 to `channels` - 1. */
  static all(channels: number): ChannelSet {
    const words = new Uint32Array(Math.ceil(channels / 32)).fill(0xffff_ffff);
    if (channels % 32 !== 0) words[words.length - 1] = 2 ** (channels % 32) - 1;
    return new ChannelSet(words, channels);
  }

  has(channel: number): boolean {
    return ((this.#words[channel >>> 5] ?? 0) & (1 << (channel & 31))) !== 0;
  }

  with(channel: number): ChannelSet {
    if (this.has(channel)) return this;
    const words = new Uint32Array(Math.max(this.#words.length, (channel >>> 5) + 1));
    words.set(this.#words);
    words[channel >>> 5] = (words[channel >>> 5] as number) | (1 << (channel & 31));
    return new ChannelSet(words, this.size + 1);
  }

  without(channel: number): ChannelSet {
    if (!this.has(channel)) return this;
    const words = this.#words.slice();
    words[channel >>> 5] = (words[channel >>> 5] as number) & ~(1 << (channel & 31));
    return new ChannelSet(words, this.size - 1);
  }

  /** Ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (const [index, word] of this.#words.entries())
      for (let bit = 0; bit < 32; bit++) if ((word & (1 << bit)) !== 0) yield index * 32 + bit;
  }
}
