import { goesByTravellingKeys, type Partitioning } from '../channel/partitioner.js';
import type { RecordBatch } from '../element/element.js';
import { ChannelStateEncoder, type ChannelName, type EncodedChannelState } from '../snapshot/channel-state.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { withErrorContext } from '../state/with-error-context.js';

/**
 * What one checkpoint's barrier overtakes on the inputs of a subtask. Records are encoded as they are added, before anybody can change them
 * (Flink: ChannelStatePersister, ChannelStateWriter).
 */
export class InFlightCapture {
  readonly #encoders = new Map<number, ChannelStateEncoder>();
  readonly #persisted = new Map<number, ChannelStateEncoder>();
  #failure: { readonly error: unknown } | undefined;
  #settle: (outcome: 'complete' | 'discarded') => void = () => undefined;
  readonly #settled: Promise<'complete' | 'discarded'>;

  /** `inputs` by the number of the channel. */
  constructor(
    channels: readonly number[],
    inputs: readonly { readonly name: ChannelName; readonly partitioning: Partitioning }[],
  ) {
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    for (const channel of channels) {
      const input = inputs[channel];
      if (input === undefined) continue;
      const { name, partitioning } = input;
      const { consumer, producer } = name.edge;
      const serializer = withErrorContext(defaultSerializer, consumer, `records in flight from ${producer}`);
      const encoder = new ChannelStateEncoder(name, serializer, { keyed: goesByTravellingKeys(partitioning) });
      this.#encoders.set(channel, encoder);
      this.#persisted.set(channel, encoder);
    }
  }

  /** The records of the batch from `from` on, if the channel is still persisted. */
  add(channel: number, batch: RecordBatch<unknown>, from = 0): void {
    const encoder = this.#persisted.get(channel);
    if (encoder === undefined || this.#failure !== undefined) return;
    try {
      encoder.add(batch, from);
    } catch (error) {
      // What cannot be stored costs the checkpoint, not the job: without a checkpoint the record would have passed.
      this.#failure = { error };
    }
  }

  /** Nothing more of this channel. */
  end(channel: number): void {
    this.#persisted.delete(channel);
  }

  complete(): void {
    this.#settle('complete');
  }

  /** The checkpoint is over. */
  discard(): void {
    this.#persisted.clear();
    this.#encoders.clear();
    this.#settle('discarded');
  }

  /** Settles once every channel has delivered its barrier, with nothing if the checkpoint is over; rejects with the error of a record. */
  async encoded(): Promise<readonly EncodedChannelState[]> {
    if ((await this.#settled) === 'discarded') return [];
    if (this.#failure !== undefined) throw this.#failure.error;
    return [...this.#encoders.values()].flatMap((encoder) => encoder.finish() ?? []);
  }
}
