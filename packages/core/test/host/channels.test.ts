import { describe, expect, test } from 'vitest';
import { wire } from '../../src/host/channels.js';
import { coProcess, keyBy, map, rebalance, union } from '../../src/operators.js';
import { plan } from '../support/attempt-bench.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

describe('channels', () => {
  test('connect every pair of subtasks over an exchange', () => {
    const wiring = wire(
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

  test('connect subtask to subtask where records go forward', () => {
    const wiring = wire(
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

  test('know which input they feed', () => {
    const wiring = wire(
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

  test('are none at the ends of a job', () => {
    const wiring = wire(
      plan((from) => {
        from(splitSource([[1]]), { uid: 'in' }).to(slowSink<number>([], () => false));
      }),
    );
    expect([wiring.inputs('in', 0), wiring.outputs('in', 0), wiring.inputs('nobody', 0)]).toEqual([[], [], []]);
  });
});
