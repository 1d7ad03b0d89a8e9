import { staticSplits, type Source, type SourceSplit } from '@weir/core/contracts';

/** What a message broker gives: a number that counts up in each queue, however often the message is delivered. */
export interface Message<T> {
  readonly number: number;
  readonly record: T;
}
export interface Broker<T> {
  /** At least one message that was not delivered to this consumer yet. Those that nobody has acknowledged come again, in order, to the next one. */
  receive(queue: string, consumer: object, max: number, signal: AbortSignal): Promise<readonly Message<T>[]>;
  acknowledge(queue: string, upTo: number): Promise<void>;
}

/** Takes from queues of a broker, and drops what comes again although its checkpoint is complete. */
export function queueSource<T>(
  broker: Broker<T>,
  queues: readonly string[],
): Source<T, 'acknowledging', SourceSplit, number> {
  return {
    grade: 'acknowledging',
    bounded: false,
    enumerator: (context) =>
      staticSplits(
        queues.map((id) => ({ id })),
        { context },
      ),
    async open({ id }, covered = 0, context) {
      const consumer = {};
      const closing = new AbortController();
      const signal = AbortSignal.any([context.signal, closing.signal]);
      let position = covered;
      return {
        async poll(max) {
          const messages = await broker.receive(id, consumer, max, signal).catch((error: unknown) => {
            if (closing.signal.aborted) return [];
            throw error;
          });
          const fresh = messages.filter(({ number }) => number > covered);
          // The checkpoint that this reader was opened from covers the others, and is durable: they are acknowledged at once.
          if (fresh.length < messages.length) await broker.acknowledge(id, covered);
          position = fresh.at(-1)?.number ?? position;
          return fresh.map(({ record }) => record);
        },
        position: () => position,
        completed: (_checkpointId, upTo) => broker.acknowledge(id, upTo),
        close: async () => {
          closing.abort();
        },
      };
    },
  };
}
