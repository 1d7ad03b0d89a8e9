import { describe, expect, test } from 'vitest';
import { wire } from '../../src/host/channels.js';
import { broadcast, coProcess, keyBy, map, rebalance, scan, union } from '../../src/operators.js';
import { plan } from '../support/attempt-bench.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

describe('channels', () => {
  test('connect every pair of subtasks over an exchange', async () => {
    const wiring = await wire(
      plan((from) => {
        from(splitSource([[1]]), { uid: 'in', parallelism: 2 })
          .pipe(
            rebalance(),
            map((n) => n),
          )
          .to(slowSink<number>([], () => false));
      }, 3),
    );
    const outputs = [0, 1].map((i) => wiring.outputs('in', i).flatMap(({ channels }) => channels));
    const inputs = [0, 1, 2].map((i) => wiring.inputs('map-1', i).map(({ channel }) => channel));
    expect(outputs.map((all) => all.length)).toEqual([3, 3]);
    for (const [i, mine] of inputs.entries()) expect(mine).toEqual(outputs.map((all) => all[i]));
    expect(new Set(outputs.flat()).size).toBe(6);
  });

  test('connect subtask to subtask where records go forward', async () => {
    const wiring = await wire(
      plan((from) => {
        const it = from(splitSource([[1]]), { uid: 'in' });
        it.to(
          slowSink<number>([], () => false),
          { uid: 'a' },
        );
        it.to(
          slowSink<number>([], () => false),
          { uid: 'b' },
        );
      }, 2),
    );
    for (const i of [0, 1]) {
      const [a, b] = wiring.outputs('in', i);
      expect(a?.channels).toEqual(wiring.inputs('a', i).map(({ channel }) => channel));
      expect(b?.channels).toEqual(wiring.inputs('b', i).map(({ channel }) => channel));
    }
  });

  test('know which input they feed', async () => {
    const wiring = await wire(
      plan((from) => {
        const a = from(splitSource([[1]]), { uid: 'a' });
        const b = from(splitSource([[1]]), { uid: 'b' });
        a.pipe(
          union(b),
          keyBy((n) => n),
          coProcess(b.pipe(keyBy((n) => n)), { uid: 'join', onFirst: () => undefined, onSecond: () => undefined }),
        ).to(slowSink<unknown>([], () => false));
      }),
    );
    expect(wiring.inputs('join', 0).map(({ input }) => input)).toEqual([0, 0, 1]);
  });

  test('let barriers overtake where a record has a key, or belongs to anybody, unless another input of the stage does not', async () => {
    const wiring = await wire(
      plan((from) => {
        const a = from(splitSource([[1]]), { uid: 'a' });
        const b = from(splitSource([[1]]), { uid: 'b' });
        const sink = slowSink<number>([], () => false);
        a.pipe(
          rebalance(),
          map((n) => n),
        ).to(sink, { uid: 'free' });
        a.pipe(
          broadcast(),
          map((n) => n),
        ).to(sink, { uid: 'everywhere' });
        b.pipe(rebalance(), union(a)).to(sink, { uid: 'mixed' });
        b.to(sink, { uid: 'forward' });
      }, 2),
    );
    const mayOvertake = (stage: string): readonly boolean[] => wiring.outputs(stage, 0).map((edge) => edge.mayOvertake);
    expect(mayOvertake('a')).toEqual([true, false, false]);
    expect(mayOvertake('b')).toEqual([false, false]);
  });

  test('let none overtake where there would be no channel at another parallelism', async () => {
    const wiring = await wire(
      plan((from) => {
        const sink = slowSink<number>([], () => false);
        const step = map((n: number) => n);
        from(splitSource([[1]]), { uid: 'narrow', parallelism: 1 })
          .pipe(step)
          .to(sink, { uid: 'a' });
        const shared = from(splitSource([[1]]), { uid: 'shared', parallelism: 1 });
        shared.to(sink, { uid: 'b' });
        shared.to(sink, { uid: 'c' });
      }, 2),
    );
    const mayOvertake = (stage: string): readonly boolean[] => wiring.outputs(stage, 0).map((edge) => edge.mayOvertake);
    expect(mayOvertake('narrow')).toEqual([false]);
    expect(mayOvertake('shared')).toEqual([true, true]);
  });

  test('have names that do not depend on the parallelism, and the subtasks that they connect', async () => {
    const wiring = await wire(
      plan((from) => {
        from(splitSource([[1]]), { uid: 'in', parallelism: 2 })
          .pipe(
            keyBy((n) => n),
            scan(
              (sum, n) => sum + n,
              () => 0,
              { uid: 'sum' },
            ),
          )
          .to(
            slowSink<number>([], () => false),
            { uid: 'out' },
          );
      }, 3),
    );
    const edge = { producer: 'in', output: 0, consumer: 'sum', input: 0 };
    expect(wiring.inputs('sum', 2).map(({ name }) => name)).toEqual([
      { edge, fromSubtask: 0, toSubtask: 2 },
      { edge, fromSubtask: 1, toSubtask: 2 },
    ]);
  });

  test('are none at the ends of a job', async () => {
    const wiring = await wire(
      plan((from) => {
        from(splitSource([[1]]), { uid: 'in' }).to(slowSink<number>([], () => false));
      }),
    );
    expect([wiring.inputs('in', 0), wiring.outputs('in', 0), wiring.inputs('nobody', 0)]).toEqual([[], [], []]);
  });
});
