import { collection } from '@weir/connectors/collection';
import { datagen } from '@weir/connectors/datagen';
import { fileSource, jsonLines } from '@weir/connectors/file';
import { fromResumable } from '@weir/connectors/rxjs';
import type { JobEnd } from '@weir/core';
import type { Source, SourceSplit } from '@weir/core/contracts';
import { assertExactlyOnce, CrashFileSystem } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { ResumedJob, type Life } from './support/resumed-job.js';

const COUNT = 1200;
const ALL = Array.from({ length: COUNT }, (_, n) => n);

async function files(): Promise<CrashFileSystem> {
  const disk = new CrashFileSystem();
  await disk.makeDirectory('/in');
  for (let part = 0; part < 5; part++) {
    const file = await disk.open(`/in/part-${String(part)}.jsonl`, 'create');
    const lines = ALL.filter((n) => n % 5 === part).map((n) => `${String(n)}\n`);
    await file.write(Buffer.from(lines.join('')));
    await file.close();
  }
  return disk;
}

const resumable = (): Source<number, 'replayable', SourceSplit, number> =>
  fromResumable<number, number>({
    start: 0,
    *open(resumeAt) {
      for (let n = resumeAt; n < COUNT; n++) yield { value: n, resumeAt: n + 1 };
    },
  });

type AnySource = Source<number, 'replayable', SourceSplit, never>;
const sources: readonly [string, () => Promise<unknown>][] = [
  ['a collection', async () => collection(ALL)],
  ['datagen with three splits', async () => datagen({ count: COUNT, splits: 3 })],
  ['five files', async () => fileSource({ path: '/in', format: jsonLines<number>(), fileSystem: await files() })],
  ['what can be opened at a position', async () => resumable()],
];

describe.each(sources)('%s is read to its end once, and nothing twice', (_name, sourceOf) => {
  test.each<[string, readonly Life[]]>([
    [
      'by more, and then by fewer subtasks',
      [
        { parallelism: 2, restoreFrom: 'none', leaveAfter: 300 },
        { parallelism: 4, restoreFrom: 'latest', leaveAfter: 300 },
        { parallelism: 1, restoreFrom: 'auto' },
      ],
    ],
    [
      'from a path, and again from the newest',
      [
        { parallelism: 4, restoreFrom: 'none', leaveAfter: 200 },
        { parallelism: 3, restoreFrom: 'path', leaveAfter: 400 },
        { parallelism: 5, restoreFrom: 'latest' },
      ],
    ],
  ])('%s', async (_how, lives) => {
    const source = (await sourceOf()) as AnySource;
    const job = new ResumedJob();
    const ends: JobEnd[] = [];
    for (const life of lives) ends.push(await job.run(source, life));
    expect(ends).toEqual(['cancelled', 'cancelled', 'finished']);
    assertExactlyOnce(job.numbers, ALL);
  });
});

test('endless sequences go on side by side in however few subtasks', async () => {
  const SPLITS = 4;
  const job = new ResumedJob();
  const reached: number[][] = [];
  for (const parallelism of [4, 2, 3, 1]) {
    const end = await job.run(datagen({ splits: SPLITS }), { parallelism, restoreFrom: 'auto', leaveAfter: 400 });
    expect(end).toBe('cancelled');
    reached.push(ALL.slice(0, SPLITS).map((split) => job.numbers.filter((n) => n % SPLITS === split).length));
  }
  for (const split of [0, 1, 2, 3]) {
    const counts = reached.map((counts) => counts[split] ?? 0);
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    const own = job.numbers.filter((n) => n % SPLITS === split);
    assertExactlyOnce(
      own,
      own.map((_, i) => split + i * SPLITS),
    );
  }
});
