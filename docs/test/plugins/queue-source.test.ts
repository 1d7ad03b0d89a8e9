import { sourceSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { queueSource, type Broker, type Message } from '../../examples/plugins/queue-source.js';

/** Keeps what was not acknowledged, and delivers it to each consumer once. */
class MemoryBroker implements Broker<string> {
  readonly #queues: Map<string, readonly Message<string>[]>;
  readonly #delivered = new WeakMap<object, number>();

  constructor(queues: Readonly<Record<string, readonly string[]>>) {
    const numbered = (records: readonly string[]): Message<string>[] =>
      records.map((record, i) => ({ number: i + 1, record }));
    this.#queues = new Map(Object.entries(queues).map(([id, records]) => [id, numbered(records)]));
  }

  left(queue: string): readonly string[] {
    return (this.#queues.get(queue) ?? []).map(({ record }) => record);
  }

  async receive(
    queue: string,
    consumer: object,
    max: number,
    signal: AbortSignal,
  ): Promise<readonly Message<string>[]> {
    const after = this.#delivered.get(consumer) ?? 0;
    const messages = (this.#queues.get(queue) ?? []).filter(({ number }) => number > after).slice(0, max);
    const last = messages.at(-1);
    if (last === undefined) await new Promise((_, reject) => signal.addEventListener('abort', reject));
    this.#delivered.set(consumer, last?.number ?? after);
    return messages;
  }

  async acknowledge(queue: string, upTo: number): Promise<void> {
    const left = (this.#queues.get(queue) ?? []).filter(({ number }) => number > upTo);
    this.#queues.set(queue, left);
  }
}

const queues: Readonly<Record<string, readonly string[]>> = {
  orders: ['one', 'two', 'three', 'four', 'five'],
  'orders-2': ['only'],
  quiet: [],
};

describe('queue source', () => {
  sourceSuite(test, {
    capabilities: { grade: 'acknowledging', bounded: false },
    create() {
      const broker = new MemoryBroker(queues);
      return {
        source: () => queueSource(broker, Object.keys(queues)),
        expected: queues,
        unacknowledged: (queue) => broker.left(queue),
      };
    },
  });
});
