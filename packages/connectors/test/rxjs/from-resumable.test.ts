import { fc, test as property } from '@fast-check/vitest';
import { SILENT, type Logger, type SourceReader } from '@weir/core/contracts';
import { map } from '@weir/core/operators';
import { readerContext, sourceSuite, VirtualClock } from '@weir/testkit';
import {
  asyncScheduler,
  concat,
  EMPTY,
  map as rxMap,
  NEVER,
  Observable,
  observeOn,
  of,
  range,
  ReplaySubject,
  skip,
  Subject,
  throwError,
  type ObservableInput,
  type Subscriber,
} from 'rxjs';
import { describe, expect, test } from 'vitest';
import { fromResumable, type FromResumableOptions, type Resumable } from '../../src/rxjs/index.js';
import { into, RESTART_DELAY_MS, runJob } from '../support/jobs.js';

type Item = Resumable<number, number>;
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const item = (n: number): Item => ({ value: n, resumeAt: n + 1 });

const INPUTS: Record<string, (at: number, end: number) => ObservableInput<Item>> = {
  'an Observable that pushes at once': (at, end) => range(at, end - at).pipe(rxMap(item)),
  'an Observable that pushes in turns': (at, end) => range(at, end - at).pipe(rxMap(item), observeOn(asyncScheduler)),
  'a promise of one record at a time': (at, end) => (at < end ? Promise.resolve(item(at)) : EMPTY),
  'an iterable': function* (at, end) {
    for (let n = at; n < end; n++) yield item(n);
  },
  'an async iterable': async function* (at, end) {
    for (let n = at; n < end; n++) yield item(n);
  },
};

describe.each(Object.entries(INPUTS))('the contract of sources is kept by fromResumable over %s', (name, input) => {
  // A promise ends after its record, so it is only whole where every record fills the buffer.
  const capacity = name.startsWith('a promise') ? 1 : 7;
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: false },
    create: () => ({
      source: () => fromResumable({ start: 0, capacity, open: (at) => input(at, 40) }),
      expected: { resumable: upTo(40) },
    }),
  });
});

describe.each(['a log that is followed from its end', 'a log that has records already'])(
  'the contract of sources is kept by fromResumable over %s',
  (which) => {
    sourceSuite(test, {
      capabilities: { grade: 'replayable', bounded: false },
      create() {
        const log = new ReplaySubject<number>();
        let length = 0;
        let state: 'works' | 'fails' | 'hangs' = 'works';
        const append = (count: number): void => {
          for (let i = 0; i < count; i++) log.next(length++);
        };
        const already = which === 'a log that has records already' ? 5 : 0;
        const open = async function* (at: number, signal: AbortSignal): AsyncGenerator<Item> {
          const pulled = eachValueFrom(log.pipe(skip(at)), signal);
          for await (const n of pulled) {
            if (state === 'fails') throw new Error('the log is down');
            if (state === 'hangs' && !signal.aborted)
              await new Promise((resolve) => signal.addEventListener('abort', resolve));
            yield item(n);
          }
        };
        append(already);
        return {
          source: () => fromResumable({ start: length - already, capacity: 1, open }),
          expected: { resumable: upTo(already) },
          arriving: {
            splitId: 'resumable',
            records: [already, already + 1, already + 2],
            arrive: () => {
              append(3);
            },
          },
          outside: {
            fail: () => (state = 'fails'),
            hang: () => (state = 'hangs'),
            work: () => (state = 'works'),
          },
        };
      },
    });
  },
);

/** What an Observable has and brings, one value after the other. */
async function* eachValueFrom<V>(source: Observable<V>, signal: AbortSignal): AsyncGenerator<V> {
  const values: V[] = [];
  let wake: () => void = () => undefined;
  const subscription = source.subscribe((value) => {
    values.push(value);
    wake();
  });
  signal.addEventListener('abort', () => {
    wake();
  });
  try {
    while (!signal.aborted) {
      if (values.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else yield values.shift() as V;
    }
  } finally {
    subscription.unsubscribe();
  }
}

/** A reader from `position` on. */
function reading(
  options: Partial<FromResumableOptions<number, number>> & Pick<FromResumableOptions<number, number>, 'open'>,
  context: Parameters<typeof readerContext>[0] = {},
  position?: number,
): Promise<SourceReader<number, number>> {
  return fromResumable({ start: 0, ...options }).open(
    { id: 'resumable', start: options.start ?? 0 },
    position,
    readerContext(context),
  );
}

async function readToEnd(reader: SourceReader<number>, max: number): Promise<number[]> {
  const records: number[] = [];
  for (;;) {
    const answer = await reader.poll(max);
    if (answer === 'end') return records;
    records.push(...answer);
  }
}

describe('something that pushes', () => {
  test('is unsubscribed when the buffer is full, and opened at the last record in it once that is half empty', async () => {
    const opened: number[] = [];
    const subject = new Subject<number>();
    const reader = await reading({
      capacity: 4,
      open: (at) => {
        opened.push(at);
        return subject.pipe(rxMap(item));
      },
    });
    for (const n of upTo(4)) subject.next(n);
    expect(subject.observed).toBe(false);
    expect(reader.poll(1)).toEqual([0]);
    await Promise.resolve();
    expect([subject.observed, opened]).toEqual([false, [0]]);
    expect(reader.poll(1)).toEqual([1]);
    await Promise.resolve();
    expect([subject.observed, opened]).toEqual([true, [0, 4]]);
    expect(reader.position()).toBe(2);
    subject.next(4);
    subject.complete();
    expect(await readToEnd(reader, 10)).toEqual([2, 3, 4]);
  });

  property.prop([
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 0, max: 100 }),
    fc.constantFrom(...Object.keys(INPUTS).filter((name) => !name.startsWith('a promise'))),
  ])(
    'or is pulled comes through in order, never further ahead than the buffer and a poll hold (ME-02)',
    async (capacity, max, end, name) => {
      let produced = 0;
      let read = 0;
      let mostAhead = 0;
      const reader = await reading({
        capacity,
        open: (at) => {
          produced = at;
          const counted = (n: Item): Item => {
            mostAhead = Math.max(mostAhead, ++produced - read);
            return n;
          };
          const input = INPUTS[name]?.(at, end) as AsyncIterable<Item> | Observable<Item> | Iterable<Item>;
          if (input instanceof Observable) return input.pipe(rxMap(counted));
          if (Symbol.iterator in input) {
            return (function* () {
              for (const n of input) yield counted(n);
            })();
          }
          return (async function* () {
            for await (const n of input) yield counted(n);
          })();
        },
      });
      const records: number[] = [];
      for (;;) {
        const answer = await reader.poll(max);
        if (answer === 'end') break;
        records.push(...answer);
        read = records.length;
        expect(reader.position()).toBe(read);
      }
      await reader.close();
      expect(records).toEqual(upTo(end));
      // What the last poll took is not counted as read before the next.
      expect(mostAhead).toBeLessThanOrEqual(capacity + max);
    },
  );

  test('cannot bring anything after it was unsubscribed', async () => {
    const subscribers: Subscriber<Item>[] = [];
    const reader = await reading({
      capacity: 2,
      open: () => new Observable<Item>((subscriber) => void subscribers.push(subscriber)),
    });
    subscribers[0]?.next(item(0));
    subscribers[0]?.next(item(1));
    subscribers[0]?.next(item(2));
    subscribers[0]?.error(new Error('late'));
    expect(reader.poll(10)).toEqual([0, 1]);
    await Promise.resolve();
    subscribers[0]?.next(item(3));
    subscribers[1]?.next(item(2));
    subscribers[1]?.complete();
    expect(await readToEnd(reader, 10)).toEqual([2]);
  });

  test('ends the split when it is opened at its end', async () => {
    const opened: number[] = [];
    const reader = await reading({
      capacity: 5,
      open: (at) => {
        opened.push(at);
        return range(at, 5 - at).pipe(rxMap(item));
      },
    });
    expect(await readToEnd(reader, 10)).toEqual(upTo(5));
    expect(opened).toEqual([0, 5]);
  });

  test('and never moves on is a broken contract, not an endless loop', async () => {
    const reader = await reading({
      capacity: 3,
      open: () => of(0, 1, 2, 3).pipe(rxMap((n) => ({ value: n, resumeAt: 0 }))),
    });
    expect(reader.poll(10)).toEqual([0, 1, 2]);
    await expect(readToEnd(reader, 10)).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION', recoverable: false });
  });

  test.each([[undefined], [{ value: 1 }]])(
    'and gives %j instead of a record with its position is refused',
    async (wrong) => {
      const reader = await reading({ open: () => of(item(0), wrong as Item) });
      expect(reader.poll(10)).toEqual([0]);
      await expect(readToEnd(reader, 10)).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    },
  );

  test('fails the reader when it cannot be let go of', async () => {
    const reader = await reading({
      capacity: 1,
      open: () =>
        new Observable<Item>((subscriber) => {
          subscriber.add(() => {
            throw new Error('stuck');
          });
          Promise.resolve().then(
            () => {
              subscriber.next(item(0));
            },
            () => undefined,
          );
        }),
    });
    expect(await reader.poll(10)).toEqual([0]);
    await expect(readToEnd(reader, 10)).rejects.toThrow('stuck');
  });

  test('is told by its signal that it is wanted no more', async () => {
    const signals: AbortSignal[] = [];
    const reader = await reading({
      capacity: 2,
      open: (at, signal) => {
        signals.push(signal);
        return concat(at === 0 ? of(item(0), item(1)) : EMPTY, NEVER);
      },
    });
    expect(reader.poll(10)).toEqual([0, 1]);
    await Promise.resolve();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await reader.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

describe('an async generator', () => {
  test('is opened once, waits while the buffer is full, and runs its finally once', async () => {
    let opens = 0;
    let pulled = 0;
    let finals = 0;
    const reader = await reading({
      capacity: 4,
      open: async function* (at) {
        opens++;
        try {
          for (let n = at; n < 10; n++) {
            pulled++;
            yield item(n);
          }
        } finally {
          finals++;
        }
      },
    });
    const clock = new VirtualClock();
    await clock.settle();
    expect(pulled).toBe(4);
    expect(reader.poll(1)).toEqual([0]);
    await clock.settle();
    expect(pulled).toBe(4);
    expect(reader.poll(1)).toEqual([1]);
    await clock.settle();
    expect(pulled).toBe(6);
    expect(await readToEnd(reader, 3)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    await reader.close();
    await reader.close();
    expect([opens, finals]).toEqual([1, 1]);
  });

  test.each([
    ['while it waits for room', 1],
    ['in the middle of an await that its signal ends', 100],
  ])('is closed %s, before close settles', async (_when, capacity) => {
    const finals: number[] = [];
    const reader = await reading({
      capacity,
      open: async function* (at, signal) {
        try {
          for (const n of [0, 1]) yield item(n);
          await new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          });
        } finally {
          finals.push(at);
        }
      },
    });
    expect(await reader.poll(1)).toEqual([0]);
    await reader.close();
    expect(finals).toEqual([0]);
  });

  test('that hangs holds the next attempt back for 10 s and is then left behind, with a warning', async () => {
    const warnings: object[] = [];
    const logger: Logger = { ...SILENT, warn: (fields) => warnings.push(fields) };
    const clock = new VirtualClock();
    const reader = await reading(
      {
        open: async function* () {
          yield item(0);
          await new Promise(() => undefined);
        },
      },
      { clock, logger, uid: 'feed' },
    );
    expect(await reader.poll(1)).toEqual([0]);
    const outstanding = Promise.resolve(reader.poll(1));
    let closed = false;
    const closing = reader.close().then(() => (closed = true));
    await clock.advance(9_999);
    expect(closed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(await outstanding).toEqual([]);
    expect(warnings).toEqual([{ uid: 'feed', waitedMs: 10_000 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  test('whose finally throws is reported by close', async () => {
    const reader = await reading({
      open: async function* () {
        try {
          yield item(0);
          yield item(1);
        } finally {
          throw new Error('cannot close');
        }
      },
      capacity: 1,
    });
    expect(await reader.poll(1)).toEqual([0]);
    await expect(reader.close()).rejects.toThrow('cannot close');
  });
});

describe('a job over fromResumable', () => {
  test('reads everything and ends', async () => {
    const out: number[] = [];
    const run = await runJob((env) => {
      env.from(fromResumable({ start: 0, open: (at) => range(at, 30_000 - at).pipe(rxMap(item)) })).to(into(out));
    });
    await run.clock.settle();
    expect(await run.outcome).toBe('finished');
    expect(out).toEqual(upTo(30_000));
  });

  test('never has two readers, and none when it is over, however often it fails (SO-19)', async () => {
    let open = 0;
    let peak = 0;
    let failures = 0;
    let finals = 0;
    const out: number[] = [];
    const run = await runJob((env) => {
      env
        .from(
          fromResumable({
            start: 0,
            capacity: 3,
            open: async function* (at) {
              peak = Math.max(peak, ++open);
              try {
                for (let n = at; n < 20; n++) yield item(n);
              } finally {
                finals++;
                open--;
              }
            },
          }),
        )
        .pipe(
          map((n) => {
            if (n === 10 && failures < 3) throw new Error(`poison ${String(++failures)}`);
            return n;
          }),
        )
        .to(into(out));
    });
    await run.clock.advance(60_000);
    expect(await run.outcome).toBe('finished');
    expect(out.slice(-20)).toEqual(upTo(20));
    expect({ open, peak, finals }).toEqual({ open: 0, peak: 1, finals: 4 });
  });

  test.each<[string, (attempt: number) => ObservableInput<Item>]>([
    [
      'open throws',
      () => {
        throw new Error('no route');
      },
    ],
    [
      'what it opened fails',
      () =>
        concat(
          of(item(0)),
          throwError(() => new Error('no route')),
        ),
    ],
    ['what it opened is nothing that can be read', () => 42 as unknown as ObservableInput<Item>],
  ])('fails when %s, and tries again with the next attempt', async (_what, broken) => {
    let opens = 0;
    const out: number[] = [];
    const run = await runJob((env) => {
      env
        .from(
          fromResumable({ start: 0, open: (at) => (++opens === 1 ? broken(opens) : range(at, 3).pipe(rxMap(item))) }),
          {
            uid: 'flaky',
          },
        )
        .to(into(out));
    });
    await run.clock.settle();
    expect(run.events.find(({ kind }) => kind === 'failure')).toMatchObject({ error: { code: 'SOURCE_FAILED' } });
    await run.clock.advance(RESTART_DELAY_MS);
    expect(await run.outcome).toBe('finished');
    expect(out.slice(-3)).toEqual([0, 1, 2]);
    expect(opens).toBe(2);
  });

  test('takes what there is when it is cancelled in the middle of a poll', async () => {
    const subject = new Subject<number>();
    const out: number[] = [];
    const run = await runJob((env) => {
      env.from(fromResumable({ start: 0, open: () => subject.pipe(rxMap(item)) })).to(into(out));
    });
    await run.clock.settle();
    subject.next(0);
    await run.clock.settle();
    run.cancel();
    await run.clock.settle();
    expect(await run.outcome).toBe('cancelled');
    expect([out, subject.observed]).toEqual([[0], false]);
  });
});
