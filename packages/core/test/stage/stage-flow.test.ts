import { describe, expect, test } from 'vitest';
import { deferred } from '../support/deferred.js';
import { StageFlow } from '../../src/stage/stage-flow.js';

interface Bench {
  readonly flow: StageFlow;
  readonly settled: ({ readonly error: unknown } | undefined)[];
  demand: boolean;
}
function bench(): Bench {
  const settled: Bench['settled'] = [];
  const flow: StageFlow = new StageFlow(
    () => made.demand,
    (failure) => settled.push(failure),
  );
  const made: Bench = { demand: true, settled, flow };
  return made;
}

describe('the flow of a stage', () => {
  test('is open while there is demand and time', () => {
    const it = bench();
    expect(it.flow.isOpen()).toBe(true);
    it.demand = false;
    expect(it.flow.isOpen()).toBe(false);
    it.demand = true;
    it.flow.begin({ isOver: () => true });
    expect(it.flow.isOpen()).toBe(false);
    it.flow.begin({ isOver: () => false });
    expect(it.flow.isOpen()).toBe(true);
  });

  test('goes on with what was suspended first, and again with that if it suspends again', () => {
    const { flow } = bench();
    const log: string[] = [];
    let left = 3;
    const tail = (): void => {
      log.push('tail');
      if (--left > 0) flow.suspend(tail);
    };
    flow.suspend(tail);
    flow.suspend(() => log.push('middle'));
    flow.suspend(() => log.push('head'));
    expect(flow.isOpen()).toBe(false);
    while (flow.isSuspended) flow.resume();
    expect(log).toEqual(['tail', 'tail', 'tail', 'middle', 'head']);
    expect(flow.isOpen()).toBe(true);
  });

  test('is closed while anything is waited for, and says when that has settled', async () => {
    const { flow, settled } = bench();
    const first = deferred();
    const second = deferred();
    flow.waitFor(first.promise);
    flow.waitFor(second.promise);
    expect([flow.isOpen(), flow.isWaiting]).toEqual([false, true]);
    first.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect([flow.isOpen(), flow.isWaiting]).toEqual([false, true]);
    second.reject(new Error('no'));
    await flow.idle();
    expect(flow.isOpen()).toBe(true);
    expect(settled).toEqual([undefined, { error: new Error('no') }]);
  });

  test('is drained when nothing is suspended and nothing is waited for', async () => {
    const { flow } = bench();
    expect(flow.drained()).toBeUndefined();
    const write = deferred();
    flow.suspend(() => {
      flow.waitFor(write.promise);
    });
    let isDrained = false;
    const drained = flow.drained()?.then(() => {
      isDrained = true;
    });
    flow.resume();
    await Promise.resolve();
    expect(isDrained).toBe(false);
    write.resolve();
    await drained;
    expect(flow.drained()).toBeUndefined();
  });

  test('ends the wait for it to drain when it is abandoned', async () => {
    const { flow } = bench();
    flow.suspend(() => undefined);
    const drained = flow.drained();
    flow.abandon(new Error('the attempt has failed'));
    await expect(drained).rejects.toThrow('the attempt has failed');
  });
});
