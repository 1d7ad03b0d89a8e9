import { fc, test as property } from '@fast-check/vitest';
import { VirtualClock } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import type { CommitOutcome, Committer } from '../../src/contracts/sink.js';
import type { Committable } from '../../src/contracts/snapshot.js';
import { WeirError } from '../../src/errors.js';
import { CommitQueue } from '../../src/operator/commit-queue.js';
import { deferred } from '../support/deferred.js';
import { operatorContext } from '../support/operator-context.js';

const committable = (sequence: number): Committable => ({
  identity: { job: 'test', lineage: 'l', sink: 'out', attempt: 1, checkpointId: 1, subtask: 0, sequence },
  payload: sequence,
});
const sequences = (committables: readonly Committable[]): number[] =>
  committables.map(({ identity }) => identity.sequence);
const COMMITTED: CommitOutcome = { kind: 'committed' };
const RETRY: CommitOutcome = { kind: 'retry', error: new Error('busy') };

interface Bench {
  readonly queue: CommitQueue;
  readonly clock: VirtualClock;
  readonly abort: AbortController;
  readonly tries: { readonly at: number; readonly sequences: readonly number[] }[];
  readonly warnings: string[];
}
function bench(
  commit: Committer['commit'],
  verify: () => Promise<void> = () => Promise.resolve(),
  retries = 10,
): Bench {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const tries: { at: number; sequences: number[] }[] = [];
  const warnings: string[] = [];
  const logger = {
    debug: noop,
    info: noop,
    error: noop,
    child: () => logger,
    warn: (fields: object) =>
      warnings.push(JSON.stringify({ ...fields, err: String((fields as { err?: unknown }).err) })),
  };
  const committer: Committer = {
    commit: (committables, signal) => {
      tries.push({ at: clock.now(), sequences: sequences(committables) });
      return commit(committables, signal);
    },
  };
  const context = operatorContext({ uid: 'out', clock, signal: abort.signal, logger });
  return { queue: new CommitQueue(context, committer, { verify, retries }), clock, abort, tries, warnings };
}
const noop = (): void => undefined;

describe('commits', () => {
  test('come one after the other, in the order they were asked for, each told what is due only when its turn comes', async () => {
    const first = deferred<readonly CommitOutcome[]>();
    const it = bench((committables) =>
      sequences(committables)[0] === 1 ? first.promise : Promise.resolve([COMMITTED]),
    );
    const selected: number[] = [];
    const select = (n: number) => () => {
      selected.push(n);
      return [committable(n)];
    };
    const all = [1, 2, 3].map((n) => it.queue.commit(select(n)));
    await it.clock.settle();
    expect(selected).toEqual([1]);
    first.resolve([COMMITTED]);
    await Promise.all(all);
    expect(it.tries.map((once) => once.sequences)).toEqual([[1], [2], [3]]);
  });

  test('are tried again with a delay that grows from 100 ms to 10 s, only for what is not in yet', async () => {
    let tries = 0;
    const it = bench(async (committables) => {
      tries++;
      return committables.map(({ identity }) => (tries < 10 && identity.sequence % 2 === 1 ? RETRY : COMMITTED));
    });
    const committed = it.queue.commit(() => [committable(1), committable(2), committable(3)]);
    await it.clock.advance(60_000);
    await committed;
    const pauses = it.tries.slice(1).map(({ at }, i) => at - (it.tries[i]?.at ?? 0));
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    expect(it.tries.map((once) => once.sequences)).toEqual([[1, 2, 3], ...Array.from({ length: 9 }, () => [1, 3])]);
    expect(it.warnings).toHaveLength(9);
    expect(it.warnings[0]).toContain('busy');
  });

  test.each([0, 1, 10])('fail, so that a restart can help, after %d retries of what does not pass', async (retries) => {
    const passes = ({ identity: { sequence } }: Committable): boolean => sequence === 1 || sequence === 4;
    const it = bench(async (all) => all.map((one) => (passes(one) ? COMMITTED : RETRY)), undefined, retries);
    const committed = it.queue.commit(() => [committable(1), committable(2), committable(3)]);
    committed.catch(noop);
    await it.clock.advance(60_000);
    await expect(committed).rejects.toMatchObject({
      code: 'COMMIT_FAILED',
      recoverable: true,
      cause: (RETRY as { error: unknown }).error,
      message: expect.stringMatching(
        new RegExp(`Sink out of job test has tried ${String(retries + 1)} times .*checkpoint 1: busy`),
      ),
    });
    expect(it.tries).toHaveLength(retries + 1);
    expect(it.warnings).toHaveLength(retries);
    // What comes after it is another attempt's: but it does not hang behind it.
    const next = it.queue.commit(() => [committable(4)]);
    await it.clock.advance(1);
    await next;
  });

  test('are tried again for ever where their number has no limit', async () => {
    const it = bench(async () => [RETRY], undefined, Infinity);
    const committed = it.queue.commit(() => [committable(1)]);
    committed.catch(noop);
    await it.clock.advance(10_000_000);
    expect(it.tries.length).toBeGreaterThan(1000);
    it.abort.abort(new Error('over'));
    await expect(committed).rejects.toThrow('over');
  });

  test('treat a committer that throws, or rejects, as one that asks for another try', async () => {
    let tries = 0;
    const it = bench((committables) => {
      tries++;
      if (tries === 1) throw new Error('sync');
      if (tries === 2) return Promise.reject(new Error('async'));
      return Promise.resolve(committables.map(() => COMMITTED));
    });
    const committed = it.queue.commit(() => [committable(1)]);
    await it.clock.advance(1000);
    await committed;
    expect(tries).toBe(3);
  });

  test('count as done when they were done before', async () => {
    const it = bench(async () => [{ kind: 'already-committed' }]);
    await it.queue.commit(() => [committable(1)]);
    expect(it.tries).toHaveLength(1);
  });

  test('fail for good where the committer says so, naming sink and checkpoint', async () => {
    const it = bench(async () => [COMMITTED, { kind: 'failed', error: new Error('no such topic') }]);
    await expect(it.queue.commit(() => [committable(1), committable(2)])).rejects.toMatchObject({
      code: 'COMMIT_FAILED',
      message: expect.stringMatching(/Sink out of job test.*checkpoint 1: no such topic/),
    });
  });

  test('fail if the committer leaves something out', async () => {
    const it = bench(async () => [COMMITTED]);
    await expect(it.queue.commit(() => [committable(1), committable(2)])).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
    });
  });

  test('are not begun once the right to write is lost, which is looked at before each try', async () => {
    let owner = true;
    const it = bench(
      async () => {
        owner = false;
        return [RETRY];
      },
      async () => {
        if (!owner) throw new WeirError('STORAGE_FENCED', 'another process has taken over');
      },
    );
    const committed = it.queue.commit(() => [committable(1)]);
    committed.catch(noop);
    await it.clock.advance(1000);
    await expect(committed).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
    expect(it.tries).toHaveLength(1);
  });

  test('end with the attempt, also while they wait, and leave no timer', async () => {
    const it = bench(async () => [RETRY]);
    const committed = it.queue.commit(() => [committable(1)]);
    const next = it.queue.commit(() => [committable(2)]);
    await it.clock.advance(150);
    it.abort.abort(new Error('the attempt has failed'));
    await expect(committed).rejects.toThrow('the attempt has failed');
    await expect(next).rejects.toThrow('the attempt has failed');
    await it.queue.idle();
    expect(it.clock.pendingTimers).toBe(0);
    expect(it.tries).toHaveLength(2);
  });

  test('go on after one that failed', async () => {
    let tries = 0;
    const it = bench(async () => [tries++ === 0 ? { kind: 'failed', error: 'no' } : COMMITTED]);
    await expect(it.queue.commit(() => [committable(1)])).rejects.toMatchObject({ code: 'COMMIT_FAILED' });
    await it.queue.commit(() => [committable(2)]);
  });

  test('of nothing ask nobody', async () => {
    const it = bench(
      async () => [],
      () => Promise.reject(new Error('nobody is asked')),
    );
    await it.queue.commit(() => []);
    await it.queue.commitLast([]);
    expect(it.tries).toEqual([]);
  });

  test('of an ending attempt are tried once, with a signal that is not its own', async () => {
    let aborted: boolean | undefined;
    const it = bench(async (_all, signal) => {
      aborted = signal.aborted;
      return [RETRY];
    });
    it.abort.abort(new Error('cancelled'));
    await expect(it.queue.commitLast([committable(1)])).rejects.toMatchObject({ code: 'COMMIT_FAILED' });
    expect([aborted, it.tries.length]).toEqual([false, 1]);
  });

  property.prop([fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), { maxLength: 6 })])(
    'are all in once each when they settle, however often each of them is refused before',
    async (calls) => {
      const left = new Map<number, number>();
      const done: number[] = [];
      const it = bench(async (committables) =>
        committables.map(({ identity: { sequence } }) => {
          const tries = left.get(sequence) ?? 0;
          left.set(sequence, tries - 1);
          if (tries > 0) return RETRY;
          done.push(sequence);
          return COMMITTED;
        }),
      );
      let next = 0;
      const all = calls.map((refusals) => {
        const committables = refusals.map((times) => {
          left.set(next, times);
          return committable(next++);
        });
        return it.queue.commit(() => committables);
      });
      await it.clock.advance(10_000);
      await Promise.all(all);
      expect(done.toSorted((a, b) => a - b)).toEqual([...Array(next).keys()]);
    },
  );
});
