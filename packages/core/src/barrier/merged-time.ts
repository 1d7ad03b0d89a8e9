import type { IdleFlag, Watermark } from '../element/element.js';

type TimeSignal = Watermark | IdleFlag;

interface ChannelTime {
  time: number;
  isIdle: boolean;
}

/**
 * The event time of several channels as one: the smallest watermark of those that are not idle, never going back. A channel that was idle
 * and is behind the others counts again once it has caught up. All idle: their largest watermark, then idle (Flink: StatusWatermarkValve).
 */
export class MergedTime {
  readonly #channels = new Map<number, ChannelTime>();
  #time = -Infinity;
  #isIdle = false;

  constructor(channels: number) {
    for (let channel = 0; channel < channels; channel++)
      this.#channels.set(channel, { time: -Infinity, isIdle: false });
  }

  /** What is to be sent on after a watermark or idle flag of a channel. O(channels). */
  signal(channel: number, signal: TimeSignal): readonly TimeSignal[] {
    const own = this.#channels.get(channel);
    if (own === undefined) return [];
    if (signal.kind === 'idle') own.isIdle = signal.idle;
    else own.time = Math.max(own.time, signal.time);
    return this.#advance();
  }

  /** The channel has no more records and holds nobody back. */
  remove(channel: number): readonly TimeSignal[] {
    return this.#channels.delete(channel) ? this.#advance() : [];
  }

  #advance(): readonly TimeSignal[] {
    if (this.#channels.size === 0) return [];
    const all = [...this.#channels.values()];
    const active = all.filter((channel) => !channel.isIdle);
    const wasIdle = this.#isIdle;
    this.#isIdle = active.length === 0;
    if (this.#isIdle) {
      return wasIdle ? [] : [...this.#raise(Math.max(...all.map(timeOf))), { kind: 'idle', idle: true }];
    }
    const inStep = active.filter((channel) => channel.time >= this.#time);
    const raised = inStep.length === 0 ? [] : this.#raise(Math.min(...inStep.map(timeOf)));
    return wasIdle ? [{ kind: 'idle', idle: false }, ...raised] : raised;
  }

  #raise(time: number): readonly TimeSignal[] {
    if (time <= this.#time) return [];
    this.#time = time;
    return [{ kind: 'watermark', time }];
  }
}

function timeOf(channel: ChannelTime): number {
  return channel.time;
}
