import type { Committable, Committer, SinkWriter, SinkWriterContext } from '@weir/core/contracts';
import { sinkContext, VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { committedSink } from '../../src/rxjs/committed-sink.js';
import { JobOutput } from '../../src/rxjs/job-output.js';

const RESTORED = { lineage: 'lineage', checkpointId: 1 };

/** The sink of `committed`, driven as the engine does; `attempt` opens it once more. */
function bench(capacity = 100): {
  readonly seen: number[];
  readonly output: JobOutput<number>;
  readonly attempt: (changes?: Partial<SinkWriterContext>) => Promise<Attempt>;
} {
  const output = new JobOutput<number>();
  const seen: number[] = [];
  output.observable.subscribe((n) => seen.push(n));
  const sink = committedSink<number, number>(output, capacity, ({ records }) => records);
  let attempts = 0;
  return {
    seen,
    output,
    async attempt(changes = {}) {
      const context = sinkContext({ attempt: ++attempts, clock: new VirtualClock(), ...changes });
      await sink.prepare?.(context);
      const committer = (await sink.committer?.(context)) as Committer<readonly number[]>;
      return new Attempt(await sink.open(context), committer, context);
    },
  };
}

class Attempt {
  readonly writer: SinkWriter<number, readonly number[]>;
  readonly #committer: Committer<readonly number[]>;
  readonly #context: SinkWriterContext;
  #sequence = 0;

  constructor(
    writer: SinkWriter<number, readonly number[]>,
    committer: Committer<readonly number[]>,
    context: SinkWriterContext,
  ) {
    this.writer = writer;
    this.#committer = committer;
    this.#context = context;
  }

  async prepare(checkpointId: number): Promise<Committable<readonly number[]>[]> {
    const { job, lineage, uid, attempt, subtask } = this.#context;
    const payloads = (await this.writer.prepareCommit?.(checkpointId, 'checkpoint')) ?? [];
    return payloads.map((payload) => ({
      identity: { job, lineage, sink: uid, attempt, checkpointId, subtask, sequence: this.#sequence++ },
      payload,
    }));
  }

  commit(committables: readonly Committable<readonly number[]>[]): Promise<readonly { kind: string }[]> {
    return this.#committer.commit(committables, new AbortController().signal);
  }
}

/** Whether `promise` has settled once everything that can happen now has happened. */
async function settles(promise: Promise<void> | void): Promise<boolean> {
  let settled = false;
  void Promise.resolve(promise).then(() => (settled = true));
  await new VirtualClock().settle();
  return settled;
}

describe('the sink of committed', () => {
  test('emits what a checkpoint covers when that is committed, and nothing before', async () => {
    const { seen, attempt } = bench();
    const first = await attempt();
    expect(first.writer.write([1, 2])).toBe(undefined);
    const prepared = await first.prepare(1);
    void first.writer.write([3]);
    expect(prepared.map(({ payload }) => payload)).toEqual([[1, 2]]);
    expect(seen).toEqual([]);
    expect(await first.commit(prepared)).toEqual([{ kind: 'committed' }]);
    expect(seen).toEqual([1, 2]);
  });

  test('prepares nothing where there is nothing', async () => {
    const { attempt } = bench();
    expect(await (await attempt()).prepare(1)).toEqual([]);
  });

  test('emits once what a restart brings back, and what another process left', async () => {
    const { seen, attempt } = bench();
    const first = await attempt();
    void first.writer.write([1, 2]);
    const prepared = await first.prepare(1);
    await first.commit(prepared);
    const second = await attempt({ restoredFrom: RESTORED });
    expect(await second.commit(prepared)).toEqual([{ kind: 'already-committed' }]);
    expect(seen).toEqual([1, 2]);

    const elsewhere = bench();
    expect(await (await elsewhere.attempt({ restoredFrom: RESTORED })).commit(prepared)).toEqual([
      { kind: 'committed' },
    ]);
    expect(elsewhere.seen).toEqual([1, 2]);
  });

  test('emits to the end although a subscriber throws, fails the commit, and does not emit again', async () => {
    const { seen, output, attempt } = bench();
    output.observable.subscribe((n) => {
      if (n === 1) throw new Error('page is gone');
    });
    const first = await attempt();
    void first.writer.write([1, 2]);
    const prepared = await first.prepare(1);
    void first.writer.write([3]);
    const next = await first.prepare(2);
    expect(await first.commit([...prepared, ...next])).toMatchObject([
      { kind: 'failed', error: { message: 'page is gone' } },
      { kind: 'committed' },
    ]);
    expect(await (await attempt({ restoredFrom: RESTORED })).commit(prepared)).toEqual([{ kind: 'already-committed' }]);
    expect(seen).toEqual([1, 2, 3]);
  });

  test('gives the event loop a turn while it emits a long batch', async () => {
    const { seen, attempt } = bench(1e6);
    const clock = new VirtualClock();
    // Each look at the time takes a millisecond.
    const slow = Object.assign(Object.create(clock) as VirtualClock, {
      monotonic: () => clock.monotonic() + looks++,
      nextTurn: (action: () => void) => {
        turns.push(seen.length);
        return clock.nextTurn(action);
      },
    });
    let looks = 0;
    const turns: number[] = [];
    const first = await attempt({ clock: slow });
    void first.writer.write([1, 2, 3, 4, 5]);
    const commit = first.commit(await first.prepare(1));
    await clock.settle();
    await commit;
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    expect(turns.length).toBeGreaterThan(1);
  });

  describe('when more records than its capacity wait for a commit', () => {
    const waits = (): {
      nextBarrier: NonNullable<SinkWriterContext['nextBarrier']>;
      arrive: (() => void)[];
      given: AbortSignal[];
    } => {
      const arrive: (() => void)[] = [];
      const given: AbortSignal[] = [];
      const nextBarrier = (until: AbortSignal): Promise<void> => {
        given.push(until);
        return new Promise((resolve) => arrive.push(resolve));
      };
      return { nextBarrier, arrive, given };
    };

    test('holds the job back until a commit makes room', async () => {
      const { attempt } = bench(3);
      const { nextBarrier, given } = waits();
      const first = await attempt({ nextBarrier });
      expect(first.writer.write([1, 2])).toBe(undefined);
      const prepared = await first.prepare(1);
      const write = first.writer.write([3, 4]);
      expect(await settles(write)).toBe(false);
      await first.commit(prepared);
      expect(await settles(write)).toBe(true);
      expect(given.map(({ aborted }) => aborted)).toEqual([true]);
    });

    test('takes what is in front of a barrier, so that it arrives', async () => {
      const { attempt } = bench(2);
      const { nextBarrier, arrive } = waits();
      const first = await attempt({ nextBarrier });
      const write = first.writer.write([1, 2, 3]);
      expect(await settles(write)).toBe(false);
      arrive[0]?.();
      expect(await settles(write)).toBe(true);
      expect((await first.prepare(1)).map(({ payload }) => payload)).toEqual([[1, 2, 3]]);
    });

    test('fails if the host cannot tell it of barriers', async () => {
      const { attempt } = bench(2);
      const first = await attempt();
      await expect(first.writer.write([1, 2])).rejects.toMatchObject({ code: 'BUFFER_OVERFLOW' });
    });

    test('does not count what an earlier attempt left', async () => {
      const { attempt } = bench(4);
      const first = await attempt();
      void first.writer.write([1, 2, 3]);
      const prepared = await first.prepare(1);
      const { nextBarrier } = waits();
      const second = await attempt({ restoredFrom: RESTORED, nextBarrier });
      await second.commit(prepared);
      expect(second.writer.write([4, 5, 6])).toBe(undefined);
      expect(await settles(second.writer.write([7]))).toBe(false);
    });
  });
});
