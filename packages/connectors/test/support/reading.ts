import type { ReaderContext, Source, SourceReader, SourceSplit } from '@weir/core/contracts';
import { readerContext } from '@weir/testkit';

/** All splits of a source. */
export async function splitsOf<S extends SourceSplit>(source: Source<unknown, 'replayable', S>): Promise<S[]> {
  const enumerator = source.enumerator(readerContext());
  await enumerator.start(undefined);
  const splits: S[] = [];
  for (let split = enumerator.assign(0); typeof split === 'object'; split = enumerator.assign(0)) splits.push(split);
  return splits;
}

/** All that a reader has left, at most `max` records at a time, and where each poll led to after so many records. */
export async function drain<T, P>(
  reader: SourceReader<T, P>,
  max = 1024,
): Promise<{ records: T[]; positions: { count: number; position: P }[] }> {
  const records: T[] = [];
  const positions: { count: number; position: P }[] = [];
  for (;;) {
    const answer = await reader.poll(max);
    if (answer === 'end') break;
    records.push(...answer);
    positions.push({ count: records.length, position: reader.position() });
  }
  await reader.close();
  return { records, positions };
}

/** All records of a source, split by split. */
export async function readAll<T, S extends SourceSplit, P>(
  source: Source<T, 'replayable', S, P>,
  context: Partial<ReaderContext> = {},
  max?: number,
): Promise<T[]> {
  const all: T[] = [];
  for (const split of await splitsOf(source)) {
    const { records } = await drain(await source.open(split, undefined, readerContext(context)), max);
    all.push(...records);
  }
  return all;
}
