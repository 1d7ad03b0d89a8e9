import type { Subscription } from 'rxjs';
import type { Channel } from '../channel/channel.js';
import {
  keyPartitioner,
  keysFor,
  rebalancePartitioner,
  type HashPartitioning,
  type KeyPartitioner,
  type Partitioner,
  type Partitioning,
} from '../channel/partitioner.js';
import { BATCH_SIZE, batchOf, type Barrier, type ControlElement, type RecordBatch } from '../element/element.js';
import type { Key } from '../element/key.js';
import { WeirError } from '../errors.js';
import { forcedAligned, isOvertaking } from '../element/overtaking.js';

/** One edge out of a stage: the channels to the subtasks of the consumer. */
export interface OutputEdge {
  readonly partitioning: Partitioning;
  /** All of them for an exchange, one for forward. */
  readonly channels: readonly Channel<unknown>[];
  readonly maxParallelism: number;
  /** Barriers may overtake records on it. */
  readonly mayOvertake: boolean;
}

/** Takes what a stage emits to the channels it belongs in. */
export class Router {
  readonly #edges: readonly OutputEdge[];
  readonly #outputs: readonly Output[];
  readonly #channels: readonly Channel<unknown>[];
  readonly #subscriptions: readonly Subscription[];
  #withoutDemand = 0;
  /** Records that the stage has emitted. */
  records = 0;

  constructor(edges: readonly OutputEdge[], subtask: number, onDemand: () => void) {
    this.#edges = edges;
    this.#outputs = edges.map((edge) => outputFor(edge, subtask));
    this.#channels = edges.flatMap(({ channels }) => channels);
    this.#subscriptions = this.#channels.map((channel) => {
      let had = true;
      return channel.demand$.subscribe((has) => {
        if (has === had) return;
        had = has;
        this.#withoutDemand += has ? -1 : 1;
        if (this.#withoutDemand === 0) onDemand();
      });
    });
  }

  /** False while any channel's buffer is full. */
  get hasDemand(): boolean {
    return this.#withoutDemand === 0;
  }

  /** The consumers have taken every record. */
  get isDrained(): boolean {
    return this.#channels.every(({ bufferedRecords }) => bufferedRecords === 0);
  }

  emit(batch: RecordBatch<unknown>): void {
    // Channels count records: any number of batches without would fit into one.
    if (batch.records.length === 0) return;
    this.records += batch.records.length;
    for (const output of this.#outputs) output.emit(batch);
  }

  /** Sends partial batches now: before a control element, and when there is nothing more to say for the moment. */
  flush(): void {
    for (const output of this.#outputs) output.flush();
  }

  broadcast(element: ControlElement): void {
    this.flush();
    for (const channel of this.#channels) channel.send(element);
  }

  /** A barrier that overtakes is there at once, however full the channels are; where it may not it waits its turn, and is aligned. */
  forward(barrier: Barrier): void {
    this.flush();
    this.#forward(barrier, (_channel, pass) => {
      pass();
    });
  }

  /** As `forward`, behind everything that was sent but the end of the channels, which their consumers may not have come to yet. */
  forwardBeforeEnd(barrier: Barrier): void {
    this.#forward(barrier, (channel, pass) => {
      channel.beforeEnd(pass);
    });
  }

  #forward(barrier: Barrier, into: (channel: Channel<unknown>, pass: () => void) => void): void {
    for (const { channels, mayOvertake } of this.#edges) {
      for (const channel of channels) {
        into(channel, () => {
          if (!mayOvertake) channel.send(forcedAligned(barrier));
          else if (isOvertaking(barrier)) channel.overtake(barrier);
          else channel.send(barrier);
        });
      }
    }
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }
}

interface Output {
  emit(batch: RecordBatch<unknown>): void;
  flush(): void;
}

function outputFor({ partitioning, channels, maxParallelism }: OutputEdge, subtask: number): Output {
  const [only] = channels;
  if (only !== undefined && channels.length === 1)
    return partitioning.kind === 'hash' && keysTravel(partitioning)
      ? new Keyed([only], partitioning)
      : new WholeBatches([only]);
  switch (partitioning.kind) {
    case 'forward':
    case 'broadcast':
      return new WholeBatches(channels);
    case 'rebalance':
      return new Distributed(channels, rebalancePartitioner(channels.length, subtask));
    case 'hash':
      return hashed(channels, partitioning, keyPartitioner(channels.length, maxParallelism));
  }
}

function hashed(
  channels: readonly Channel<unknown>[],
  partitioning: HashPartitioning,
  channelOf: KeyPartitioner,
): Output {
  const { keyOf } = partitioning;
  if (keyOf === undefined || keysTravel(partitioning)) return new DistributedByKey(channels, partitioning, channelOf);
  return new Distributed(channels, (record) => channelOf(keyOf(record as never)));
}

/** Somebody behind the edge reads the keys, and they are not in the batches yet. */
function keysTravel({ keyOf, column }: HashPartitioning): boolean {
  return keyOf !== undefined && column?.isRead === true;
}

class WholeBatches implements Output {
  readonly #channels: readonly Channel<unknown>[];
  constructor(channels: readonly Channel<unknown>[]) {
    this.#channels = channels;
  }
  emit(batch: RecordBatch<unknown>): void {
    for (const channel of this.#channels) channel.send(batch);
  }
  flush(): void {
    // Nothing is held back.
  }
}

/** As whole batches, each with the keys of its records. */
class Keyed implements Output {
  readonly #channels: WholeBatches;
  readonly #partitioning: HashPartitioning;
  constructor(channels: readonly Channel<unknown>[], partitioning: HashPartitioning) {
    this.#channels = new WholeBatches(channels);
    this.#partitioning = partitioning;
  }
  emit(batch: RecordBatch<unknown>): void {
    this.#channels.emit(batchOf(batch.records, batch.timestamps, keysFor(this.#partitioning, batch)));
  }
  flush(): void {
    // Nothing is held back.
  }
}

/** Sorts records into one growing batch per channel. */
class Distributed implements Output {
  readonly #partitioner: Partitioner;
  readonly #growing: GrowingBatches;

  constructor(channels: readonly Channel<unknown>[], partitioner: Partitioner) {
    this.#partitioner = partitioner;
    this.#growing = new GrowingBatches(channels);
  }

  emit({ records, timestamps }: RecordBatch<unknown>): void {
    const growing = this.#growing;
    const partitioner = this.#partitioner;
    growing.begin(timestamps !== undefined);
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      growing.add(partitioner(record), record, timestamps?.[i]);
    }
  }

  flush(): void {
    this.#growing.flush();
  }
}

/** Sorts records and their keys into one growing batch per channel. */
class DistributedByKey implements Output {
  readonly #partitioning: HashPartitioning;
  readonly #channelOf: KeyPartitioner;
  readonly #growing: GrowingBatches;

  constructor(channels: readonly Channel<unknown>[], partitioning: HashPartitioning, channelOf: KeyPartitioner) {
    this.#partitioning = partitioning;
    this.#channelOf = channelOf;
    this.#growing = new GrowingBatches(channels);
  }

  emit(batch: RecordBatch<unknown>): void {
    const { records, timestamps } = batch;
    const growing = this.#growing;
    const keys = keysFor(this.#partitioning, batch);
    if (keys === undefined)
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        'Records have come to an exchange by key without the keys that were to travel with them.',
        {
          recoverable: false,
        },
      );
    growing.begin(timestamps !== undefined);
    for (let i = 0; i < records.length; i++) {
      const key = keys[i] as Key;
      growing.addKeyed(this.#channelOf(key), records[i], timestamps?.[i], key);
    }
  }

  flush(): void {
    this.#growing.flush();
  }
}

/** One batch for each channel, which is sent when it is full. */
class GrowingBatches {
  readonly #channels: readonly Channel<unknown>[];
  readonly #records: unknown[][];
  readonly #timestamps: number[][];
  readonly #keys: Key[][];
  #timed = false;

  constructor(channels: readonly Channel<unknown>[]) {
    this.#channels = channels;
    this.#records = channels.map(() => []);
    this.#timestamps = channels.map(() => []);
    this.#keys = channels.map(() => []);
  }

  /** What comes next has times, or has none. */
  begin(timed: boolean): void {
    if (timed === this.#timed) return;
    this.flush();
    this.#timed = timed;
  }

  add(channel: number, record: unknown, timestamp: number | undefined): void {
    const buffer = this.#records[channel] as unknown[];
    buffer.push(record);
    if (timestamp !== undefined) (this.#timestamps[channel] as number[]).push(timestamp);
    if (buffer.length >= BATCH_SIZE) this.#send(channel);
  }

  addKeyed(channel: number, record: unknown, timestamp: number | undefined, key: Key): void {
    (this.#keys[channel] as Key[]).push(key);
    this.add(channel, record, timestamp);
  }

  flush(): void {
    for (let channel = 0; channel < this.#channels.length; channel++) this.#send(channel);
  }

  #send(channel: number): void {
    const records = this.#records[channel] as unknown[];
    if (records.length === 0) return;
    const timestamps = this.#timestamps[channel] as number[];
    const keys = this.#keys[channel] as Key[];
    this.#records[channel] = [];
    if (this.#timed) this.#timestamps[channel] = [];
    if (keys.length > 0) this.#keys[channel] = [];
    this.#channels[channel]?.send(
      batchOf(records, this.#timed ? timestamps : undefined, keys.length > 0 ? keys : undefined),
    );
  }
}
