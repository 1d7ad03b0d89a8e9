import type { Subscription } from 'rxjs';
import type { Channel } from '../channel/channel.js';
import { hashPartitioner, rebalancePartitioner, type Partitioner, type Partitioning } from '../channel/partitioner.js';
import { BATCH_SIZE, type Barrier, type ControlElement, type RecordBatch } from '../element/element.js';
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
  if (only !== undefined && channels.length === 1) return new WholeBatches([only]);
  switch (partitioning.kind) {
    case 'forward':
    case 'broadcast':
      return new WholeBatches(channels);
    case 'rebalance':
      return new Distributed(channels, rebalancePartitioner(channels.length, subtask));
    case 'hash':
      return new Distributed(channels, hashPartitioner(partitioning.keyOf, channels.length, maxParallelism));
  }
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

/** Sorts records into one growing batch per channel. */
class Distributed implements Output {
  readonly #channels: readonly Channel<unknown>[];
  readonly #partitioner: Partitioner;
  readonly #records: unknown[][];
  readonly #timestamps: number[][];
  #timed = false;

  constructor(channels: readonly Channel<unknown>[], partitioner: Partitioner) {
    this.#channels = channels;
    this.#partitioner = partitioner;
    this.#records = channels.map(() => []);
    this.#timestamps = channels.map(() => []);
  }

  emit({ records, timestamps }: RecordBatch<unknown>): void {
    if ((timestamps !== undefined) !== this.#timed) {
      this.flush();
      this.#timed = timestamps !== undefined;
    }
    const partitioner = this.#partitioner;
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      const channel = partitioner(record);
      const buffer = this.#records[channel] as unknown[];
      buffer.push(record);
      if (timestamps !== undefined) (this.#timestamps[channel] as number[]).push(timestamps[i] as number);
      if (buffer.length >= BATCH_SIZE) this.#send(channel);
    }
  }

  flush(): void {
    for (let channel = 0; channel < this.#channels.length; channel++) this.#send(channel);
  }

  #send(channel: number): void {
    const records = this.#records[channel] as unknown[];
    if (records.length === 0) return;
    this.#records[channel] = [];
    if (this.#timed) {
      const timestamps = this.#timestamps[channel] as number[];
      this.#timestamps[channel] = [];
      this.#channels[channel]?.send({ kind: 'batch', records, timestamps });
    } else this.#channels[channel]?.send({ kind: 'batch', records });
  }
}
