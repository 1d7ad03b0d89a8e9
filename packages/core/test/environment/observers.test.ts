import { pino } from 'pino';
import { tap } from 'rxjs';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { NO_METRICS, SILENT, type Labels, type Logger, type Metrics } from '../../src/contracts.js';
import { createEnvironment, type EnvironmentOptions, type JobEvent, type JobHandle } from '../../src/index.js';
import { map } from '../../src/operators.js';
import { HOSTILE } from '../support/hostile-errors.js';
import { collecting, numbers } from './support.js';

const boom = (): never => {
  throw new Error('boom');
};
const rejecting = (): never => Promise.reject(new Error('boom')) as never;
const LOGGER = { debug: boom, info: boom, warn: boom, error: boom, child: boom };
const REJECTING: Logger = {
  debug: rejecting,
  info: rejecting,
  warn: rejecting,
  error: rejecting,
  child: () => REJECTING,
};
const METRICS = { counter: boom, histogram: boom, gauge: boom };

const warnings: string[] = [];
const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => {
  warnings.push(String(warning));
});
const escaped: unknown[] = [];
const escape = (error: unknown): void => {
  escaped.push(error);
};
process.on('unhandledRejection', escape);
process.on('uncaughtException', escape);
afterEach(() => {
  warnings.length = 0;
  escaped.length = 0;
  emitWarning.mockClear();
});
afterAll(() => {
  emitWarning.mockRestore();
  process.off('unhandledRejection', escape);
  process.off('uncaughtException', escape);
});

/** What a job of three numbers gives, watched by `options` and `watch`; nothing may have got out of it when its promises and timers are done. */
async function run(
  options: EnvironmentOptions,
  watch: (job: JobHandle) => void = () => undefined,
): Promise<readonly number[]> {
  const env = createEnvironment(options);
  const out: number[] = [];
  env
    .from(numbers(3))
    .pipe(map((n) => n + 1))
    .to(collecting(out));
  const job = await env.start('job');
  watch(job);
  expect(await job.done).toBe('finished');
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(escaped).toEqual([]);
  return out;
}

/** Keeps what is logged. */
function keeping(): {
  readonly logger: Logger;
  readonly lines: { readonly fields: object; readonly message: string }[];
} {
  const lines: { readonly fields: object; readonly message: string }[] = [];
  const write = (fields: object, message: string): void => void lines.push({ fields, message });
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return { logger, lines };
}

/** Keeps what is counted. */
function counting(): { readonly metrics: Metrics; readonly counts: Map<string, number> } {
  const counts = new Map<string, number>();
  const counter = (name: string, labels: Labels = {}): { add: (count: number) => void } => ({
    add: (count) => void counts.set(`${name} ${Object.values(labels).join()}`, (counts.get(name) ?? 0) + count),
  });
  return { metrics: { ...NO_METRICS, counter }, counts };
}

describe('a job gives the same', () => {
  const noops = { add: boom, record: boom };
  test.each<readonly [string, EnvironmentOptions]>([
    ['a logger that throws', { logger: LOGGER }],
    ['a logger whose children throw', { logger: { ...SILENT, child: () => LOGGER } }],
    ['a logger without children', { logger: { ...SILENT, child: () => undefined as never } }],
    ['a logger that rejects', { logger: REJECTING }],
    ['metrics that throw', { metrics: METRICS }],
    [
      'metrics whose instruments throw',
      { metrics: { counter: () => noops, histogram: () => noops, gauge: () => boom } },
    ],
    [
      'metrics that give nothing',
      { metrics: { counter: () => undefined, histogram: () => undefined, gauge: () => undefined } as never },
    ],
    ['metrics that reject', { metrics: { counter: rejecting, histogram: rejecting, gauge: rejecting } }],
    ['both that throw', { logger: LOGGER, metrics: METRICS }],
  ])('with %s', async (_what, options) => {
    expect(await run({ logger: SILENT, ...options })).toEqual([1, 2, 3]);
  });

  test.each<readonly [string, (job: JobHandle) => void]>([
    ['throws', ({ events$ }) => void events$.subscribe(boom)],
    ['throws in an observer', ({ events$ }) => void events$.subscribe({ next: boom, complete: boom })],
    ['throws at the end', ({ status$ }) => void status$.subscribe({ complete: boom })],
    ['rejects', ({ status$ }) => void status$.subscribe(rejecting)],
    ['throws behind operators', ({ events$ }) => void events$.pipe(map$()).subscribe(boom)],
    ['throws in an operator', ({ events$ }) => void events$.pipe(tap(boom)).subscribe()],
    ['throws where an error goes', ({ events$ }) => void events$.pipe(tap(boom)).subscribe({ error: boom })],
    [
      'changes what it is told',
      ({ events$ }) => void events$.subscribe((event) => Object.assign(event, { kind: 'x' })),
    ],
  ])('to a subscriber that %s, and to others', async (_what, watch) => {
    const { logger, lines } = keeping();
    const kinds: string[] = [];
    const out = await run({ logger }, (job) => {
      watch(job);
      job.events$.subscribe(({ kind }: JobEvent) => kinds.push(kind));
    });
    expect(out).toEqual([1, 2, 3]);
    expect(kinds).toEqual(expect.arrayContaining(['attempt-started', 'status']));
    expect(kinds).not.toContain('x');
    expect(lines.filter(({ message }) => message.startsWith('A subscriber to what a job tells threw'))).toHaveLength(1);
  });
});

const map$ = () => tap<JobEvent>(() => undefined);

test('errors reach a subscriber that takes them', async () => {
  const { logger, lines } = keeping();
  const taken: unknown[] = [];
  await run({ logger }, ({ events$ }) => void events$.pipe(tap(boom)).subscribe({ error: (e) => void taken.push(e) }));
  expect(taken).toEqual([new Error('boom')]);
  expect(lines.filter(({ message }) => message.includes('threw'))).toEqual([]);
});

test('what metrics throw is said once in the log, and counted', async () => {
  const { logger, lines } = keeping();
  const { metrics, counts } = counting();
  await run({ logger, metrics: { ...metrics, gauge: boom } });
  const said = lines.filter(({ message }) => message.startsWith('The metrics object threw'));
  expect(said).toHaveLength(1);
  expect(said[0]?.message).toContain('threw at weir.calls.stalled: boom');
  expect(counts.get('weir.observer.failures metrics')).toBeGreaterThan(0);
});

test('what a logger throws is said once as a warning of the process, and counted', async () => {
  const { metrics, counts } = counting();
  await run({ logger: LOGGER, metrics });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('The logger threw at child: boom');
  expect(counts.get('weir.observer.failures logger')).toBeGreaterThan(0);
});

test.each(HOSTILE)(
  'a failure by %s is what the job fails with, whatever becomes of the record of it',
  async (_what, make) => {
    const thrown = make();
    const lines: string[] = [];
    const serializers = { err: boom };
    const logger = pino({ level: 'warn', serializers }, { write: (line: string) => void lines.push(line) });
    const env = createEnvironment({ logger });
    const out: number[] = [];
    env
      .from(numbers(3))
      .pipe(
        map((n) => {
          if (n === 1) throw thrown;
          return n;
        }),
      )
      .to(collecting(out));
    const failure: unknown = await env.execute('job').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'OPERATOR_FAILED', recoverable: true });
    expect((failure as Error).cause === thrown).toBe(true);
    expect(out).not.toContain(2);
    const [line] = lines.map((text) => JSON.parse(text) as { level: number; msg: string; details: { err: string } });
    expect(line?.msg).toMatch(/^the job failed: OPERATOR_FAILED/u);
    expect(line?.details.err).toMatch(/^OPERATOR_FAILED/u);
    expect(escaped).toEqual([]);
  },
);

test.each([
  ['logger', { logger: console as unknown as Logger }, 'logger of createEnvironment has no method child'],
  ['metrics', { metrics: {} as Metrics }, 'metrics of createEnvironment has no method counter, histogram, gauge'],
])('a %s that is none is refused', (_what, options, message) => {
  expect(() => createEnvironment(options)).toThrow(message);
});
