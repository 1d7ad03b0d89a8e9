import { describe, expect, test } from 'vitest';
import { HeldBatches } from '../../src/operator/held-batches.js';
import { StageFlow } from '../../src/stage/stage-flow.js';

class HeldBench {
  isOverdrawn = false;
  released = 0;
  readonly flow = new StageFlow(
    () => true,
    () => undefined,
    () => this.isOverdrawn,
  );
  readonly held = new HeldBatches<unknown>(this.flow, () => this.released++);
}

describe('what a sink holds', () => {
  test('is nothing while no barrier waits', () => {
    const { held, flow } = new HeldBench();
    expect(held.hold([1])).toBe(false);
    expect([held.size, flow.isSuspended]).toEqual([0, false]);
  });

  test('is released once, before anything else that is suspended, when the barrier has gone on', () => {
    const bench = new HeldBench();
    const { held, flow } = bench;
    bench.isOverdrawn = true;
    flow.suspend(() => expect(bench.released).toBe(1));
    expect([held.hold([1]), held.hold([2, 3])]).toEqual([true, true]);
    expect([held.all, flow.heldRecords, held.isInFront]).toEqual([[[1], [2, 3]], 3, false]);
    bench.isOverdrawn = false;
    expect([flow.isOpen(), flow.isSuspended, held.isInFront]).toEqual([false, true, true]);
    flow.resume();
    expect(bench.released).toBe(1);
    expect([held.shift(), held.shift(), held.shift()]).toEqual([[1], [2, 3], undefined]);
    flow.resume();
    expect([bench.released, flow.isSuspended]).toEqual([1, false]);
  });

  test('does not keep a stage suspended while the barrier waits', () => {
    const bench = new HeldBench();
    bench.isOverdrawn = true;
    bench.held.hold([1]);
    expect([bench.flow.isSuspended, bench.flow.isOpen()]).toEqual([false, true]);
    expect(bench.flow.drained()).toBeUndefined();
  });

  test('stays held when the next barrier comes before it is written', () => {
    const bench = new HeldBench();
    bench.isOverdrawn = true;
    bench.held.hold([1]);
    bench.isOverdrawn = false;
    bench.flow.resume();
    expect(bench.held.holdOn()).toBe(false);
    bench.isOverdrawn = true;
    expect(bench.held.holdOn()).toBe(true);
    bench.isOverdrawn = false;
    bench.flow.resume();
    expect(bench.released).toBe(2);
  });

  test('can be stored: what cannot has to be written', () => {
    const bench = new HeldBench();
    bench.isOverdrawn = true;
    expect(bench.held.hold([() => 1])).toBe(false);
    expect(bench.held.size).toBe(0);
  });
});
