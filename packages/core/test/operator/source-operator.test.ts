import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { Source, SourceGrade, SourceReader, SourceSplit } from '../../src/contracts/source.js';
import type { CheckpointId } from '../../src/element/ids.js';
import type { RestoredState } from '../../src/operator/operator.js';
import { SourceOperator, type PullResult } from '../../src/operator/source-operator.js';
import type { SplitClient } from '../../src/operator/split-client.js';
import { StageFlow } from '../../src/stage/stage-flow.js';
import { deferred } from '../support/deferred.js';
import { operatorContext } from '../support/operator-context.js';

type Reader = SourceReader<number, number>;
type Open = (split: SourceSplit, position: number | undefined) => Promise<Reader>;

/** A source operator with its mailbox and its splits in the hands of the test. */
class SourceBench {
  readonly operator: SourceOperator<number>;
  readonly emitted: number[] = [];
  readonly finished: string[] = [];
  readonly flow = new StageFlow(
    () => true,
    () => undefined,
  );
  #mailbox: (() => void)[] = [];

  constructor(
    open: Open,
    splits: (SourceSplit | 'end' | undefined)[],
    grade: SourceGrade = 'replayable',
    bounded = true,
    checkpointing = true,
  ) {
    const source: Source<number, SourceGrade, SourceSplit, number> = {
      grade,
      bounded,
      enumerator: () => {
        throw new Error('the splits come from the test');
      },
      open,
    };
    const client: SplitClient = {
      onAvailable: undefined,
      request: () => (splits.length === 0 ? 'end' : splits.shift()),
      restored: () => undefined,
      finished: (id) => this.finished.push(id),
    };
    this.client = client;
    const context = operatorContext({
      uid: 'numbers',
      flow: this.flow,
      runInMailbox: (action) => this.#mailbox.push(action),
    });
    this.operator = new SourceOperator({ source, context, splits: client, checkpointing });
    this.operator.connect().subscribe((element) => {
      if (element.kind === 'batch') this.emitted.push(...element.records);
    });
  }
  readonly client: SplitClient;

  get letters(): number {
    return this.#mailbox.length;
  }

  async readMailbox(): Promise<void> {
    // Enough microtasks for whatever a reader of these tests does.
    for (let i = 0; i < 10; i++) await Promise.resolve();
    for (const letter of this.#mailbox.splice(0)) letter();
  }

  pull(max = 100): PullResult {
    const result = this.operator.pull(max);
    while (this.flow.isSuspended) this.flow.resume();
    return result;
  }

  /** Until there is nothing more to read, or for `steps`. */
  async run(steps = 1000): Promise<PullResult> {
    let result: PullResult = 'waiting';
    for (let i = 0; i < steps && result !== 'ended'; i++) {
      result = this.pull();
      if (result === 'waiting') await this.readMailbox();
    }
    return result;
  }

  /** Splits and positions as a checkpoint would store them. */
  capture(checkpointId: CheckpointId = 1): readonly unknown[] {
    return structuredClone(this.operator.capture(checkpointId).operatorState?.[0]?.values ?? []);
  }
}

const split = (id: string): SourceSplit => ({ id });
/** Counts from its position up to `end`. */
function counter(end: number, how: Partial<Reader> = {}): (position: number | undefined) => Reader {
  return (position = 0) => {
    let next = position;
    return {
      poll(max) {
        if (next >= end) return 'end';
        const records = Array.from({ length: Math.min(max, end - next) }, (_, i) => next + i);
        next += records.length;
        return records;
      },
      position: () => next,
      close: () => Promise.resolve(),
      ...how,
    };
  };
}
const opening =
  (end: number, how?: Partial<Reader>): Open =>
  (_split, position) =>
    Promise.resolve(counter(end, how)(position));
const restoredSplits = (values: readonly unknown[]): RestoredState =>
  ({ checkpointId: 1, operatorState: () => Promise.resolve(values) }) as unknown as RestoredState;

describe('a source operator', () => {
  test('reads one split after the other to its end, and ends when there are no more', async () => {
    const bench = new SourceBench(opening(3), [split('a'), split('b')]);
    expect(await bench.run()).toBe('ended');
    expect(bench.emitted).toEqual([0, 1, 2, 0, 1, 2]);
    expect(bench.finished).toEqual(['a', 'b']);
    expect(bench.capture()).toEqual([]);
    expect(bench.pull()).toBe('ended');
  });

  test('asks readers for no more than it was asked for', async () => {
    const asked: number[] = [];
    const bench = new SourceBench(opening(10, { poll: (max) => (asked.push(max) > 2 ? 'end' : [1]) }), [split('a')]);
    await bench.run(1);
    for (const max of [7, 1, 3]) bench.pull(max);
    expect(asked).toEqual([7, 1, 3]);
  });

  test('goes on with restored splits where they were, before it asks for others', async () => {
    const opened: unknown[] = [];
    const open: Open = (it, position) => {
      opened.push([it.id, position]);
      return opening(5)(it, position);
    };
    const bench = new SourceBench(open, [split('new')]);
    await bench.operator.restore(restoredSplits([{ split: split('a'), position: 3 }, { split: split('b') }]));
    expect(bench.capture()).toEqual([{ split: split('a'), position: 3 }, { split: split('b') }]);
    await bench.run();
    expect(opened).toEqual([
      ['a', 3],
      ['b', undefined],
      ['new', undefined],
    ]);
    expect(bench.emitted).toEqual([3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  test('keeps a split that is being opened in its checkpoints', async () => {
    const reader = deferred<Reader>();
    const bench = new SourceBench(() => reader.promise, [split('a'), split('b')]);
    await bench.operator.restore(restoredSplits([{ split: split('r'), position: 2 }, { split: split('s') }]));
    bench.pull();
    expect(bench.capture()).toEqual([{ split: split('r'), position: 2 }, { split: split('s') }]);
    reader.resolve(counter(5)(2));
    await bench.readMailbox();
    expect(bench.capture()).toEqual([{ split: split('s') }, { split: split('r'), position: 2 }]);
  });

  test('waits for a split when there is none now, and takes it when it is told of one', async () => {
    const splits: (SourceSplit | 'end' | undefined)[] = [undefined];
    const bench = new SourceBench(opening(2), splits);
    expect(bench.pull()).toBe('waiting');
    splits.push(split('late'));
    bench.client.onAvailable?.();
    expect(bench.letters).toBe(1);
    expect(await bench.run()).toBe('ended');
    expect(bench.emitted).toEqual([0, 1]);
  });

  test('hears of a split that is found while it is asked for one', () => {
    const bench: SourceBench = new SourceBench(opening(2), []);
    bench.client.request = () => {
      bench.client.onAvailable?.();
      return undefined;
    };
    expect(bench.pull()).toBe('waiting');
    expect(bench.letters).toBe(1);
  });

  test('asks a reader that has nothing now again in another turn, not in a loop', async () => {
    let polls = 0;
    const bench = new SourceBench(opening(0, { poll: () => (polls++ < 3 ? [] : 'end') }), [split('a')]);
    await bench.run(1);
    for (let i = 1; i <= 3; i++) {
      expect(bench.pull()).toBe('waiting');
      expect(bench.pull()).toBe('waiting');
      expect(polls).toBe(i);
      await bench.readMailbox();
    }
  });

  test('emits what an asynchronous poll brought when it is pulled, and counts it only then', async () => {
    const records = deferred<readonly number[]>();
    let polls = 0;
    const bench = new SourceBench(
      opening(0, { poll: () => (polls++ === 0 ? records.promise : 'end'), position: () => (polls === 0 ? 0 : 3) }),
      [split('a')],
    );
    await bench.run(1);
    expect(bench.pull()).toBe('waiting');
    records.resolve([7, 8, 9]);
    await bench.readMailbox();
    expect(bench.emitted).toEqual([]);
    expect(bench.capture()).toEqual([{ split: split('a'), position: 0 }]);
    expect(bench.pull()).toBe('moved');
    expect(bench.emitted).toEqual([7, 8, 9]);
    expect(bench.capture()).toEqual([{ split: split('a'), position: 3 }]);
  });

  test('takes more than it asked for in batches of bounded size, none of which a barrier can divide', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => i);
    let polls = 0;
    const bench = new SourceBench(opening(0, { poll: () => (polls++ === 0 ? many : 'end'), position: () => 5000 }), [
      split('a'),
    ]);
    await bench.run(1);
    const sizes: number[] = [];
    bench.operator.connect().subscribe((element) => sizes.push(element.kind === 'batch' ? element.records.length : 0));
    bench.operator.pull(1);
    expect(sizes).toEqual([1024]);
    expect(bench.flow.isSuspended).toBe(true);
    while (bench.flow.isSuspended) bench.flow.resume();
    expect(sizes).toEqual([1024, 1024, 1024, 1024, 904]);
    expect(bench.emitted).toEqual(many);
    expect(bench.capture()).toEqual([{ split: split('a'), position: 5000 }]);
  });

  type Act = 'pull' | 'mailbox' | 'capture' | 'restore';
  property.prop([
    fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 5 }),
    fc.infiniteStream(fc.record({ count: fc.integer({ min: 0, max: 6 }), isAsync: fc.boolean() })),
    fc.array(fc.constantFrom<Act>('pull', 'pull', 'mailbox', 'capture', 'restore'), { maxLength: 150, size: 'max' }),
  ])('stores the position of exactly those records that were emitted, at any time', async (lengths, polls, acts) => {
    const splits = lengths.map((_, i) => split(String(i)));
    const open: Open = async ({ id }, position = 0) => {
      const end = lengths[Number(id)] as number;
      let next = position;
      if (polls.next().value?.isAsync) await Promise.resolve();
      return {
        poll: (max) => {
          const { count, isAsync } = polls.next().value as { count: number; isAsync: boolean };
          const result = next === end ? 'end' : Array.from({ length: Math.min(max, count, end - next) }, () => next++);
          return isAsync ? Promise.resolve(result) : result;
        },
        position: () => next,
        close: () => Promise.resolve(),
      };
    };
    let bench = new SourceBench(open, [...splits]);
    let before: number[] = [];
    let unassigned = [...splits];
    for (const act of acts) {
      if (act === 'pull') bench.pull(4);
      else if (act === 'mailbox') await bench.readMailbox();
      const state = bench.capture() as { split: SourceSplit; position?: number }[];
      // Emitted are the splits that are finished, and of those in the checkpoint what is before their position.
      const stored = state.reduce((sum, { position = 0 }) => sum + position, 0);
      const done = bench.finished.reduce((sum, id) => sum + (lengths[Number(id)] as number), 0);
      expect(before.length + bench.emitted.length).toBe(stored + done);
      if (act === 'restore') {
        const finished = new Set(bench.finished);
        before = [...before, ...bench.emitted];
        unassigned = splits.filter(({ id }) => !finished.has(id) && !state.some((other) => other.split.id === id));
        await bench.operator.close();
        const next = new SourceBench(open, [...unassigned]);
        next.finished.push(...finished);
        await next.operator.restore(restoredSplits(state));
        bench = next;
      }
    }
    await bench.run();
    expect([...before, ...bench.emitted]).toHaveLength(lengths.reduce((sum, n) => sum + n, 0));
  });
});

describe('the position of a reader', () => {
  /** Begins at 100, which nobody but the reader knows, and has nothing to read. */
  const atNow = (how: Partial<Reader>): Open => opening(0, { position: () => 100, poll: () => [], ...how });

  test('is in checkpoints as soon as it is open, before the first poll', async () => {
    const bench = new SourceBench(atNow({}), [split('a')]);
    bench.pull();
    await bench.readMailbox();
    expect(bench.capture()).toEqual([{ split: split('a'), position: 100 }]);
  });

  test.each<[string, Reader['poll']]>([
    ['at once', () => []],
    ['by a promise', () => Promise.resolve([])],
  ])(
    'is asked after a poll that brought nothing %s: the reader may have passed over something',
    async (_how, empty) => {
      let position = 100;
      const bench = new SourceBench(
        atNow({
          position: () => position,
          poll: (max) => {
            position++;
            return empty(max);
          },
        }),
        [split('a')],
      );
      await bench.run(1);
      for (const passed of [101, 102]) {
        bench.pull();
        await bench.readMailbox();
        expect(bench.capture()).toEqual([{ split: split('a'), position: passed }]);
      }
    },
  );

  test('is waited for by a checkpoint that comes while a split is opened for the first time', async () => {
    const reader = deferred<Reader>();
    const bench = new SourceBench(() => reader.promise, [split('a')]);
    bench.pull();
    let isPrepared = false;
    const prepared = Promise.resolve(bench.operator.prepare()).then(() => {
      isPrepared = true;
    });
    await bench.readMailbox();
    expect(isPrepared).toBe(false);
    reader.resolve(await atNow({})(split('a'), undefined));
    await prepared;
    await bench.readMailbox();
    expect(bench.capture()).toEqual([{ split: split('a'), position: 100 }]);
    expect(bench.operator.prepare()).toBeUndefined();
  });

  test('is not waited for where the split has one from before', async () => {
    const bench = new SourceBench(() => deferred<Reader>().promise, []);
    await bench.operator.restore(restoredSplits([{ split: split('a'), position: 3 }]));
    bench.pull();
    expect(bench.operator.prepare()).toBeUndefined();
  });

  test.each<[string, (reader: ReturnType<typeof deferred<Reader>>) => void]>([
    ['fails', (reader) => reader.reject(new Error('gone'))],
    ['comes when all is over', (reader) => reader.resolve(counter(1)(0))],
  ])('keeps nobody waiting when opening %s', async (_how, settle) => {
    const reader = deferred<Reader>();
    const bench = new SourceBench(() => reader.promise, [split('a')]);
    bench.pull();
    const prepared = bench.operator.prepare();
    const closed = bench.operator.close();
    settle(reader);
    await Promise.all([prepared, closed]);
  });
});

describe('an endless source with more splits than subtasks', () => {
  /** Readers that never end; the records of split n are n, n + 100, n + 200 and so on. */
  const endless: Open = ({ id }, position = 0) => {
    let next = position;
    return Promise.resolve({
      poll: (max: number) => Array.from({ length: Math.min(max, 2) }, () => Number(id) + 100 * next++),
      position: () => next,
      close: () => Promise.resolve(),
    });
  };
  const benchOf = (splits: (SourceSplit | 'end' | undefined)[]): SourceBench =>
    new SourceBench(endless, splits, 'replayable', false);

  /** The mailbox is read before each pull, as in a subtask. */
  const turns = async (bench: SourceBench, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      bench.pull();
      await bench.readMailbox();
    }
  };

  test('is read split by split in turn, none of which waits for the end of another', async () => {
    const bench = benchOf([split('1'), split('2'), split('3')]);
    await turns(bench, 40);
    const from = (n: number): number => bench.emitted.filter((record) => record % 100 === n).length;
    expect(Math.min(from(1), from(2), from(3))).toBeGreaterThan(10);
  });

  test('has all its positions in a checkpoint, and goes on with all of them', async () => {
    const bench = benchOf([]);
    await bench.operator.restore(
      restoredSplits([
        { split: split('1'), position: 5 },
        { split: split('2'), position: 7 },
      ]),
    );
    await turns(bench, 12);
    const state = bench.capture() as { split: SourceSplit; position: number }[];
    const read = (n: number): number => bench.emitted.filter((record) => record % 100 === n).length;
    expect(state.toSorted((a, b) => a.split.id.localeCompare(b.split.id))).toEqual([
      { split: split('1'), position: 5 + read(1) },
      { split: split('2'), position: 7 + read(2) },
    ]);
    expect(Math.min(read(1), read(2))).toBeGreaterThan(0);
  });

  test('takes another split when it is told of one, and does not ask again and again meanwhile', async () => {
    const splits: (SourceSplit | 'end' | undefined)[] = [split('1'), undefined];
    const bench = benchOf(splits);
    let asked = 0;
    const { request } = bench.client;
    bench.client.request = () => {
      asked++;
      return request();
    };
    await turns(bench, 20);
    expect(asked).toBe(2);
    splits.push(split('2'), undefined);
    bench.client.onAvailable?.();
    await turns(bench, 20);
    expect(asked).toBe(4);
    expect(bench.emitted.some((record) => record % 100 === 2)).toBe(true);
  });
});

describe('a source operator that is closed', () => {
  test('closes its reader, and waits for that and for an outstanding poll', async () => {
    const poll = deferred<'end'>();
    let closed = 0;
    const bench = new SourceBench(
      opening(0, {
        poll: () => poll.promise,
        close: async () => {
          closed++;
          poll.resolve('end');
        },
      }),
      [split('a')],
    );
    await bench.run(1);
    bench.pull();
    await bench.operator.close();
    expect(closed).toBe(1);
    expect(bench.letters).toBe(0);
  });

  test('closes a reader that comes too late, and is not closed before', async () => {
    const reader = deferred<Reader>();
    const close = deferred();
    const bench = new SourceBench(() => reader.promise, [split('a')]);
    bench.pull();
    let isClosed = false;
    const closing = bench.operator.close().then(() => {
      isClosed = true;
    });
    reader.resolve(counter(5, { close: () => close.promise })(0));
    await bench.readMailbox();
    expect(isClosed).toBe(false);
    close.resolve();
    await closing;
    expect(bench.letters).toBe(0);
  });

  test('closes a reader that has come, although an attempt that failed meanwhile never reads the mailbox again', async () => {
    let closed = 0;
    const bench = new SourceBench(
      opening(3, {
        close: async () => {
          closed++;
        },
      }),
      [split('a')],
    );
    expect(bench.pull()).toBe('waiting');
    for (let i = 0; i < 10; i++) await Promise.resolve();
    expect(bench.letters).toBe(1);
    await bench.operator.close();
    expect(closed).toBe(1);
  });

  test('does not mind that what it was opening failed', async () => {
    const reader = deferred<Reader>();
    const bench = new SourceBench(() => reader.promise, [split('a')]);
    bench.pull();
    reader.reject(new Error('gone'));
    await bench.operator.close();
  });

  test('closes all readers although one of them cannot be, and says so', async () => {
    const closed: string[] = [];
    const open: Open = async ({ id }) =>
      counter(0, {
        completed: () => undefined,
        close: () => {
          closed.push(id);
          if (id === 'a') throw new Error('stuck');
          return Promise.resolve();
        },
      })(0);
    const bench = new SourceBench(open, [split('a'), split('b'), undefined], 'acknowledging');
    await bench.run(10);
    await expect(bench.operator.close()).rejects.toMatchObject({
      code: 'SOURCE_FAILED',
      message: expect.stringContaining('stuck'),
    });
    expect(closed.toSorted()).toEqual(['a', 'b']);
  });
});

describe('a source that fails', () => {
  const failing = (text: string) => (): never => {
    throw new Error(text);
  };
  test.each<[string, Open]>([
    ['cannot be opened', () => Promise.reject(new Error('boom'))],
    ['throws instead of opening', failing('boom')],
    ['throws when it is polled', opening(0, { poll: failing('boom') })],
    ['rejects a poll', opening(0, { poll: () => Promise.reject(new Error('boom')) })],
    ['has no position', opening(3, { position: failing('boom') })],
    [
      'has no position after an asynchronous poll',
      opening(3, { poll: () => Promise.resolve([1]), position: failing('boom') }),
    ],
    ['cannot be closed at the end of a split', opening(0, { close: () => Promise.reject(new Error('boom')) })],
    ['throws when it is closed at the end of a split', opening(0, { close: failing('boom') })],
  ])('is named with its split: %s', async (_how, open) => {
    const bench = new SourceBench(open, [split('a')]);
    await expect(bench.run()).rejects.toMatchObject({
      code: 'SOURCE_FAILED',
      message: expect.stringMatching(/Source numbers of job test, split a,.*boom/),
    });
  });

  test.each<[string, SourceGrade, Open, string]>([
    [
      'opens nothing',
      'replayable',
      () => Promise.resolve(undefined as never),
      'open() gave undefined, which has no poll()',
    ],
    [
      'opens something that cannot be closed',
      'replayable',
      opening(3, { close: undefined as never }),
      'open() gave an object, which has no close()',
    ],
    ['acknowledges nothing', 'acknowledging', opening(3), 'a reader without completed()'],
    [
      'polls neither records, a promise nor the end',
      'replayable',
      opening(3, { poll: () => undefined as never }),
      'poll() gave undefined',
    ],
    [
      'promises what is neither records nor the end',
      'replayable',
      opening(3, { poll: () => Promise.resolve({ records: [1] } as never) }),
      'poll() gave an object',
    ],
    [
      'promises a position',
      'replayable',
      opening(3, { position: () => Promise.resolve(1) as never }),
      'position() returned a promise',
    ],
  ])('against its contract is named with its split, and not tried again: %s', async (_how, grade, open, text) => {
    const bench = new SourceBench(open, [split('a')], grade);
    await expect(bench.run()).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
      recoverable: false,
      message: expect.stringMatching(/Source numbers of job test, split a: /),
    });
    await expect(new SourceBench(open, [split('a')], grade).run()).rejects.toThrow(text);
  });

  test('does not lose the position that it was opened at: it would begin at the beginning after the next failure', async () => {
    const bench = new SourceBench(opening(9, { position: () => undefined as never }), []);
    await bench.operator.restore(restoredSplits([{ split: split('a'), position: 7 }]));
    await expect(bench.run()).rejects.toThrow(/PROTOCOL_VIOLATION.*split a.*although there was a position before/);
  });

  test('may open a reader without a promise', async () => {
    const bench = new SourceBench(((_split: SourceSplit, position?: number) => counter(3)(position)) as never, [
      split('a'),
    ]);
    expect(await bench.run()).toBe('ended');
    expect(bench.emitted).toEqual([0, 1, 2]);
  });

  test('keeps a code of its own', async () => {
    const bench = new SourceBench(
      () => Promise.reject(Object.assign(new Error('x'), { '~weir': true, code: 'SOURCE_POSITION_GONE' })),
      [split('a')],
    );
    await expect(bench.run()).rejects.toMatchObject({ code: 'SOURCE_POSITION_GONE' });
  });
});

describe('a reader that acknowledges', () => {
  interface Acknowledging {
    readonly bench: SourceBench;
    readonly log: string[];
  }
  function acknowledging(end: number, splits = [split('a')]): Acknowledging {
    const log: string[] = [];
    const open: Open = async ({ id }, position) =>
      counter(end, {
        completed: (checkpointId, upTo) => void log.push(`${id}: ${String(checkpointId)} up to ${String(upTo)}`),
        close: async () => void log.push(`${id}: closed`),
      })(position);
    return { log, bench: new SourceBench(open, [...splits, undefined], 'acknowledging') };
  }

  test('is told how far the checkpoint covers it, not how far it has read since', async () => {
    const { bench, log } = acknowledging(100);
    await bench.run(1);
    bench.pull(10);
    bench.capture(1);
    bench.pull(10);
    await bench.operator.completed(1);
    expect(log).toEqual(['a: 1 up to 10']);
  });

  test('is told once, of the newest of the checkpoints that one completes', async () => {
    const { bench, log } = acknowledging(100);
    await bench.run(1);
    for (const id of [1, 2, 3]) {
      bench.pull(10);
      bench.capture(id);
    }
    await bench.operator.completed(2);
    await bench.operator.completed(2);
    await bench.operator.completed(1);
    await bench.operator.completed(3);
    expect(log).toEqual(['a: 2 up to 20', 'a: 3 up to 30']);
  });

  test('is told nothing of checkpoints that it was in no part of', async () => {
    const { bench, log } = acknowledging(100);
    bench.capture(1);
    await bench.run(1);
    bench.pull(10);
    await bench.operator.completed(1);
    bench.capture(2);
    bench.operator.aborted(2);
    await bench.operator.completed(2);
    expect(log).toEqual([]);
  });

  test('stays after the end of its split until a checkpoint covers its last record', async () => {
    const { bench, log } = acknowledging(20);
    await bench.run(1);
    bench.pull(10);
    bench.capture(1);
    await bench.run(5);
    bench.capture(2);
    bench.capture(3);
    expect(bench.finished).toEqual(['a']);
    await bench.operator.completed(1);
    expect(log.splice(0)).toEqual(['a: 1 up to 10']);
    bench.operator.aborted(2);
    await bench.operator.completed(3);
    expect(log).toEqual(['a: 3 up to 20', 'a: closed']);
    await bench.operator.close();
    expect(log).toHaveLength(2);
  });

  test('is told nothing for as long as it has no position', async () => {
    const told: unknown[] = [];
    const at: { position?: number } = {};
    const open = opening(0, {
      poll: () => [],
      position: () => at.position as number,
      completed: (...given) => void told.push(given),
    });
    const bench = new SourceBench(open, [split('a')], 'acknowledging');
    await bench.run(1);
    bench.capture(1);
    at.position = 7;
    bench.pull();
    bench.capture(2);
    await bench.operator.completed(1);
    expect(told).toEqual([]);
    await bench.operator.completed(2);
    expect(told).toEqual([[2, 7]]);
  });

  test('hears of what it passed over before the end of its split', async () => {
    let position = 5;
    const told: unknown[] = [];
    const open = opening(0, {
      poll: () => {
        position = 9;
        return 'end';
      },
      position: () => position,
      completed: (...given) => void told.push(given),
    });
    const bench = new SourceBench(open, [split('a')], 'acknowledging');
    await bench.run(5);
    bench.capture(1);
    await bench.operator.completed(1);
    expect(told).toEqual([[1, 9]]);
  });

  test('need not be of an acknowledging source to hear of its last position', async () => {
    const log: string[] = [];
    const open: Open = async (_split, position) =>
      counter(3, {
        completed: (id, upTo) => void log.push(`${String(id)} up to ${String(upTo)}`),
        close: async () => void log.push('closed'),
      })(position);
    const bench = new SourceBench(open, [split('a')], 'replayable');
    expect(await bench.run()).toBe('ended');
    bench.capture(1);
    await bench.operator.completed(1);
    expect(log).toEqual(['1 up to 3', 'closed']);
  });

  test('is closed at the end of its split where no checkpoints are taken', async () => {
    const log: string[] = [];
    const open: Open = async (_split, position) =>
      counter(3, { completed: () => undefined, close: async () => void log.push('closed') })(position);
    const bench = new SourceBench(open, [split('a')], 'acknowledging', true, false);
    expect(await bench.run()).toBe('ended');
    expect(log).toEqual(['closed']);
  });

  test('is closed with the others if it stays to the end', async () => {
    const { bench, log } = acknowledging(3, [split('a'), split('b')]);
    await bench.run(12);
    bench.capture(1);
    await bench.operator.close();
    expect(log.toSorted()).toEqual(['a: closed', 'b: closed']);
  });

  test('that cannot acknowledge fails the attempt, and is closed', async () => {
    const log: string[] = [];
    const open: Open = async (_split, position) =>
      counter(1, {
        completed: () => Promise.reject(new Error('upstream is gone')),
        close: async () => void log.push('closed'),
      })(position);
    const bench = new SourceBench(open, [split('a'), undefined], 'acknowledging');
    await bench.run(5);
    bench.capture(1);
    await expect(bench.operator.completed(1)).rejects.toMatchObject({ code: 'SOURCE_FAILED' });
    await bench.operator.close();
    expect(log).toEqual(['closed']);
  });

  test('is told of one checkpoint after the other', async () => {
    const first = deferred();
    const log: string[] = [];
    const open: Open = async (_split, position) =>
      counter(100, {
        completed: async (id) => {
          log.push(`begin ${String(id)}`);
          if (id === 1) await first.promise;
          log.push(`end ${String(id)}`);
        },
      })(position);
    const bench = new SourceBench(open, [split('a')], 'acknowledging');
    await bench.run(1);
    for (const id of [1, 2]) {
      bench.pull(1);
      bench.capture(id);
    }
    const told = [bench.operator.completed(1), bench.operator.completed(2)];
    await bench.readMailbox();
    first.resolve();
    await Promise.all(told);
    expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
  });
});
