import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { fixedDelay } from '../fixtures/fixed-delay.js';
import { map, union } from '@weir/core/operators';
import { describe, expect, test } from 'vitest';
import {
  failOnce,
  gate,
  ledger,
  numbers,
  readerContext,
  sinkSuite,
  sourceSuite,
  transactionalMemorySink,
  VirtualClock,
} from '../../src/index.js';

describe('numbers', () => {
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: true },
    create: () => ({
      source: () => numbers(25, { perPoll: 4 }),
      expected: { numbers: Array.from({ length: 25 }, (_, i) => i) },
    }),
  });

  test('lets the event loop turn as often as asked for before it answers', async () => {
    const clock = new VirtualClock();
    let turns = 0;
    const nextTurn = clock.nextTurn.bind(clock);
    clock.nextTurn = (action) => {
      turns++;
      return nextTurn(action);
    };
    const reader = await numbers(3, { turnsBetween: 5 }).open({ id: 'numbers' }, undefined, readerContext({ clock }));
    const polled = reader.poll(2);
    await clock.settle();
    expect(await polled).toEqual([0, 1]);
    expect(turns).toBe(5);
  });
});

describe('the transactional memory sink', () => {
  sinkSuite(test, {
    capabilities: { grade: 'exactly-once' },
    create: () => {
      const sink = transactionalMemorySink<number>();
      return { sink: () => sink, record: (n) => n, visible: () => sink.visible };
    },
  });
});

describe('the ledger', () => {
  sinkSuite(test, {
    capabilities: { grade: 'at-least-once' },
    create: () => {
      const sink = ledger<number>();
      return { sink: () => sink, record: (n) => n, visible: () => sink.entries.map(({ record }) => record) };
    },
  });

  test('shows the attempts in which a record was written', async () => {
    const env = createEnvironment({ logger: SILENT });
    const sink = ledger<number>();
    env
      .from(numbers(3, { perPoll: 1, turnsBetween: 3 }))
      .pipe(failOnce((n) => n === 2))
      .to(sink);
    await env.execute('job', { restart: fixedDelay() });
    expect(sink.entries.map(({ record, attempt }) => [record, attempt])).toEqual([
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
      [2, 2],
    ]);
  });
});

describe('a gate', () => {
  test('holds back its branch until it is opened', async () => {
    const env = createEnvironment({ logger: SILENT });
    const sink = ledger<number>();
    const held = gate();
    held.close();
    const stream = env.from(numbers(10));
    stream
      .pipe(
        held.pass(),
        map((n) => -n),
        union(stream),
        map((n) => n),
      )
      .to(sink);
    const job = await env.start('job');
    await held.reached();
    expect(sink.entries.every(({ record }) => record >= 0)).toBe(true);
    held.open();
    await job.done;
    expect(sink.entries).toHaveLength(20);
  });

  test('lets a job end that is cancelled while it waits', async () => {
    const env = createEnvironment({ logger: SILENT });
    const sink = ledger<number>();
    const held = gate();
    held.close();
    env.from(numbers(10)).pipe(held.pass()).to(sink);
    const job = await env.start('job');
    await held.reached();
    expect(await job.cancel()).toBe('cancelled');
    expect(sink.entries).toEqual([]);
  });
});
