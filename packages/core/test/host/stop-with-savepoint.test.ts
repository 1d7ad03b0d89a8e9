import { Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { StreamElement } from '../../src/element/element.js';
import { transform, union, type Operator, type OperatorContext } from '../../src/operators.js';
import { AttemptBench, plan, type AttemptBenchOptions } from '../support/attempt-bench.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { splitSource, type Poll } from '../support/split-source.js';
import { TickingClock } from '../support/ticking-clock.js';

const LENGTH = 400;
const ALL = ['a', 'b'].flatMap((name) => Array.from({ length: LENGTH }, (_, i) => `${name}${String(i)}`)).toSorted();

interface Running {
  readonly bench: AttemptBench;
  readonly clock: TickingClock;
  readonly outside: Outside<string>;
  readonly written: string[];
}

/** Two sources meet in front of one sink, one of them behind an operator that emits one more record when it finishes. */
async function running(options: Partial<AttemptBenchOptions> = {}, outside = new Outside<string>()): Promise<Running> {
  const clock = new TickingClock();
  const written: string[] = [];
  const polls = (): Poll => ({ count: 3, isAsync: true });
  const records = (name: string): string[] => Array.from({ length: LENGTH }, (_, i) => `${name}${String(i)}`);
  const described = plan((from) => {
    const a = from(splitSource([records('a')], { polls }), { uid: 'a' });
    const b = from(splitSource([records('b')], { polls }), { uid: 'b' });
    const spec = { name: 'last words', isStateful: false, create: () => lastWords() };
    a.pipe(union(transform<string, 'replayable'>([b], spec, { uid: 'w' }))).to(
      committingSink(outside, { onWrite: (batch) => void written.push(...batch) }),
      { uid: 'out' },
    );
  });
  const bench = new AttemptBench(described, { clock, ...options });
  await bench.run();
  await clock.run(6);
  expect(written.length).toBeLessThan(2 * LENGTH);
  return { bench, clock, outside, written };
}

function lastWords(): Operator<string, string> {
  let finish = (): void => undefined;
  return {
    connect: (source) =>
      new Observable<StreamElement<string>>((target) => {
        finish = () => {
          target.next({ kind: 'batch', records: ['bye'] });
        };
        return source.subscribe(target);
      }),
    finish: () => {
      finish();
    },
  };
}

async function finish({ bench, clock }: Running): Promise<void> {
  await clock.settle();
  await bench.attempt.allEnded;
  const last = await bench.trigger(9);
  await clock.settle();
  const told = bench.complete(last);
  await clock.settle();
  await told;
  await bench.attempt.close('finished');
}

describe('behind a savepoint to stop with', () => {
  test('no record moves, and nothing finishes, for as long as it is not known what becomes of it', async () => {
    const job = await running();
    const { bench, clock, outside, written } = job;
    const savepoint = await bench.trigger(1, undefined, 'suspend');
    await clock.settle();
    expect(savepoint.isComplete).toBe(true);
    const before = [...written];
    await clock.run(200);
    expect(written).toEqual(before);
    const told = bench.complete(savepoint);
    await clock.settle();
    await told;
    // All that was written is covered, and nothing was written after that.
    expect(outside.visible).toEqual(before);
    expect(written).toEqual(before);
    expect(written).not.toContain('bye');
    await bench.attempt.close('cancelled');

    const next = await running({ restore: savepoint, attempt: 2 }, outside);
    await finish(next);
    expect(outside.visible.toSorted()).toEqual([...ALL, 'bye'].toSorted());
  });

  test('all go on as if nothing had been once it was given up, wherever each of them had come to', async () => {
    for (let steps = 0; steps < 60; steps += 3) {
      const job = await running();
      const savepoint = await job.bench.trigger(1, undefined, 'suspend');
      await job.clock.run(steps);
      job.bench.abort(savepoint);
      await finish(job);
      expect(job.outside.visible.toSorted()).toEqual([...ALL, 'bye'].toSorted());
    }
  });

  test('a timer that falls due waits as long, and is not lost', async () => {
    const clock = new TickingClock();
    const written: string[] = [];
    const outside = new Outside<string>();
    const polls = (): Poll => ({ count: 0, isAsync: true });
    const create = ({ timer }: OperatorContext): Operator<string, string> => ({
      connect: (source) =>
        new Observable<StreamElement<string>>((target) => {
          timer(50, () => {
            target.next({ kind: 'batch', records: ['due'] });
          });
          return source.subscribe(target);
        }),
    });
    const described = plan((from) => {
      const numbers = from(splitSource([['never']], { polls }), { uid: 'numbers' });
      transform<string, 'replayable'>([numbers], { name: 'timer', isStateful: false, create }, { uid: 't' }).to(
        committingSink(outside, { onWrite: (batch) => void written.push(...batch) }),
        { uid: 'out' },
      );
    });
    const bench = new AttemptBench(described, { clock });
    await bench.run();
    const savepoint = await bench.trigger(1, undefined, 'suspend');
    await clock.advance(100);
    expect([savepoint.isComplete, written]).toEqual([true, []]);
    bench.abort(savepoint);
    await clock.run(20);
    expect(written).toEqual(['due']);
    await bench.attempt.close('cancelled');
  });

  test('other barriers wait, too', async () => {
    const { bench, clock } = await running();
    const savepoint = await bench.trigger(1, undefined, 'suspend');
    const behind = await bench.trigger(2);
    await clock.settle();
    expect([savepoint.isComplete, behind.acks.size]).toEqual([true, 0]);
    bench.abort(savepoint);
    await clock.settle();
    expect(behind.isComplete).toBe(true);
    await bench.attempt.close('cancelled');
  });
});

describe('draining', () => {
  test('ends the sources where they are and lets operators finish, in front of the savepoint', async () => {
    const { bench, clock, outside, written } = await running();
    const savepoint = await bench.trigger(1, undefined, 'drain');
    await clock.settle();
    await bench.attempt.allEnded;
    expect(savepoint.isComplete).toBe(true);
    expect(written).toContain('bye');
    expect(written.length).toBeLessThan(2 * LENGTH);
    const told = bench.complete(savepoint);
    await clock.settle();
    await told;
    expect(outside.visible.toSorted()).toEqual(written.toSorted());
    await bench.attempt.close('finished');
  });

  test('cannot be taken back: if its savepoint fails the attempt fails, and its last checkpoint is gone back to', async () => {
    const { bench, clock, outside } = await running();
    const checkpoint = await bench.trigger(1);
    await clock.run(100);
    expect(checkpoint.isComplete).toBe(true);
    const told = bench.complete(checkpoint);
    await clock.settle();
    await told;
    const savepoint = await bench.trigger(2, undefined, 'drain');
    await clock.settle();
    bench.abort(savepoint);
    await expect(bench.failed).rejects.toMatchObject({
      code: 'CHECKPOINT_FAILED',
      recoverable: true,
      message: expect.stringContaining('drained for savepoint 2'),
    });
    await bench.attempt.close('failed');
    const next = await running({ restore: checkpoint, attempt: 2 }, outside);
    await finish(next);
    expect(outside.visible.toSorted()).toEqual([...ALL, 'bye'].toSorted());
  });
});
