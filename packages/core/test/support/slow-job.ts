import { expect } from 'vitest';
import { sleep } from '../../src/contracts/clock.js';
import { map } from '../../src/operators.js';
import type { Stream } from '../../src/graph/stream.js';
import { AttemptBench, plan, type AttemptBenchOptions, type TakenCheckpoint } from './attempt-bench.js';
import { committingSink, Outside } from './committing-sink.js';
import { RescaledCheckpoint } from './rescaled-checkpoint.js';
import { splitSource } from './split-source.js';
import { TickingClock } from './ticking-clock.js';

export type Numbers = Stream<number, 'replayable'>;
export const WRITE_MS = 10;
export const passOn = map((n: number) => n);
export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

export interface SlowJobOptions extends Partial<AttemptBenchOptions> {
  readonly count?: number;
  readonly parallelism?: number;
  /** Of the source: with little in each poll, what fits into a channel takes many writes. Default: all that it is asked for. */
  readonly perPoll?: number;
}

/** A job in front of a sink that takes `WRITE_MS` for each write, over as many attempts as a test needs. */
export class SlowJob {
  readonly clock = new TickingClock();
  readonly outside = new Outside<number>();
  readonly #between: (s: Numbers) => Numbers;
  readonly #options: SlowJobOptions & { readonly count: number; readonly parallelism: number };
  #attempts = 0;
  written = 0;
  read = 0;

  constructor(between: (s: Numbers) => Numbers, options: SlowJobOptions = {}) {
    this.#between = between;
    this.#options = { count: 100_000, parallelism: 1, overtakesAfter: 0, ...options };
  }

  async attempt(restore?: TakenCheckpoint, parallelism = this.#options.parallelism): Promise<AttemptBench> {
    const { count, perPoll = Number.POSITIVE_INFINITY, ...options } = this.#options;
    const described = plan((from) => {
      from(
        splitSource([upTo(count)], {
          polls: () => ({ count: perPoll, isAsync: false }),
          onReader: (_split, reader) => ({
            ...reader,
            poll: (max) => {
              const records = reader.poll(max);
              if (Array.isArray(records)) this.read += records.length;
              return records;
            },
          }),
        }),
        { uid: 'in', parallelism: 1 },
      )
        .pipe(this.#between)
        .to(
          committingSink(this.outside, {
            onWrite: async (batch) => {
              await sleep(this.clock, WRITE_MS);
              this.written += batch.length;
            },
          }),
          { uid: 'out' },
        );
    }, parallelism);
    const checkpoint = restore === undefined ? undefined : new RescaledCheckpoint(restore, described);
    const attempt = ++this.#attempts;
    const bench = new AttemptBench(described, { clock: this.clock, ...options, attempt, restore: checkpoint });
    await bench.run();
    return bench;
  }

  async crash(bench: AttemptBench): Promise<void> {
    bench.attempt.fail(new Error('crash'));
    let isClosed = false;
    void bench.attempt.close('failed').then(() => (isClosed = true));
    await this.clock.until(() => isClosed);
  }

  /** Runs to the end, and gives what has become visible. */
  async finish(bench: AttemptBench): Promise<readonly number[]> {
    let isEnded = false;
    void bench.attempt.allEnded.then(() => (isEnded = true));
    await this.clock.until(() => isEnded);
    const final = await bench.trigger(1000);
    await this.clock.advance(10 * WRITE_MS);
    expect(final.isComplete).toBe(true);
    const told = bench.complete(final);
    await this.clock.advance(WRITE_MS);
    await told;
    await bench.attempt.close('finished');
    return this.outside.visible;
  }
}

/** Records that were in flight at the checkpoint. */
export const countInFlight = (checkpoint: TakenCheckpoint): number =>
  checkpoint.inFlight.reduce((sum, { count }) => sum + count, 0);
