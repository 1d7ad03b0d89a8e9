import { expect, test } from 'vitest';
import { CELL_BYTES, CLEAN, Cell } from '../../src/cache/cell.js';
import { Clock } from '../../src/cache/clock.js';
import { Generations } from '../../src/cache/generations.js';
import type { PackedBatch } from '../../src/cache/packed-batch.js';
import { CurrentKey } from '../../src/state/current-key.js';

const SIZE = 100 - CELL_BYTES;

class TestCell extends Cell {
  isDropped = false;
  isWritten = false;
  readonly fault: Error | undefined;

  constructor(fault?: Error) {
    super();
    this.fault = fault;
  }
  protected write(batch: PackedBatch): void {
    batch.put().u8(1);
    batch.value();
    if (this.fault !== undefined) throw this.fault;
    batch.end();
    this.isWritten = true;
  }
  drop(): void {
    this.isDropped = true;
  }
}

function setUp(limit: number): {
  readonly clock: Clock;
  readonly generations: Generations;
  readonly current: CurrentKey;
  readonly batches: number[];
  add(count: number): TestCell[];
  makeRoom(): void;
} {
  const batches: number[] = [];
  const current = new CurrentKey('totals');
  const generations = new Generations({
    write: ({ length }) => batches.push(length),
    writeAside: () => Promise.reject(new Error('not by the clock')),
  });
  const clock = new Clock(limit, generations, current);
  return {
    clock,
    generations,
    current,
    batches,
    add: (count) =>
      Array.from({ length: count }, () => {
        const cell = new TestCell();
        clock.add(cell, SIZE);
        return cell;
      }),
    makeRoom() {
      for (let i = 0; i < 100; i++) clock.makeRoom();
    },
  };
}

test('holds no more bytes than it may', () => {
  const { clock, add, makeRoom } = setUp(10_000);
  const cells = add(1000);
  expect(clock.bytes).toBe(100_000);
  makeRoom();
  expect(clock.bytes).toBeLessThanOrEqual(10_000);
  expect(clock.bytes).toBe(100 * cells.filter(({ isDropped }) => !isDropped).length);
  expect(clock.evictions).toBe(cells.filter(({ isDropped }) => isDropped).length);
});

test('leaves alone what fits', () => {
  const { clock, add, makeRoom } = setUp(10_000);
  const cells = add(100);
  makeRoom();
  expect(cells.some(({ isDropped }) => isDropped)).toBe(false);
  expect(clock.evictions).toBe(0);
});

test('keeps what is used rather than what is not', () => {
  const { add, clock } = setUp(10_000);
  const hot = add(50);
  for (let round = 0; round < 100; round++) {
    add(20);
    for (const cell of hot) cell.isRecent = true;
    clock.makeRoom();
  }
  expect(hot.every(({ isDropped }) => !isDropped)).toBe(true);
});

test('keeps what was lent to the callback, until the next', () => {
  const { add, current, makeRoom } = setUp(1000);
  current.set('a');
  const lent = add(50);
  for (const cell of lent) cell.lentIn = current.callback;
  add(50);
  makeRoom();
  expect(lent.every(({ isDropped }) => !isDropped)).toBe(true);
  current.set('b');
  makeRoom();
  expect(lent.some(({ isDropped }) => isDropped)).toBe(true);
});

test('writes what is dirty in batches before it lets go of it', () => {
  const { add, generations, batches, makeRoom } = setUp(1000);
  const cells = add(1000);
  for (const cell of cells) generations.mark(cell);
  makeRoom();
  const gone = cells.filter(({ isDropped }) => isDropped);
  expect(gone.length).toBeGreaterThanOrEqual(990);
  expect(gone.every(({ isWritten, dirtyIn }) => isWritten && dirtyIn === CLEAN)).toBe(true);
  expect(batches.length).toBeLessThan(20);
});

test('keeps what is dirty while a capture waits for an older generation, and writes nothing', async () => {
  const { add, generations, batches, makeRoom, clock } = setUp(1000);
  const frozen = add(50);
  for (const cell of frozen) generations.mark(cell);
  let isReached = false;
  generations.freeze({ isWanted: true, reach: () => void (isReached = true), fail: () => undefined });
  const younger = add(50);
  for (const cell of younger) generations.mark(cell);
  const clean = add(50);
  makeRoom();
  expect([...frozen, ...younger].some(({ isDropped }) => isDropped)).toBe(false);
  expect(clean.every(({ isDropped }) => isDropped)).toBe(true);
  expect(batches).toEqual([]);
  for (let i = 0; i < 10; i++) generations.writeSome();
  await generations.busy;
  expect(isReached).toBe(true);
  expect(younger.some(({ isWritten }) => isWritten)).toBe(false);
  // It waits for new cells before it tries again.
  add(300);
  makeRoom();
  expect(clock.bytes).toBeLessThanOrEqual(1000);
});

test('writes what captures have left behind that were given up', () => {
  const { add, generations, makeRoom, clock } = setUp(1000);
  for (const cell of add(500)) generations.mark(cell);
  generations.freeze({ isWanted: false, reach: () => undefined, fail: () => undefined });
  makeRoom();
  makeRoom();
  expect(clock.bytes).toBeLessThanOrEqual(1000);
});

test('keeps a cell that cannot be encoded, and lets the next capture tell of it', () => {
  const { clock, generations, makeRoom, add } = setUp(1000);
  const fault = new Error('a function');
  const bad = new TestCell(fault);
  clock.add(bad, SIZE);
  generations.mark(bad);
  for (const cell of add(100)) generations.mark(cell);
  makeRoom();
  expect(bad.isDropped).toBe(false);
  const failures: Error[] = [];
  for (let capture = 0; capture < 2; capture++) {
    generations.freeze({ isWanted: true, reach: () => undefined, fail: (reason) => failures.push(reason) });
    for (let i = 0; i < 10; i++) generations.writeSome();
  }
  expect(failures).toEqual([fault, fault]);
});

test('writes what is kept for a generation of which nothing else can be encoded', () => {
  const { clock, generations, batches, add } = setUp(10_000);
  const bad = new TestCell(new Error('a function'));
  clock.add(bad, SIZE);
  generations.mark(bad);
  const [good] = add(1);
  generations.mark(good!);
  generations.freeze({ isWanted: true, reach: () => undefined, fail: () => undefined });
  generations.mark(good!);
  for (let i = 0; i < 10; i++) generations.writeSome();
  expect(batches).toHaveLength(1);
  expect(generations.hasFrozen).toBe(false);
});
