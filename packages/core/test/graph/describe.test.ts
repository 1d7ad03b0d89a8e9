import { filter as rxFilter, map as rxMap, mergeMap, of, repeat, share, tap as rxTap } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { createEnvironment } from '../../src/index.js';
import { coProcess, keyBy, keyedProcess, map, rebalance, scan, union } from '../../src/operators.js';
import { splitSource } from '../support/split-source.js';

const stream = (): ReturnType<typeof numbers> => numbers(createEnvironment());
const numbers = (env: ReturnType<typeof createEnvironment>) => env.from(splitSource([[1, 2, 3]]));
/** What a program in JavaScript could hand to pipe. */
const piped = (...operators: readonly unknown[]): unknown =>
  (stream().pipe as unknown as (...all: readonly unknown[]) => unknown)(...operators);

describe('pipe', () => {
  test('without operators is the stream itself', () => {
    const it = stream();
    expect((it.pipe as () => unknown)()).toBe(it);
  });

  test.each([
    ['map', rxMap((n: number) => n)],
    ['filter', rxFilter((n: number) => n > 1)],
    ['mergeMap', mergeMap((n: number) => of(n))],
    ['tap', rxTap(() => undefined)],
    ['share', share()],
  ])('says that the RxJS operator %s must be wrapped', (_name, operator) => {
    expect(() => piped(operator)).toThrow(expect.objectContaining({ code: 'GRAPH_NOT_AN_OPERATOR' }));
    expect(() => piped(operator)).toThrow(/rx\(\.\.\.\)/);
  });

  test.each([
    ['undefined', undefined, 'argument 1 is undefined'],
    ['null', null, 'argument 1 is null'],
    ['a number', 5, 'argument 1 is a number'],
    ['an object', {}, 'argument 1 is an object'],
    ['a stream', stream(), 'argument 1 is an object'],
  ])('says which argument is no operator: %s', (_what, garbage, message) => {
    expect(() => piped(garbage)).toThrow(expect.objectContaining({ code: 'GRAPH_NOT_AN_OPERATOR' }));
    expect(() => piped(garbage)).toThrow(message);
  });

  test.each([
    ['nothing', () => undefined, /argument 1 made undefined of a stream/],
    ['an Observable', repeat(0), /argument 1 made an object of a stream/],
    ['an operator, because it was not called', map, /argument 1 made a function: is a pair of parentheses missing\?/],
  ])('says which operator made something else than a stream: %s', (_what, operator, message) => {
    expect(() =>
      piped(
        operator,
        map((n) => n),
      ),
    ).toThrow(expect.objectContaining({ code: 'GRAPH_NOT_AN_OPERATOR' }));
    expect(() =>
      piped(
        operator,
        map((n) => n),
      ),
    ).toThrow(message);
  });

  test('may end in something that is no stream', () => {
    expect(
      piped(
        map((n) => n),
        () => 'an Observable, say',
      ),
    ).toBe('an Observable, say');
  });

  test('lets the errors of operators through', () => {
    const failing = (): never => {
      throw new RangeError('mine');
    };
    expect(() => piped(failing)).toThrow(RangeError);
  });

  test('describes, and does nothing else: two branches of one stream are one source', () => {
    let opened = 0;
    const source = splitSource([[1]], {
      onOpen: async () => {
        opened++;
      },
    });
    const it = createEnvironment().from(source);
    it.pipe(map((n) => n));
    it.pipe(map((n) => n));
    expect(opened).toBe(0);
    expect(it['~node'].graph.nodes.map(({ name }) => name)).toEqual(['source', 'map', 'map']);
    expect(it['~node'].graph.nodes.slice(1).map(({ inputs }) => inputs[0]?.[0]?.from.id)).toEqual([0, 0]);
  });
});

describe('streams of two environments', () => {
  test.each([
    ['union', () => stream().pipe(union(stream()))],
    [
      'coProcess',
      () =>
        stream().pipe(
          keyBy((n) => n),
          coProcess(stream().pipe(keyBy((n) => n)), { onFirst: () => undefined, onSecond: () => undefined }),
        ),
    ],
  ])('cannot be combined: %s', (_name, combine) => {
    expect(combine).toThrow(expect.objectContaining({ code: 'GRAPH_FOREIGN_STREAM' }));
  });

  test('nor can a stream be combined with something that is none', () => {
    expect(() => stream().pipe(union(undefined as never))).toThrow(
      expect.objectContaining({ code: 'GRAPH_NOT_AN_OPERATOR' }),
    );
  });
});

describe('a keyed operator', () => {
  // The compiler refuses these too; programs in JavaScript have no compiler.
  test.each([
    ['keyedProcess', keyedProcess({ onRecord: () => undefined })],
    [
      'scan',
      scan(
        (sum: number, n: number) => sum + n,
        () => 0,
      ),
    ],
    ['coProcess', (s: never) => coProcess(s, { onFirst: () => undefined, onSecond: () => undefined })(s)],
  ])('needs a key right in front of it: %s', (name, operator) => {
    expect(() => piped(operator)).toThrow(expect.objectContaining({ code: 'GRAPH_NOT_KEYED' }));
    expect(() => piped(operator)).toThrow(`${name} needs a keyed stream`);
    expect(() =>
      piped(
        keyBy((n: number) => n),
        rebalance(),
        operator,
      ),
    ).toThrow(/GRAPH_NOT_KEYED.*behind the last rebalance/);
  });
});

describe('what a program in JavaScript takes for a connector', () => {
  test.each([
    ['an Observable', of(1), /fromObservable/],
    ['an array', [1, 2], /collection/],
    ['nothing', undefined, /was given undefined/],
    ['an object', {}, /was given an object/],
  ])('is refused as a source before anything starts: %s', (_what, source, message) => {
    const from = (): unknown => createEnvironment().from(source as never);
    expect(from).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(from).toThrow(message);
  });

  test.each([
    ['nothing', undefined, /was given undefined/],
    ['a function', () => undefined, /was given a function/],
    ['what holds a sink', { records: [], sink: {} }, /give its property sink/],
  ])('is refused as a sink before anything starts: %s', (_what, sink, message) => {
    const to = (): void => {
      stream().to(sink as never);
    };
    expect(to).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(to).toThrow(message);
  });
});
