import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { CheckpointSettings } from '../../src/contracts/coordinator.js';
import type { SinkGrade } from '../../src/contracts/sink.js';
import type { SourceGrade } from '../../src/contracts/source.js';
import { isWeirError } from '../../src/errors.js';
import { checkGuarantees } from '../../src/environment/guarantees.js';
import { sourceStream } from '../../src/graph/describe.js';
import type { Guarantee, Stream } from '../../src/graph/stream.js';
import type { LogicalGraph } from '../../src/graph/stream-node.js';
import { keyBy, keyedProcess, map, union } from '../../src/operators.js';
import { splitSource } from '../support/split-source.js';
import type { Source } from '../../src/contracts/source.js';

const SOURCES: readonly SourceGrade[] = ['replayable', 'acknowledging', 'at-most-once'];
const SINKS: readonly SinkGrade[] = ['exactly-once', 'idempotent', 'at-least-once'];
type Mode = 'off' | 'exactly-once' | 'at-least-once';
const MODES: readonly Mode[] = ['off', 'exactly-once', 'at-least-once'];

interface Case {
  readonly sources: readonly SourceGrade[];
  readonly sink: SinkGrade;
  readonly mode: Mode;
  readonly claim: Guarantee | undefined;
  readonly bounded?: boolean;
  /** Default 1 s; undefined: checkpoints come when somebody asks. */
  readonly intervalMs?: number | undefined;
}

/** What the check says: the notices, or the message of its refusal. */
function check(it: Case): { notices: readonly string[] } | { refused: string } {
  const { sources, sink, mode, claim, bounded = true } = it;
  const intervalMs = 'intervalMs' in it ? it.intervalMs : 1000;
  const graph: LogicalGraph = { nodes: [] };
  const [first, ...others] = sources.map((grade, i) =>
    sourceStream<Stream<number>>(graph, splitSource([[1]], { grade, bounded }) as unknown as Source<unknown>, {
      uid: `source ${String(i)}`,
    }),
  );
  // The sources are found through whatever is in between.
  const merged = (first as Stream<number>).pipe(
    union(...others),
    keyBy((n) => n),
    keyedProcess({ onRecord: () => undefined }),
    map((n) => n),
  );
  (merged as Stream<unknown>).to(
    { grade: sink, open: () => Promise.reject(new Error('not opened')) },
    { uid: 'out', guarantee: claim as never },
  );
  // Only whether there are settings, and these two, is looked at.
  const settings = mode === 'off' ? undefined : ({ mode, intervalMs } as CheckpointSettings);
  try {
    return { notices: checkGuarantees(graph, settings) };
  } catch (error) {
    if (!isWeirError(error, 'GUARANTEE_IMPOSSIBLE')) throw error;
    return { refused: error.message };
  }
}
const isRefused = (it: Case): boolean => 'refused' in check(it);

describe('a claim of exactly once', () => {
  const all = SOURCES.flatMap((source) => SINKS.flatMap((sink) => MODES.map((mode) => ({ source, sink, mode }))));

  test.each(all)(
    'from a source that is $source to a sink that is $sink, checkpoints: $mode',
    ({ source, sink, mode }) => {
      const isKept = source === 'replayable' && sink !== 'at-least-once' && mode === 'exactly-once';
      expect(isRefused({ sources: [source], sink, mode, claim: 'exactly-once' })).toBe(!isKept);
    },
  );

  test.each<[string, Partial<Case>, RegExp]>([
    [
      'no checkpoints',
      { mode: 'off' },
      /Sink out cannot be exactly-once: no checkpoints are taken.*enableCheckpointing/,
    ],
    ['the mode', { mode: 'at-least-once' }, /at-least-once mode/],
    ['a source that cannot replay', { sources: ['at-most-once'] }, /its source source 0 cannot replay/],
    ['a source that acknowledges', { sources: ['acknowledging'] }, /source 0 is acknowledging, not replayable/],
    ['one source of several', { sources: ['replayable', 'at-most-once'] }, /source 1/],
    ['the sink', { sink: 'at-least-once' }, /the sink itself repeats output/],
  ])('is refused with the reason: %s', (_what, change, message) => {
    const it = check({
      sources: ['replayable'],
      sink: 'exactly-once',
      mode: 'exactly-once',
      claim: 'exactly-once',
      ...change,
    });
    expect(it).toEqual({ refused: expect.stringMatching(message) });
  });
});

describe('a claim of at least once', () => {
  test.each(SOURCES.flatMap((source) => MODES.map((mode) => ({ source, mode }))))(
    'from a source that is $source, checkpoints: $mode',
    ({ source, mode }) => {
      const refused = isRefused({ sources: [source], sink: 'at-least-once', mode, claim: 'at-least-once' });
      expect(refused).toBe(source === 'at-most-once');
    },
  );
});

test.each([undefined, 'at-most-once'] as const)('a claim of %s is kept by anything that can work at all', (claim) => {
  for (const source of SOURCES)
    for (const sink of SINKS)
      for (const mode of MODES) expect(isRefused({ sources: [source], sink, mode, claim })).toBe(false);
});

test('a claim that is none is refused, not passed over', () => {
  const misspelt = (): unknown =>
    check({ sources: ['replayable'], sink: 'at-least-once', mode: 'exactly-once', claim: 'exactly_once' as never });
  expect(misspelt).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  expect(misspelt).toThrow(/Sink out: guarantee must be one of exactly-once, at-least-once, at-most-once/);
});

describe('checkpoints without an interval', () => {
  const manual = {
    sources: ['replayable'],
    sink: 'exactly-once',
    mode: 'exactly-once',
    claim: undefined,
    bounded: false,
    intervalMs: undefined,
  } as const;

  test('leave the output of an endless job unseen in a transactional sink, which is told', () => {
    expect(check(manual)).toEqual({
      notices: [expect.stringMatching(/what sink out writes becomes visible.*its source source 0 never ends/)],
    });
    expect(check({ ...manual, mode: 'at-least-once' })).toMatchObject({ notices: [expect.any(String)] });
  });

  test('leave what an endless source reads unacknowledged, which is told', () => {
    const it = check({ ...manual, sources: ['replayable', 'acknowledging'], sink: 'idempotent' });
    expect(it).toEqual({ notices: [expect.stringMatching(/what source source 1 reads is acknowledged/)] });
  });

  test('are nothing to speak of where the input ends, or everything is visible at once', () => {
    expect(check({ ...manual, sources: ['acknowledging'], bounded: true })).toEqual({ notices: [] });
    expect(check({ ...manual, sink: 'at-least-once' })).toEqual({ notices: [] });
  });
});

describe('a transactional sink without checkpoints', () => {
  test('is refused behind a source that never ends: nothing would ever be published', () => {
    const it = check({ sources: ['replayable'], sink: 'exactly-once', mode: 'off', claim: undefined, bounded: false });
    expect(it).toEqual({
      refused: expect.stringMatching(/its source source 0 never ends.*enableCheckpointing\(\.\.\.\)\.$/),
    });
  });

  test('is told of behind one that ends', () => {
    const it = check({ sources: ['replayable'], sink: 'exactly-once', mode: 'off', claim: undefined });
    expect(it).toEqual({ notices: [expect.stringMatching(/Sink out is transactional.*at least once/)] });
  });

  test('is nothing to speak of with checkpoints', () => {
    const it = check({
      sources: ['replayable'],
      sink: 'exactly-once',
      mode: 'exactly-once',
      claim: undefined,
      bounded: false,
    });
    expect(it).toEqual({ notices: [] });
  });
});

property.prop([
  fc.array(fc.constantFrom(...SOURCES), { minLength: 1, maxLength: 4 }),
  fc.constantFrom(...SINKS),
  fc.constantFrom(...MODES),
  fc.constantFrom<Guarantee>('exactly-once', 'at-least-once', 'at-most-once'),
])('a sink behind several sources is as good as behind the weakest of them', (sources, sink, mode, claim) => {
  const together = isRefused({ sources, sink, mode, claim });
  expect(together).toBe(sources.some((source) => isRefused({ sources: [source], sink, mode, claim })));
});
