import { staticSplits, type Source, type SourceSplit } from '@weir/core/contracts';

/** One thing that this source does wrong. */
export type QueueFault =
  | 'acknowledges what it hands over'
  | 'acknowledges all that it has handed over'
  | 'acknowledges one too many'
  | 'acknowledges nothing'
  | 'acknowledges when it is closed'
  | 'does not acknowledge what it drops'
  | 'drops what no checkpoint covers'
  | 'cannot be told while it waits'
  | 'cannot be told twice';

export interface Message {
  /** Counts up in the order of delivery. */
  readonly number: number;
  readonly record: string;
}

/** Delivers again, in order, what was not acknowledged, to whoever comes next. */
export class Queue {
  readonly #messages: Message[];
  readonly #waiting = new Set<() => void>();
  /** The newest number that was delivered to anybody. */
  delivered = 0;

  constructor(records: readonly string[]) {
    this.#messages = records.map((record, i) => ({ number: i + 1, record }));
  }

  get unacknowledged(): readonly string[] {
    return this.#messages.map(({ record }) => record);
  }

  /** Up to `max` messages behind number `after`. */
  receive(after: number, max: number): readonly Message[] {
    const messages = this.#messages.filter(({ number }) => number > after).slice(0, max);
    this.delivered = Math.max(this.delivered, ...messages.map(({ number }) => number));
    return messages;
  }
  /** There will be no more: settles at `release`. */
  more(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
  release(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
  acknowledge(numbers: ReadonlySet<number>): void {
    const left = this.#messages.filter(({ number }) => !numbers.has(number));
    this.#messages.splice(0, this.#messages.length, ...left);
  }
}

/** Takes from queues, and drops what the checkpoint that it goes on from covers; right in everything but its fault. */
export function queueSource(
  queues: Readonly<Record<string, Queue>>,
  fault?: QueueFault,
): Source<string, 'acknowledging', SourceSplit, number> {
  return {
    grade: 'acknowledging',
    bounded: false,
    enumerator: () => staticSplits(Object.keys(queues).map((id) => ({ id }))),
    async open({ id }, covered = 0, { signal }) {
      const queue = queues[id] as Queue;
      // What was delivered in the process before, and may have gone no further than its memory.
      const known = fault === 'drops what no checkpoint covers' ? queue.delivered : covered;
      const unacknowledged = new Set<number>();
      let received = 0;
      let position = covered;
      let newest = 0;
      let isWaiting = false;
      let isClosed = false;
      const acknowledge = (upTo: number): void => {
        const numbers = new Set([...unacknowledged].filter((number) => number <= upTo));
        queue.acknowledge(numbers);
        for (const number of numbers) unacknowledged.delete(number);
      };
      const close = async (): Promise<void> => {
        isClosed = true;
        if (fault === 'acknowledges when it is closed') acknowledge(Infinity);
        queue.release();
      };
      signal.addEventListener('abort', () => void close());
      return {
        async poll(max) {
          while (!isClosed) {
            const messages = queue.receive(received, max);
            for (const { number } of messages) {
              received = number;
              if (number > known || fault !== 'does not acknowledge what it drops') unacknowledged.add(number);
            }
            // Covered by the checkpoint that was restored, and that is durable.
            if (fault !== 'acknowledges nothing') acknowledge(covered);
            const fresh = messages.filter(({ number }) => number > known);
            if (fresh.length > 0) {
              position = received;
              if (fault === 'acknowledges what it hands over') acknowledge(received);
              return fresh.map(({ record }) => record);
            }
            if (messages.length > 0) continue;
            isWaiting = true;
            await queue.more();
            isWaiting = false;
          }
          return [];
        },
        position: () => position,
        completed(checkpointId, upTo) {
          if (fault === 'cannot be told while it waits' && isWaiting) throw new Error('in the middle of a poll');
          if (fault === 'cannot be told twice' && checkpointId === newest + 1 && newest > 0)
            throw new Error('once more');
          newest = checkpointId;
          if (fault === 'acknowledges nothing') return;
          if (fault === 'acknowledges one too many') acknowledge(upTo + 1);
          else acknowledge(fault === 'acknowledges all that it has handed over' ? Infinity : upTo);
        },
        close,
      };
    },
  };
}
