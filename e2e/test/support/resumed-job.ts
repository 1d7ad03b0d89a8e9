import { createEnvironment, type JobEnd, type StartOptions } from '@weir/core';
import { nextTurn, SILENT, type Source, type SourceSplit } from '@weir/core/contracts';
import { keyBy, keyedProcess, tap, valueState, type Emit } from '@weir/core/operators';
import {
  assertExactlyOnce,
  CrashFileSystem,
  transactionalMemorySink,
  type TransactionalMemorySink,
} from '@weir/testkit';
import { pluginsOn } from './memory-disk.js';

/** One process of a job. */
export interface Life {
  readonly parallelism: number;
  readonly maxParallelism?: number;
  readonly restoreFrom: 'none' | 'auto' | 'latest' | 'path';
  /** Takes a checkpoint when so many records have come, and is left when its output is committed; absent: runs to its end. */
  readonly leaveAfter?: number;
}

const KEYS = 17;

/** A number, and the how-manieth of its key it is. */
interface Counted {
  readonly n: number;
  readonly count: number;
}

/** A job that counts numbers by key, is left and started again, over the same disk and sink. */
export class ResumedJob {
  readonly #sink: TransactionalMemorySink<Counted> = transactionalMemorySink<Counted>();
  readonly #disk = new CrashFileSystem();
  #pointer = '';

  /** What was committed. Fails unless every key was counted from 1 up, each count once. */
  get numbers(): readonly number[] {
    const numbers = this.#sink.visible.map(({ n }) => n);
    const seen = new Map<number, number>();
    const expected = numbers.map((n): readonly [number, number] => {
      const count = (seen.get(n % KEYS) ?? 0) + 1;
      seen.set(n % KEYS, count);
      return [n % KEYS, count];
    });
    assertExactlyOnce(
      this.#sink.visible.map(({ n, count }) => [n % KEYS, count]),
      expected,
    );
    return numbers;
  }

  async run<Split extends SourceSplit, P>(
    source: Source<number, 'replayable', Split, P>,
    { parallelism, maxParallelism, restoreFrom, leaveAfter }: Life,
  ): Promise<JobEnd> {
    const env = createEnvironment({ parallelism, maxParallelism, plugins: pluginsOn(this.#disk), logger: SILENT });
    env.enableCheckpointing();
    const process = new AbortController();
    let seen = 0;
    env
      .from(unhurried(source), { uid: 'in' })
      .pipe(
        keyBy((n) => n % KEYS),
        keyedProcess({
          uid: 'count',
          state: { count: valueState({ initial: () => 0 }) },
          onRecord(n, { state: { count } }, emit: Emit<Counted>) {
            count.update(count.value() + 1);
            emit({ n, count: count.value() });
          },
        }),
        tap(() => {
          if (++seen === leaveAfter) void job.triggerCheckpoint();
        }),
      )
      .to(this.#sink, { uid: 'out', guarantee: 'exactly-once' });
    const from: StartOptions['restoreFrom'] = restoreFrom === 'path' ? this.#pointer : restoreFrom;
    const job = await env.start('resumed', { restoreFrom: from, signal: process.signal });
    job.events$.subscribe((event) => {
      if (event.kind === 'checkpoint-completed') this.#pointer = event.pointer;
      if (event.kind === 'committed' && leaveAfter !== undefined) process.abort();
    });
    return job.done;
  }
}

/** The same source, a few records per turn, so that it can be left in the middle. */
function unhurried<T, Split extends SourceSplit, P>(
  source: Source<T, 'replayable', Split, P>,
): Source<T, 'replayable', Split, P> {
  return {
    ...source,
    async open(split, position, context) {
      const reader = await source.open(split, position, context);
      return {
        poll: async (max) => {
          await nextTurn(context.clock);
          return reader.poll(Math.min(max, 3));
        },
        position: () => reader.position(),
        close: () => reader.close(),
      };
    },
  };
}
