import { describe, expect, test } from 'vitest';
import { describePlan } from '../../src/graph/plan.js';
import { filter, iterate, keyBy, map, rebalance, union, type LoopBody, type Stream } from '../../src/operators.js';
import { plan, type From } from '../support/attempt-bench.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

const source = (from: From): Stream<number> => from(splitSource([[1]]), { uid: 'in', parallelism: 1 });
const end = (stream: Stream<unknown>): void => {
  stream.to(
    slowSink<unknown>([], () => false),
    { uid: 'out' },
  );
};
const body = (input: Stream<number>): LoopBody<number, number> => {
  const round = input.pipe(map((n) => n - 1));
  return { feedback: round.pipe(filter((n) => n > 0)), output: round.pipe(filter((n) => n <= 0)) };
};

describe('iterate', () => {
  test('makes a stage of its head and what goes forward behind it, with the feedback edge apart from the others', () => {
    const described = plan((from) => {
      end(source(from).pipe(iterate(body, { uid: 'loop' })));
    });
    expect(described.stages.map(({ operators }) => operators.map(({ uid }) => uid).join(' > '))).toEqual([
      'in',
      'loop > map-2',
      'filter-3',
      'filter-4 > out',
    ]);
    expect(described.edges.map(({ from, to }) => `${from} > ${to}`)).toEqual([
      'in > loop',
      'loop > filter-3',
      'loop > filter-4',
    ]);
    expect(described.feedback).toMatchObject([
      { from: 'filter-3', to: 'loop', input: 0, partitioning: { kind: 'forward' } },
    ]);
  });

  test('calls its body once, and has records find their subtask on the way back as the feedback stream says', () => {
    let calls = 0;
    const described = plan((from) => {
      end(
        source(from).pipe(
          iterate<number, number>(
            (input) => {
              calls++;
              const { feedback, output } = body(input);
              return { feedback: feedback.pipe(keyBy((n) => n)), output };
            },
            { uid: 'loop' },
          ),
        ),
      );
    }, 3);
    expect(calls).toBe(1);
    expect(described.feedback.map(({ partitioning }) => partitioning.kind)).toEqual(['hash']);
  });

  test('is told to the coordinator with its feedback, as something that has state', () => {
    const describedBy = (feedback: (s: Stream<number>) => Stream<number>) =>
      describePlan(
        plan((from) => {
          end(
            source(from).pipe(
              iterate<number, number>((input) => {
                const parts = body(input);
                return { ...parts, feedback: feedback(parts.feedback) };
              }),
            ),
          );
        }),
      );
    const forward = describedBy((s) => s);
    const dealt = describedBy((s) => s.pipe(rebalance()));
    const loop = forward.stages.find(({ id }) => id === 'iterate-1');
    expect(loop).toMatchObject({ isSource: false, feedback: [{ from: 'filter-3', partitioning: 'forward' }] });
    expect(loop?.operators[0]).toMatchObject({ uid: 'iterate-1', isStateful: true });
    expect(forward.stages[0]?.feedback).toBeUndefined();
    expect(dealt.graphHash).not.toBe(forward.graphHash);
  });

  test('asks for a uid as every stateful operator does', () => {
    const described = plan((from) => {
      end(source(from).pipe(iterate(body)));
    });
    expect(described.derivedUids).toEqual(['iterate-1']);
  });

  test('deals records out in turn where the head has another parallelism than what feeds it', () => {
    const described = plan((from) => {
      end(source(from).pipe(iterate(body, { uid: 'loop', parallelism: 2 })));
    }, 3);
    expect(described.feedback.map(({ partitioning }) => partitioning.kind)).toEqual(['rebalance']);
  });

  test.each<[string, unknown, string]>([
    ['returns nothing', () => undefined, 'must return { feedback, output }'],
    ['returns a stream', (input: Stream<number>) => input, 'must return { feedback, output }'],
    [
      'feeds back a stream from elsewhere',
      (input: Stream<number>, other: Stream<number>) => ({ feedback: other, output: input }),
      'as feedback a stream that does not come from its input',
    ],
    [
      'lets out a stream from elsewhere',
      (input: Stream<number>, other: Stream<number>) => ({ feedback: input, output: other }),
      'as output a stream that does not come from its input',
    ],
  ])('refuses a body that %s', (_what, wrong, message) => {
    const describing = (): unknown =>
      plan((from) => {
        const other = from(splitSource([[2]]), { uid: 'other' });
        end(
          source(from).pipe(
            iterate<number, number>((input) => (wrong as (...of: unknown[]) => LoopBody<number, number>)(input, other)),
          ),
        );
      });
    expect(describing).toThrow(expect.objectContaining({ code: 'GRAPH_INVALID_LOOP' }));
    expect(describing).toThrow(message);
  });

  test('refuses streams of another environment', () => {
    let foreign: Stream<number> | undefined;
    plan((from) => {
      foreign = source(from);
      end(foreign);
    });
    expect(() =>
      plan((from) => {
        end(
          source(from).pipe(
            iterate<number, number>((input) => ({ feedback: input.pipe(union(foreign!)), output: input })),
          ),
        );
      }),
    ).toThrow(expect.objectContaining({ code: 'GRAPH_FOREIGN_STREAM' }));
  });

  test('does not count going round as an end', () => {
    expect(() =>
      plan((from) => {
        source(from).pipe(iterate<number, number>((input) => ({ feedback: input, output: input })));
      }),
    ).toThrow(expect.objectContaining({ code: 'GRAPH_NO_SINK' }));
  });

  test.each([{ maxBufferedRecords: 0 }, { maxFeedbackBytes: Number.NaN }, { maxFeedbackBytes: '1gb' as never }])(
    'refuses a bound that is none: %j',
    (options) => {
      expect(() => iterate(body, options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    },
  );
});
