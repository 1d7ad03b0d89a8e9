import { describe, expect, test } from 'vitest';
import type { AlignmentMode } from '../../src/barrier/modes.js';
import {
  keyBy,
  keyedProcess,
  map,
  rebalance,
  subtaskProcess,
  transform,
  union,
  unionListState,
  valueState,
  type Emit,
} from '../../src/operators.js';
import type { Plan } from '../../src/graph/plan.js';
import { AttemptBench, plan, type AttemptBenchOptions, type TakenCheckpoint } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { deferred } from '../support/deferred.js';
import { tapSource } from '../support/tap-source.js';
import { TickingClock } from '../support/ticking-clock.js';

// Scenarios of FLIP-147 (Flink: CheckpointCoordinatorTest, DefaultCheckpointPlanCalculatorTest, StreamTaskFinalCheckpointsTest).

/** A finite source beside an endless one, joined in front of one sink, and what can be seen of them. */
class World {
  readonly clock = new TickingClock();
  readonly finite = tapSource<string>('finite');
  readonly endless = tapSource<string>('endless');
  readonly outside = new Outside<string>();
  readonly finishes: string[] = [];
  readonly left: string[] = [];
  readonly plan: Plan;

  constructor() {
    this.plan = plan((from) => {
      const finite = from(this.finite, { uid: 'finite' }).pipe((stream) =>
        transform<string, 'replayable'>(
          [stream],
          {
            name: 'finishing',
            isStateful: false,
            create: () => ({ connect: (source) => source, finish: () => void this.finishes.push('finite') }),
          },
          { uid: 'finishing' },
        ),
      );
      const endless = from(this.endless, { uid: 'endless' });
      finite
        .pipe(
          union(endless),
          keyBy((text) => text),
          keyedProcess({
            uid: 'count',
            state: { count: valueState({ initial: () => 0 }) },
            onRecord(text, { state }, emit: Emit<string>) {
              state.count.update(state.count.value() + 1);
              emit(`${text}${String(state.count.value())}`);
            },
          }),
        )
        .to(committingSink(this.outside), { uid: 'out' });
    });
  }

  async run(options: Partial<AttemptBenchOptions> = {}): Promise<AttemptBench> {
    const bench = new AttemptBench(this.plan, {
      clock: this.clock,
      onFinished: ({ stage, index }) => this.left.push(`${stage}#${String(index)}`),
      ...options,
    });
    const running = bench.run();
    await this.clock.settle();
    await running;
    return bench;
  }

  async take(bench: AttemptBench, id: number): Promise<TakenCheckpoint> {
    const checkpoint = await bench.trigger(id);
    await this.clock.settle();
    expect([id, checkpoint.isComplete]).toEqual([id, true]);
    return checkpoint;
  }
  async complete(bench: AttemptBench, id: number): Promise<TakenCheckpoint> {
    const checkpoint = await this.take(bench, id);
    const told = bench.complete(checkpoint);
    await this.clock.settle();
    await told;
    return checkpoint;
  }
  async crash(bench: AttemptBench): Promise<void> {
    bench.attempt.fail(new Error('crash'));
    const closed = bench.attempt.close('failed');
    await this.clock.settle();
    await closed;
  }
}

describe('a subtask past its end', () => {
  test.each<AlignmentMode>(['aligned', 'counting'])(
    'testCheckpointTriggeredAfterSomeTasksFinishedIfAllowed: leaves, and checkpoints go on without it (%s)',
    async (mode) => {
      const world = new World();
      const bench = await world.run({ mode });
      world.finite.push('a', 'b');
      world.endless.push('a');
      world.finite.end();
      await world.clock.settle();
      expect(world.left).toEqual([]);

      const first = await world.complete(bench, 1);
      expect([...first.acks.keys()].toSorted()).toEqual(['count#0', 'endless#0', 'finite#0']);
      expect([world.left, [...bench.attempt.finished]]).toEqual([['finite#0'], ['finite#0']]);
      expect(world.outside.visible.toSorted()).toEqual(['a1', 'a2', 'b1']);

      world.endless.push('b');
      await world.clock.settle();
      const second = await world.complete(bench, 2);
      expect(second.acks.has('finite#0')).toBe(false);
      expect(second.expected).toBe(first.expected - 1);
      expect(world.outside.visible.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
      await world.crash(bench);
    },
  );

  test('stays as long as what it wrote is not committed', async () => {
    const world = new World();
    const commit = deferred();
    const alone = plan((from) => {
      const sink = committingSink(world.outside);
      const slow = {
        ...sink,
        destination: () => ({ id: 'place', name: 'a place', committed: [] }),
        committer: () => ({
          commit: async (committables: Parameters<Outside<string>['commit']>[0][]) => {
            await commit.promise;
            return committables.map((c) => ({ kind: world.outside.commit(c) }));
          },
        }),
      };
      from(world.finite, { uid: 'finite' }).to(slow, { uid: 'out' });
      from(world.endless, { uid: 'endless' }).to(committingSink(world.outside), { uid: 'other' });
    });
    const bench = new AttemptBench(alone, {
      clock: world.clock,
      onFinished: ({ stage }) => world.left.push(stage),
    });
    const running = bench.run();
    world.finite.push('a');
    world.finite.end();
    await world.clock.settle();
    await running;
    const told = bench.complete(await world.take(bench, 1));
    await world.clock.settle();
    expect(world.left).toEqual([]);
    commit.resolve();
    await world.clock.settle();
    await told;
    expect([world.left, world.outside.visible]).toEqual([['finite'], ['a']]);
    await world.crash(bench);
  });

  test('stays if the checkpoint behind its end is aborted, and leaves with the next', async () => {
    const world = new World();
    const bench = await world.run();
    world.finite.end();
    await world.clock.settle();
    bench.abort(await world.take(bench, 1));
    await world.clock.settle();
    expect(world.left).toEqual([]);
    await world.complete(bench, 2);
    expect(world.left).toEqual(['finite#0']);
    await world.crash(bench);
  });

  test('stays if the checkpoint that completes was taken before its end', async () => {
    const world = new World();
    const bench = await world.run();
    const before = await world.take(bench, 1);
    world.finite.end();
    await world.clock.settle();
    const told = bench.complete(before);
    await world.clock.settle();
    await told;
    expect(world.left).toEqual([]);
    await world.complete(bench, 2);
    expect(world.left).toEqual(['finite#0']);
    await world.crash(bench);
  });

  test('answers every barrier that was sent before it leaves', async () => {
    const world = new World();
    const bench = await world.run();
    world.finite.end();
    await world.clock.settle();
    const first = await world.take(bench, 1);
    // Sent, but not taken yet when the first is said to be complete.
    const second = await bench.trigger(2);
    const told = bench.complete(first);
    await world.clock.settle();
    await told;
    expect([second.isComplete, second.acks.has('finite#0'), world.left]).toEqual([true, true, ['finite#0']]);
    await world.crash(bench);
  });

  test('frees what it holds: its operators are closed while the others run', async () => {
    const closed: string[] = [];
    const world = new World();
    const watched = plan((from) => {
      const watch =
        (name: string) => (stream: ReturnType<typeof from<string, 'replayable', { readonly id: string }, number>>) =>
          transform<string, 'replayable'>(
            [stream],
            {
              name,
              isStateful: false,
              create: () => ({ connect: (source) => source, close: (end) => void closed.push(`${name} ${end}`) }),
            },
            { uid: name },
          );
      watch('one')(from(world.finite, { uid: 'finite' })).to(committingSink(world.outside), { uid: 'out' });
      watch('other')(from(world.endless, { uid: 'endless' })).to(committingSink(world.outside), { uid: 'out-2' });
    });
    const bench = new AttemptBench(watched, { clock: world.clock });
    const running = bench.run();
    world.finite.end();
    await world.clock.settle();
    await running;
    await world.complete(bench, 1);
    expect(closed).toEqual(['one finished']);
    await world.crash(bench);
    // Once each.
    expect(closed).toEqual(['one finished', 'other failed']);
  });

  test('leaves behind its producers, and is triggered itself while it is still here and they are not', async () => {
    const world = new World();
    const write = deferred();
    const apart = plan((from) => {
      from(world.finite, { uid: 'finite' })
        .pipe(
          rebalance(),
          map((text) => text),
        )
        .to(committingSink(world.outside), { uid: 'out', parallelism: 2 });
      from(world.endless, { uid: 'endless' }).to(committingSink(world.outside), { uid: 'other' });
    });
    let isHeld = false;
    const bench = new AttemptBench(apart, {
      clock: world.clock,
      onFinished: ({ stage, index }) => world.left.push(`${stage}#${String(index)}`),
      onWrite: () => (isHeld ? write.promise : undefined),
    });
    const running = bench.run();
    world.finite.push('a', 'b');
    world.finite.end();
    await world.clock.settle();
    await running;
    const first = await world.take(bench, 1);
    // What 1 has prepared is in 2 as well, and that is slow to write.
    isHeld = true;
    const second = await bench.trigger(2);
    await world.clock.settle();
    expect(second.isComplete).toBe(false);
    isHeld = false;
    const told = bench.complete(first);
    await world.clock.settle();
    await told;
    expect(world.left).toEqual(['finite#0', 'map-1#0']);

    const third = await bench.trigger(3);
    await world.clock.settle();
    expect([third.isComplete, [...third.acks.keys()].toSorted()]).toEqual([true, ['endless#0', 'out#0', 'out#1']]);
    write.resolve();
    await world.clock.settle();
    expect(second.isComplete).toBe(true);
    expect(world.left.toSorted()).toEqual(['finite#0', 'map-1#0', 'out#0', 'out#1']);
    await world.crash(bench);
  });
});

describe('a subtask with state that every other one restores too', () => {
  test('stays to the end of the job, and so does what is behind it: no part of that state may get lost', async () => {
    const world = new World();
    const described = plan((from) => {
      from(world.finite, { uid: 'finite' })
        .pipe(
          rebalance(),
          subtaskProcess({
            uid: 'shared',
            state: { seen: unionListState<string>() },
            onRecord(text, { state }, emit: Emit<string>) {
              state.seen.add(text);
              emit(text);
            },
          }),
          rebalance(),
        )
        .to(committingSink(world.outside), { uid: 'out' });
      from(world.endless, { uid: 'endless' }).to(committingSink(world.outside), { uid: 'other' });
    }, 2);
    const left: string[] = [];
    const bench = new AttemptBench(described, {
      clock: world.clock,
      onFinished: ({ stage }) => left.push(stage),
    });
    const running = bench.run();
    world.finite.push('a', 'b');
    world.finite.end();
    await world.clock.settle();
    await running;
    await world.complete(bench, 1);
    const second = await world.complete(bench, 2);
    expect(new Set(left)).toEqual(new Set(['finite', 'endless']));
    const shared = [...second.acks.values()].filter(({ subtask }) => subtask.stage === 'shared');
    expect(shared.map(({ snapshot }) => snapshot.finished ?? false)).toEqual([false, false]);
    expect(
      shared.flatMap(({ snapshot }) => snapshot.operators.flatMap(({ operator }) => operator)).length,
    ).toBeGreaterThan(0);
    expect([...(second.restore.finished ?? [])].every((name) => /^(finite|endless)#/.test(name))).toBe(true);
    await world.crash(bench);
  });
});

describe('a job that is restored from behind the end of some of its subtasks', () => {
  test('neither opens their readers nor finishes them again', async () => {
    const world = new World();
    const bench = await world.run();
    world.finite.push('a');
    world.finite.end();
    world.endless.push('a');
    await world.clock.settle();
    const newest = await world.complete(bench, 1);
    expect([world.finite.opened, world.finishes]).toEqual([1, ['finite']]);
    await world.crash(bench);

    // The checkpoint was taken while it was still there; the next one when it was not.
    let restore = newest;
    for (const attempt of [2, 3]) {
      const next = await world.run({ attempt, restore });
      expect([...next.attempt.finished]).toEqual(['finite#0']);
      world.endless.push('b');
      await world.clock.settle();
      restore = await world.complete(next, attempt);
      expect([world.finite.opened, world.finishes, world.left]).toEqual([1, ['finite'], ['finite#0']]);
      await world.crash(next);
    }
    expect(world.endless.opened).toBe(3);
    expect(world.outside.visible.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  test('commits what they had prepared', async () => {
    const world = new World();
    const alone = plan((from) => {
      from(world.finite, { uid: 'finite' }).to(committingSink(world.outside), { uid: 'out' });
      from(world.endless, { uid: 'endless' }).to(committingSink(world.outside), { uid: 'other' });
    });
    const first = new AttemptBench(alone, { clock: world.clock });
    const running = first.run();
    world.finite.push('a');
    world.finite.end();
    await world.clock.settle();
    await running;
    // Durable, and nobody was told.
    const restore = await world.take(first, 1);
    await world.crash(first);
    expect(world.outside.visible).toEqual([]);

    const second = new AttemptBench(alone, { clock: world.clock, attempt: 2, restore });
    const again = second.run();
    await world.clock.settle();
    await again;
    expect([world.outside.visible, world.finite.opened]).toEqual([['a'], 1]);
    await world.crash(second);
  });

  test('has the end of event time from them all the same, for timers that were still to be called', async () => {
    const clock = new TickingClock();
    const finite = tapSource<string>('finite');
    const outside = new Outside<string>();
    const waiting = plan((from) => {
      from(finite, { uid: 'finite' })
        .pipe(
          keyBy((text) => text),
          keyedProcess({
            uid: 'wait',
            onRecord(_text, { timers }, _emit: Emit<string>) {
              timers.registerEventTime(1000);
            },
            onTimer(time, { key }, emit) {
              emit(`${key} at ${String(time)}`);
            },
          }),
        )
        .to(committingSink(outside), { uid: 'out' });
    });
    const run = async (options: Partial<AttemptBenchOptions>): Promise<AttemptBench> => {
      const bench = new AttemptBench(waiting, { clock, ...options });
      const running = bench.run();
      await clock.settle();
      await running;
      return bench;
    };
    const first = await run({});
    finite.push('a');
    await clock.settle();
    const before = await first.trigger(1);
    await clock.settle();
    await first.attempt.close('failed');

    // As if the source had finished before the barrier, and the end of event time were still on the way to the timer.
    const ack = before.acks.get('finite#0')!;
    before.acks.set('finite#0', { ...ack, snapshot: { ...ack.snapshot, finished: true } });
    const second = await run({ attempt: 2, restore: before });
    await second.attempt.allEnded;
    const last = await second.trigger(2);
    await clock.settle();
    await Promise.all([second.complete(last), clock.settle()]);
    expect(outside.visible).toEqual(['a at 1000']);
    await second.attempt.close('finished');
  });

  test('ends at once if all of them were', async () => {
    const world = new World();
    const bench = await world.run();
    world.finite.push('a');
    world.finite.end();
    world.endless.end();
    await world.clock.settle();
    await bench.attempt.allEnded;
    const restore = await world.take(bench, 1);
    await world.crash(bench);

    const next = await world.run({ attempt: 2, restore });
    await next.attempt.allEnded;
    expect([next.attempt.finished.size, world.finishes, world.outside.visible]).toEqual([
      next.attempt.subtasks.length,
      ['finite'],
      ['a1'],
    ]);
    const nobody = await next.trigger(2);
    expect(nobody.expected).toBe(0);
    await next.attempt.close('finished');
  });

  test('goes on with the subtasks of a source that were not', async () => {
    const clock = new TickingClock();
    const two = tapSource<string>('two', 2);
    const outside = new Outside<string>();
    const parallel = plan((from) => {
      from(two, { uid: 'two', parallelism: 2 }).to(committingSink(outside), { uid: 'out', parallelism: 2 });
    });
    const first = new AttemptBench(parallel, { clock });
    const running = first.run();
    two.push('a');
    two.end();
    await clock.settle();
    await running;
    const restore = await first.trigger(1);
    await clock.settle();
    const told = first.complete(restore);
    await clock.settle();
    await told;
    expect([...first.attempt.finished]).toHaveLength(1);
    first.attempt.fail(new Error('crash'));
    await first.attempt.close('failed');

    const second = new AttemptBench(parallel, { clock, attempt: 2, restore });
    const again = second.run();
    two.push('b');
    await clock.settle();
    await again;
    expect(two.opened).toBe(3);
    const next = await second.trigger(2);
    await clock.settle();
    expect([next.isComplete, next.acks.size]).toEqual([true, 1]);
    const toldAgain = second.complete(next);
    await clock.settle();
    await toldAgain;
    expect(outside.visible.toSorted()).toEqual(['a', 'a', 'b']);
    second.attempt.fail(new Error('over'));
    await second.attempt.close('failed');
  });
});
