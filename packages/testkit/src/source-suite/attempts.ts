import assert from 'node:assert/strict';
import type { ReaderContext, SourceReader } from '@weir/core/contracts';
import { readerContext } from '../contexts.js';
import { clockOf, take, type SourceCheck, type SourceSuiteOptions } from './fixture.js';
import { inputs, limitOf, openReader, read } from './reading.js';

/** One source object over attempts, operators and jobs: what a program describes once serves all of them. */
export function attemptChecks<T>(check: SourceCheck<T>, { capabilities }: SourceSuiteOptions<T>): void {
  check('is read on by the next attempt, over the same source object', async (bench) => {
    const { fixture, ids, stored } = bench;
    const source = fixture.source();
    let restored:
      { readonly snapshot: unknown; readonly splits: readonly { id: string; position: unknown }[] } | undefined;
    const all = await inputs(bench);
    const got = new Map<string, T[]>(ids.map((id) => [id, []]));
    for (let attempt = 1; attempt <= 3; attempt++) {
      const context: Partial<ReaderContext> = { attempt };
      const enumerator = source.enumerator(readerContext({ ...clockOf(fixture), ...context }));
      await enumerator.start(restored?.snapshot);
      if (restored === undefined) take(enumerator, ids.length);
      const snapshot = stored(enumerator.snapshot());
      const splits: { id: string; position: unknown }[] = [];
      for (const { split, expected } of all) {
        const position = restored?.splits.find(({ id }) => id === split.id)?.position;
        const reader = await openReader(fixture, split, position, source, context);
        const records = got.get(split.id) as T[];
        const left = expected.length - records.length;
        const limit = attempt < 3 ? Math.ceil(left / 2) : limitOf(expected.slice(records.length), capabilities.bounded);
        records.push(...(await read(fixture, reader, 3, limit)).records);
        splits.push({ id: split.id, position: stored(reader.position()) });
        await reader.close();
      }
      await enumerator.close();
      restored = { snapshot, splits };
    }
    for (const { split, expected } of all) assert.deepEqual(got.get(split.id), expected, `split ${split.id}`);
  });

  check('serves two jobs and two operators with one source object, each as if it were alone', async (bench) => {
    const { fixture, ids } = bench;
    const source = fixture.source();
    const owners = [
      { job: 'one', uid: 'in' },
      { job: 'one', uid: 'in-2' },
      { job: 'one-2', uid: 'in' },
    ];
    const readings: { job: string; reader: SourceReader<T>; records: T[]; expected: readonly T[] }[] = [];
    for (const owner of owners) {
      const enumerator = source.enumerator(readerContext({ ...clockOf(fixture), ...owner }));
      await enumerator.start(undefined);
      for (const split of take(enumerator, ids.length)) {
        const reader = await openReader(fixture, split, undefined, source, owner);
        readings.push({ job: owner.job, reader, records: [], expected: fixture.expected[split.id] ?? [] });
      }
    }
    const readOn = async (reading: (typeof readings)[number], limit: number): Promise<void> => {
      const { records, ended } = await read(fixture, reading.reader, 2, limit - reading.records.length);
      assert(!ended, 'nobody else brings a split to its end');
      reading.records.push(...records);
    };
    for (let limit = 0; readings.some(({ expected }) => limit < expected.length / 2); limit += 2)
      for (const reading of readings) await readOn(reading, Math.min(limit, Math.floor(reading.expected.length / 2)));
    for (const { job, reader } of readings) if (job === 'one') await reader.close();
    source.jobEnded?.('one', { kind: 'finished' });
    for (const reading of readings.filter(({ job }) => job === 'one-2')) {
      await readOn(reading, reading.expected.length);
      assert.deepEqual(reading.records, reading.expected);
      await reading.reader.close();
    }
  });
}
