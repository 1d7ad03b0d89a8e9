import assert from 'node:assert/strict';
import type { ReaderContext, Source, SourceReader, SourceSplit } from '@weir/core/contracts';
import { settlesWithin } from '../adapters/deadline.js';
import { readerContext } from '../contexts.js';
import type { VirtualClock } from '../virtual-clock.js';
import { clockOf, type SourceBench, type SourceFixture } from './fixture.js';

/** A poll without a record, over and over, is a reader that does nothing. */
const MOST_EMPTY_POLLS = 100_000;

const ANSWERS_WITHIN_MS = 4000;

export interface Reading<T> {
  readonly records: readonly T[];
  /** After each poll: how many records had been handed over, and the position. */
  readonly positions: readonly { readonly count: number; readonly position: unknown }[];
  readonly ended: boolean;
}

/** A reader, of a new source unless one is given. */
export function openReader<T>(
  fixture: SourceFixture<T>,
  split: SourceSplit,
  position?: unknown,
  source: Source<T> = fixture.source(),
  context: Partial<ReaderContext> = {},
): Promise<SourceReader<T>> {
  return source.open(split, position, readerContext({ ...clockOf(fixture), ...context }));
}

/** The answer of one poll, with time passing while it is awaited. */
export async function poll<T>(
  fixture: SourceFixture<T>,
  reader: SourceReader<T>,
  max: number,
): Promise<readonly T[] | 'end'> {
  const answer = await inTime(fixture, withTime(fixture.clock, reader.poll(max)), 'a poll brings nothing');
  if (answer !== 'end')
    assert(answer.length <= max, `${String(answer.length)} records are more than the ${String(max)} asked for`);
  return answer;
}

/** What a promise settles to; fails, and says `otherwise`, if the source takes too long. */
export async function inTime<T, V>(
  { answersWithinMs = ANSWERS_WITHIN_MS }: SourceFixture<T>,
  waiting: V | Promise<V>,
  otherwise: string,
): Promise<V> {
  if (waiting instanceof Promise)
    assert(await settlesWithin(answersWithinMs, waiting), `${otherwise} within ${String(answersWithinMs)} ms`);
  return waiting;
}

/** Closes a reader, with what waits for it. */
export async function closeInTime<T>(
  fixture: SourceFixture<T>,
  reader: SourceReader<T>,
  outstanding: Promise<unknown>,
): Promise<void> {
  const polled = outstanding.catch(() => undefined);
  await inTime(fixture, reader.close(), 'close does not settle');
  await inTime(fixture, polled, 'the outstanding poll does not settle');
}

/** Up to `limit` records, polled `max` at a time. */
export async function read<T>(
  fixture: SourceFixture<T>,
  reader: SourceReader<T>,
  max: number,
  limit: number,
): Promise<Reading<T>> {
  const records: T[] = [];
  const positions: { count: number; position: unknown }[] = [];
  for (let empty = 0; records.length < limit;) {
    const answer = await poll(fixture, reader, Math.min(max, limit - records.length));
    if (answer !== 'end') records.push(...answer);
    positions.push({ count: records.length, position: reader.position() });
    if (answer === 'end') return { records, positions, ended: true };
    empty = answer.length === 0 ? empty + 1 : 0;
    assert(empty < MOST_EMPTY_POLLS, `${String(MOST_EMPTY_POLLS)} polls in a row without a record`);
  }
  return { records, positions, ended: false };
}

/** Everything of a split from a position on, with a new reader that is closed afterwards. */
export async function readAll<T>(
  fixture: SourceFixture<T>,
  split: SourceSplit,
  options: { readonly position?: unknown; readonly max?: number; readonly limit: number },
): Promise<Reading<T>> {
  const reader = await openReader(fixture, split, options.position);
  try {
    return await read(fixture, reader, options.max ?? 1024, options.limit);
  } finally {
    await reader.close();
  }
}

async function withTime<V>(clock: VirtualClock | undefined, waiting: V | Promise<V>): Promise<V> {
  if (clock === undefined || !(waiting instanceof Promise)) return waiting;
  const progress = { settled: false };
  const settled = (): void => {
    progress.settled = true;
  };
  waiting.then(settled, settled);
  await clock.until(() => progress.settled);
  return waiting;
}

/** Every split, with the records that are expected of it. */
export async function inputs<T>({
  fixture,
  splits,
}: SourceBench<T>): Promise<{ split: SourceSplit; expected: readonly T[] }[]> {
  return (await splits()).map((split) => ({ split, expected: expectedOf(fixture, split.id) }));
}

function expectedOf<T>({ expected }: SourceFixture<T>, id: string): readonly T[] {
  const records = expected[id];
  assert(records, `split ${id} is expected`);
  return records;
}

/** One more than there is, so that a reader that gives too much is found out. */
export function limitOf(expected: readonly unknown[], bounded: boolean): number {
  return bounded ? expected.length + 1 : expected.length;
}
