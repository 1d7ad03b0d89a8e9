import type { Channel } from '../channel/channel.js';
import type { Serializer } from '../contracts/serializer.js';
import type { RecordBatch, StreamElement } from '../element/element.js';
import { ChannelStateEncoder, readChannelState, type ChannelName } from '../snapshot/channel-state.js';
import type { FeedbackSpill, Frame } from './feedback-spill.js';

/** Batches are collected until they are worth a write. */
const FRAME_BYTES = 64 * 1024;

/** A batch, or several, on disk. */
interface Spilled {
  readonly kind: 'spilled';
  readonly frame: Frame;
  readonly count: number;
  readonly timed: boolean;
}
type Entry = StreamElement<unknown> | Spilled;

/** What the queues of one head share. */
export interface FeedbackRoom {
  readonly serializer: Serializer;
  /** Records that may be in memory. */
  readonly maxRecords: number;
  readonly spill: FeedbackSpill;
  /** Something can be taken that could not before. */
  readonly onArrival: () => void;
  readonly onFailed: (error: unknown) => void;
  /** Records in memory now. */
  inMemory: number;
}

/**
 * What one feedback channel has brought and the head of the loop has not taken yet, in order. Never says no: what does not fit into memory goes to
 * disk, and what comes behind it too until it has been read back.
 */
export class FeedbackQueue {
  readonly #name: ChannelName;
  readonly #room: FeedbackRoom;
  #entries: (Entry | undefined)[] = [];
  #head = 0;
  /** Records that are on disk, or will be. */
  #spilled = 0;
  /** The newest records, not enough for a write yet. */
  #collected: ChannelStateEncoder | undefined;
  /** The oldest records are being fetched from disk. */
  isLoading = false;
  /** Records that wait, wherever. */
  records = 0;

  /** Takes everything from the channel as soon as it comes, so that the channel is always empty and always has demand. */
  constructor(channel: Channel<unknown>, name: ChannelName, room: FeedbackRoom) {
    this.#name = name;
    this.#room = room;
    channel.subscribe((element) => {
      this.#put(element);
    });
    channel.onArrival = () => {
      while (channel.request());
      room.onArrival();
    };
  }

  get isEmpty(): boolean {
    return this.#head === this.#entries.length && this.#collected === undefined;
  }

  /** The oldest element, if it is at hand: one that is on disk is fetched. */
  get next(): StreamElement<unknown> | undefined {
    if (this.#head === this.#entries.length) this.#takeCollected();
    const entry = this.#entries[this.#head];
    if (entry?.kind !== 'spilled') return entry;
    if (!this.isLoading) void this.#load(entry);
    return undefined;
  }

  /** Removes the oldest element. */
  take(): void {
    const { next } = this;
    if (next === undefined) return;
    this.#entries[this.#head++] = undefined;
    if (this.#head === this.#entries.length) {
      this.#entries = [];
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    if (next.kind === 'batch') {
      this.records -= next.records.length;
      this.#room.inMemory -= next.records.length;
    }
  }

  #put(element: StreamElement<unknown>): void {
    if (element.kind !== 'batch') {
      this.#seal();
      this.#entries.push(element);
      return;
    }
    const { length } = element.records;
    if (length === 0) return;
    this.records += length;
    if (this.#spilled === 0 && this.#room.inMemory + length <= this.#room.maxRecords) {
      this.#room.inMemory += length;
      this.#entries.push(element);
    } else this.#collect(element);
  }

  #collect(batch: RecordBatch<unknown>): void {
    this.#collected ??= new ChannelStateEncoder(this.#name, this.#room.serializer, { kind: 'loop' });
    this.#collected.add(batch);
    this.#spilled += batch.records.length;
    if (this.#collected.size >= FRAME_BYTES) this.#seal();
  }

  /** What was collected goes to disk. */
  #seal(): void {
    const collected = this.#collected?.finish();
    if (collected === undefined) return;
    const { count, timed, bytes } = collected;
    this.#collected = undefined;
    this.#entries.push({ kind: 'spilled', frame: this.#room.spill.write(bytes), count, timed });
  }

  /** Nothing is in front of it any more, so it need not go to disk. */
  #takeCollected(): void {
    const collected = this.#collected?.finish();
    if (collected === undefined) return;
    this.#collected = undefined;
    this.#entries.push(...this.#decoded(collected, collected.bytes));
  }

  async #load(spilled: Spilled): Promise<void> {
    this.isLoading = true;
    try {
      const bytes = await this.#room.spill.read(spilled.frame);
      this.#entries.splice(this.#head, 1, ...this.#decoded(spilled, bytes));
    } catch (error) {
      this.#room.onFailed(error);
      return;
    }
    this.isLoading = false;
    this.#room.onArrival();
  }

  #decoded(of: Pick<Spilled, 'count' | 'timed'>, bytes: Uint8Array): readonly RecordBatch<unknown>[] {
    const { serializer } = this.#room;
    this.#spilled -= of.count;
    this.#room.inMemory += of.count;
    return readChannelState({ ...of, serializer }, bytes, serializer, 'what a loop had spilled to disk');
  }
}
