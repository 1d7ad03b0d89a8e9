import { fc, test as property } from '@fast-check/vitest';
import { mergeMap, range } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch } from '../../src/element/element.js';
import { flatMapOperator } from '../../src/operator/flat-map.js';
import type { Flow } from '../../src/operator/flow.js';
import type { Operator } from '../../src/operator/operator.js';
import { rxOperator } from '../../src/operator/rx.js';
import { SinkOperator } from '../../src/operator/sink-operator.js';
import { mapOperator } from '../../src/operator/stateless.js';
import { operatorContext } from '../support/operator-context.js';
import { sinkServices, slowSink } from '../support/sinks.js';
import { inTurn, StageBench } from '../support/stage-bench.js';

/** Makes `count` records of each: n → n * count, n * count + 1, ... */
interface Expansion {
  readonly kind: 'flatMap' | 'rx' | 'map';
  readonly count: number;
}

function operatorOf({ kind, count }: Expansion, flow: Flow): Operator {
  const context = operatorContext({ flow });
  switch (kind) {
    case 'flatMap':
      return flatMapOperator<number, number>(context, function* (n) {
        for (let i = 0; i < count; i++) yield n * count + i;
      });
    case 'rx':
      return rxOperator<number, number>(
        context,
        mergeMap((n) => range(n * count, count)),
      );
    case 'map':
      return mapOperator<number, number>(context, (n) => n);
  }
}

const factorOf = (chain: readonly Expansion[]): number =>
  chain.reduce((product, { kind, count }) => product * (kind === 'map' ? 1 : count), 1);
const recordsOf = (chain: readonly Expansion[], input: number): number[] =>
  Array.from({ length: input * factorOf(chain) }, (_, i) => i);

const expansion: fc.Arbitrary<Expansion> = fc.record({
  kind: fc.constantFrom('flatMap', 'rx', 'map'),
  // Around the size of a batch, and of the interval at which operators look at the flow.
  count: fc.constantFrom(0, 1, 2, 3, 63, 64, 70, 1023, 1024, 1025, 1500, 2100),
});
// Not more than some ten thousand records, also in the middle of the chain.
const chains = fc
  .array(expansion, { minLength: 1, maxLength: 4 })
  .filter((chain) => chain.every((_, i) => factorOf(chain.slice(0, i + 1)) <= 6_000));
const demands = fc.array(fc.boolean(), { maxLength: 20 });
const batches = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 });

async function sendAll(bench: StageBench, sizes: readonly number[]): Promise<number> {
  let next = 0;
  for (const size of sizes) {
    bench.send(batch(Array.from({ length: size }, () => next++)));
    await bench.drain();
  }
  return next;
}

describe('operators that may be stopped between any two records', () => {
  property.prop([chains, batches, demands])(
    'give the same records in the same order as if nothing had ever stopped them',
    async (chain, sizes, demand) => {
      const bench = new StageBench(inTurn(demand), (flow) => chain.map((step) => operatorOf(step, flow)));
      const sent = await sendAll(bench, sizes);
      expect(bench.errors).toEqual([]);
      expect(bench.records).toEqual(recordsOf(chain, sent));
    },
  );

  property.prop([chains, batches, demands, demands])(
    'write everything in order to a sink that takes its time, one write after the other',
    async (chain, sizes, demand, isFast) => {
      const written: number[] = [];
      const wait = inTurn(isFast);
      const bench = new StageBench(inTurn(demand), (flow) => [
        ...chain.map((step) => operatorOf(step, flow)),
        new SinkOperator(
          slowSink(written, () => !wait()),
          operatorContext({ flow }),
          sinkServices(),
        ),
      ]);
      await bench.open();
      const sent = await sendAll(bench, sizes);
      expect(bench.errors).toEqual([]);
      expect(written).toEqual(recordsOf(chain, sent));
    },
  );
});

describe('an operator that is suspended', () => {
  test.each([
    [
      'inside an iterable, when the operator in front flushes what is left of its last record',
      [1500, 3],
      [false, true],
    ],
    ['when a single record in front makes several batches', [2100, 2], [false, false, true]],
  ])('keeps what arrives meanwhile in its place: %s', async (_when, counts, demand) => {
    const chain = counts.map((count): Expansion => ({ kind: 'flatMap', count }));
    const bench = new StageBench(inTurn(demand), (flow) => chain.map((step) => operatorOf(step, flow)));
    const sent = await sendAll(bench, [3]);
    expect(bench.records).toEqual(recordsOf(chain, sent));
  });

  test('holds a watermark back until the records in front of it have left', async () => {
    let open = false;
    const bench = new StageBench(
      () => open,
      (flow) => [operatorOf({ kind: 'flatMap', count: 2000 }, flow)],
    );
    bench.send(batch([0]));
    bench.send({ kind: 'watermark', time: 7 });
    open = true;
    await bench.drain();
    expect(bench.out.map(({ kind }) => kind)).toEqual(['batch', 'batch', 'watermark']);
  });
});
