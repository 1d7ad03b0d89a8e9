import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { describePlan, planOf, type Plan } from '../../src/graph/plan.js';
import type { StreamNode } from '../../src/graph/stream-node.js';
import {
  broadcast,
  coProcess,
  filter,
  keyBy,
  keyedProcess,
  map,
  rebalance,
  scan,
  union,
  valueState,
} from '../../src/operators.js';
import type { Stream } from '../../src/graph/stream.js';
import { plan, type Describe, type From } from '../support/attempt-bench.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

type Numbers = Stream<number, 'replayable'>;
const source = (from: From, uid?: string, parallelism?: number): Numbers =>
  from(splitSource([[1]]), { uid, parallelism });
const end = (stream: Stream<unknown>, uid?: string, parallelism?: number): void => {
  stream.to(
    slowSink<unknown>([], () => false),
    { uid, parallelism },
  );
};
const step = map((n: number) => n);

/** Stages as their operators, edges as `from kind to`. */
function drawn({ stages, edges }: Plan): { stages: string[]; edges: string[] } {
  return {
    stages: stages.map(
      ({ operators, parallelism }) => `${operators.map(({ uid }) => uid).join(' > ')} x${String(parallelism)}`,
    ),
    edges: edges.map(
      ({ from, to, input, partitioning }) =>
        `${from} ${partitioning.kind} ${to}${input === 0 ? '' : ` (${String(input)})`}`,
    ),
  };
}

describe('a plan', () => {
  test.each<[string, Describe, { stages: string[]; edges: string[] }]>([
    [
      'puts operators into one stage where records go forward one to one',
      (from) => {
        end(
          source(from).pipe(
            step,
            filter((n) => n > 0),
            step,
          ),
        );
      },
      { stages: ['source-0 > map-1 > filter-2 > map-3 > sink-4 x2'], edges: [] },
    ],
    [
      'begins a stage at an exchange',
      (from) => {
        end(source(from).pipe(step, rebalance(), step, broadcast(), step));
      },
      {
        stages: ['source-0 > map-1 x2', 'map-2 x2', 'map-3 > sink-4 x2'],
        edges: ['source-0 rebalance map-2', 'map-2 broadcast map-3'],
      },
    ],
    [
      'begins a stage at a key, and goes on behind it',
      (from) => {
        end(
          source(from).pipe(
            step,
            keyBy((n) => n),
            scan(
              (sum, n) => sum + n,
              () => 0,
              { uid: 'sum' },
            ),
            step,
          ),
        );
      },
      { stages: ['source-0 > map-1 x2', 'sum > map-3 > sink-4 x2'], edges: ['source-0 hash sum'] },
    ],
    [
      'lets a key travel as far as it is read, also to another number of subtasks',
      (from) => {
        end(
          source(from).pipe(
            keyBy((n) => n),
            step,
            scan((sum, n) => sum + n, 0, { uid: 'sum', parallelism: 3 }),
            step,
          ),
        );
      },
      {
        stages: ['source-0 x2', 'map-1 x2', 'sum x3', 'map-3 > sink-4 x2'],
        edges: ['source-0 hash map-1', 'map-1 hash sum', 'sum rebalance map-3'],
      },
    ],
    [
      'keeps keyed operators of one key in one stage',
      (from) => {
        end(
          source(from).pipe(
            keyBy((n) => n),
            scan((sum, n) => sum + n, 0, { uid: 'sum' }),
            step,
            scan((sum, n) => sum + n, 0, { uid: 'again' }),
          ),
        );
      },
      { stages: ['source-0 x2', 'sum > map-2 > again > sink-4 x2'], edges: ['source-0 hash sum'] },
    ],
    [
      'begins a stage where a stream has two consumers, and feeds both',
      (from) => {
        const shared = source(from).pipe(step);
        end(shared.pipe(step), 'left');
        end(shared, 'right');
      },
      {
        stages: ['source-0 > map-1 x2', 'map-2 > left x2', 'right x2'],
        edges: ['source-0 forward map-2', 'source-0 forward right'],
      },
    ],
    [
      'begins a stage where streams meet',
      (from) => {
        end(source(from, 'a').pipe(step, union(source(from, 'b')), step));
      },
      {
        stages: ['a > map-2 x2', 'b x2', 'map-3 > sink-4 x2'],
        edges: ['a forward map-3', 'b forward map-3'],
      },
    ],
    [
      'keeps the inputs of an operator apart',
      (from) => {
        const keyed = (uid: string): ReturnType<typeof keyOf> => keyOf(source(from, uid));
        const keyOf = (s: Numbers) => s.pipe(keyBy((n) => n));
        end(
          keyed('a').pipe(coProcess(keyed('b'), { uid: 'join', onFirst: () => undefined, onSecond: () => undefined })),
        );
      },
      { stages: ['a x2', 'b x2', 'join > sink-3 x2'], edges: ['a hash join', 'b hash join (1)'] },
    ],
    [
      'gives a stream that is combined with itself twice',
      (from) => {
        const it = source(from);
        end(it.pipe(union(it)));
      },
      { stages: ['source-0 x2', 'sink-1 x2'], edges: ['source-0 forward sink-1', 'source-0 forward sink-1'] },
    ],
    [
      'deals records out in turn where the parallelism changes',
      (from) => {
        end(source(from, 'a', 1).pipe(step), 'out', 3);
      },
      { stages: ['a x1', 'map-1 x2', 'out x3'], edges: ['a rebalance map-1', 'map-1 rebalance out'] },
    ],
    [
      'keeps an exchange where the parallelism changes',
      (from) => {
        end(
          source(from, 'a', 1).pipe(
            keyBy((n) => n),
            keyedProcess({ uid: 'k', onRecord: () => undefined }),
          ),
          'out',
        );
      },
      { stages: ['a x1', 'k > out x2'], edges: ['a hash k'] },
    ],
    [
      'may have several graphs side by side',
      (from) => {
        end(source(from, 'a'));
        end(source(from, 'b'));
      },
      { stages: ['a > sink-1 x2', 'b > sink-3 x2'], edges: [] },
    ],
  ])('%s', (_what, describeJob, expected) => {
    expect(drawn(plan(describeJob, 2))).toEqual(expected);
  });

  test('lets the last of several exchanges decide', () => {
    const { edges } = plan((from) => {
      end(
        source(from).pipe(
          rebalance(),
          broadcast(),
          keyBy((n) => n),
          rebalance(),
          step,
        ),
      );
    }, 2);
    expect(edges.map(({ partitioning }) => partitioning.kind)).toEqual(['rebalance']);
  });

  test('names the stateful operators that have no uid of their own', () => {
    const { derivedUids } = plan((from) => {
      const it = source(from);
      end(
        it.pipe(
          keyBy((n) => n),
          keyedProcess({ state: { x: valueState<number>() }, onRecord: () => undefined }),
        ),
      );
      end(
        it.pipe(
          keyBy((n) => n),
          keyedProcess({ onRecord: () => undefined }),
        ),
        'named',
      );
    });
    expect(derivedUids).toEqual(['source-0', 'keyedProcess-1', 'sink-2']);
  });

  test('tells the coordinator what it must know, as plain data', () => {
    const description = describePlan(
      plan(
        (from) => {
          end(
            source(from, 'in').pipe(
              step,
              keyBy((n) => n),
              scan(
                (sum, n) => sum + n,
                () => 0,
                { uid: 'sum' },
              ),
            ),
            'out',
          );
        },
        2,
        12,
      ),
    );
    expect(structuredClone(description)).toEqual({
      graphHash: expect.stringMatching(/^[0-9a-f]{16}$/),
      isMaxParallelismSet: true,
      edges: [{ from: 'in', to: 'sum', isPointwise: false }],
      stages: [
        {
          id: 'in',
          parallelism: 2,
          maxParallelism: 12,
          isSource: true,
          operators: [
            { uid: 'in', name: 'source', isStateful: true },
            { uid: 'map-1', name: 'map', isStateful: false },
          ],
        },
        {
          id: 'sum',
          parallelism: 2,
          maxParallelism: 12,
          isSource: false,
          operators: [
            { uid: 'sum', name: 'scan', isStateful: true },
            { uid: 'out', name: 'sink', isStateful: true, sinkGrade: 'at-least-once' },
          ],
        },
      ],
    });
  });
});

describe('the hash of a graph', () => {
  const base: Describe = (from) => {
    end(
      source(from, 'in').pipe(
        step,
        keyBy((n) => n),
        scan(
          (sum, n) => sum + n,
          () => 0,
          { uid: 'sum' },
        ),
      ),
      'out',
    );
  };
  const hashOf = (describeJob: Describe, parallelism = 2, maxParallelism = 128): string =>
    describePlan(plan(describeJob, parallelism, maxParallelism)).graphHash;

  test('is the same whenever the same job is described', () => {
    expect(hashOf(base)).toBe(hashOf(base));
    // Kept: a host on another machine or of a later version must find the same.
    expect(hashOf(base)).toMatchInlineSnapshot(`"37ef62cbc567fe37"`);
  });

  test.each<[string, () => string]>([
    ['the parallelism', () => hashOf(base, 3)],
    ['the maximum parallelism', () => hashOf(base, 2, 64)],
    [
      'a uid',
      () =>
        hashOf((from) => {
          end(
            source(from, 'in').pipe(
              step,
              keyBy((n) => n),
              scan(
                (sum, n) => sum + n,
                () => 0,
                { uid: 'total' },
              ),
            ),
            'out',
          );
        }),
    ],
    [
      'an operator',
      () =>
        hashOf((from) => {
          end(
            source(from, 'in').pipe(
              keyBy((n) => n),
              scan(
                (sum, n) => sum + n,
                () => 0,
                { uid: 'sum' },
              ),
            ),
            'out',
          );
        }),
    ],
    [
      'an exchange',
      () =>
        hashOf((from) => {
          end(
            source(from, 'in').pipe(
              step,
              keyBy((n) => n),
              scan(
                (sum, n) => sum + n,
                () => 0,
                { uid: 'sum' },
              ),
              rebalance(),
            ),
            'out',
          );
        }),
    ],
  ])('differs with %s', (_what, other) => {
    expect(other()).not.toBe(hashOf(base));
  });

  property.prop([
    fc.array(fc.constantFrom('map', 'rebalance', 'keyBy'), { maxLength: 6 }),
    fc.array(fc.constantFrom('map', 'rebalance', 'keyBy'), { maxLength: 6 }),
  ])('tells any two chains of operators apart that differ in what runs', (one, other) => {
    const chain =
      (kinds: readonly string[]): Describe =>
      (from) => {
        end(
          kinds.reduce<Numbers>(
            (stream, kind) => {
              if (kind === 'rebalance') return stream.pipe(rebalance(), step);
              return kind === 'keyBy'
                ? stream.pipe(
                    keyBy((n) => n),
                    step,
                  )
                : stream.pipe(step);
            },
            source(from, 'in'),
          ),
          'out',
        );
      };
    expect(hashOf(chain(one)) === hashOf(chain(other))).toBe(one.join() === other.join());
  });
});

describe('a job that cannot be planned', () => {
  const refused = (describeJob: Describe, parallelism?: number, maxParallelism?: number): unknown => {
    try {
      plan(describeJob, parallelism, maxParallelism);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  test.each<[string, Describe, string, RegExp]>([
    ['nothing', () => undefined, 'GRAPH_EMPTY', /call env\.from/],
    ['a source without a sink', (from) => void source(from), 'GRAPH_NO_SINK', /source "number 0" ends nowhere/],
    [
      'a branch without a sink',
      (from) => {
        const it = source(from);
        end(it);
        it.pipe(step);
      },
      'GRAPH_NO_SINK',
      /map "number 2"/,
    ],
    [
      'a uid twice',
      (from) => {
        end(source(from, 'x'), 'x');
      },
      'GRAPH_DUPLICATE_UID',
      /the uid "x"/,
    ],
    [
      'a uid that is also derived',
      (from) => {
        end(source(from).pipe(step), 'map-1');
      },
      'GRAPH_DUPLICATE_UID',
      /"map-1".*derived/,
    ],
    ...['', '\ud800', 5 as unknown as string, null as unknown as string].map(
      (uid): [string, Describe, string, RegExp] => [
        `a uid that is ${JSON.stringify(uid)}`,
        (from) => {
          end(source(from, uid));
        },
        'CONFIG_INVALID',
        /uid of an operator must be a text/,
      ],
    ),
    ...[0, -1, 1.5, Number.NaN, 129, Number.POSITIVE_INFINITY].map((n): [string, Describe, string, RegExp] => [
      `a parallelism of ${String(n)}`,
      (from) => {
        end(source(from, 'in', n));
      },
      'GRAPH_INVALID_PARALLELISM',
      /Operator in: .*from 1 to the maximum parallelism 128/,
    ]),
  ])('is refused with what is wrong: %s', (_what, describeJob, code, message) => {
    expect(refused(describeJob)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test.each([0, -5, 2.5, 32_768, Number.NaN])('is refused with a maximum parallelism of %d', (max) => {
    expect(
      refused(
        (from) => {
          end(source(from));
        },
        1,
        max,
      ),
    ).toMatchObject({ code: 'GRAPH_INVALID_PARALLELISM' });
  });

  test('takes the largest maximum parallelism, and a parallelism that reaches it', () => {
    expect(
      refused(
        (from) => {
          end(source(from));
        },
        1,
        32_767,
      ),
    ).toBeUndefined();
    expect(
      refused(
        (from) => {
          end(source(from));
        },
        7,
        7,
      ),
    ).toBeUndefined();
    expect(
      refused(
        (from) => {
          end(source(from));
        },
        8,
        7,
      ),
    ).toMatchObject({ code: 'GRAPH_INVALID_PARALLELISM' });
  });
});

test('planning changes nothing: the same graph can be planned again, and added to', () => {
  let graph: StreamNode['graph'] | undefined;
  plan((from) => {
    const it = source(from);
    ({ graph } = it['~node']);
    end(it);
  });
  const before = drawn(planOf(graph!, { parallelism: 1, maxParallelism: undefined }));
  expect(drawn(planOf(graph!, { parallelism: 1, maxParallelism: undefined }))).toEqual(before);
});
