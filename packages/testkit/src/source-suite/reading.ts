import assert from 'node:assert/strict';
import type { Source, SourceReader, SourceSplit } from '@weir/core/contracts';
import { readerContext } from '../contexts.js';
import type { VirtualClock } from '../virtual-clock.js';
import { clockOf, type SourceFixture } from './fixture.js';

/** A poll without a record, over and over, is a reader that does nothing. */
const MOST_EMPTY_POLLS = 100_000;

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
): Promise<SourceReader<T>> {
  return source.open(split, position, readerContext(clockOf(fixture)));
}

/** The answer of one poll, with time passing while it is awaited. */
export async function poll<T>(
  fixture: SourceFixture<T>,
  reader: SourceReader<T>,
  max: number,
): Promise<readonly T[] | 'end'> {
  const answer = await withTime(fixture.clock, reader.poll(max));
  if (answer !== 'end')
    assert(answer.length <= max, `${String(answer.length)} records are more than the ${String(max)} asked for`);
  return answer;
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
    if (answer === 'end') return { records, positions, ended: true };
    empty = answer.length === 0 ? empty + 1 : 0;
    assert(empty < MOST_EMPTY_POLLS, `${String(MOST_EMPTY_POLLS)} polls in a row without a record`);
    records.push(...answer);
    positions.push({ count: records.length, position: reader.position() });
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
