import { datagen } from '@weir/connectors/datagen';
import { assertExactlyOnce } from '@weir/testkit';
import { expect, test } from 'vitest';
import { ResumedJob } from './support/resumed-job.js';

const COUNT = 900;
const source = datagen({ count: COUNT, splits: 3 });

/** A job with 12 key groups that was left in the middle. */
async function leftJob(): Promise<ResumedJob> {
  const job = new ResumedJob();
  await job.run(source, { parallelism: 2, maxParallelism: 12, restoreFrom: 'none', leaveAfter: 300 });
  return job;
}

test('a job that sets no maximum parallelism takes over that of its checkpoint, and hands it on', async () => {
  const job = await leftJob();
  expect(await job.run(source, { parallelism: 3, restoreFrom: 'latest', leaveAfter: 200 })).toBe('cancelled');
  expect(await job.run(source, { parallelism: 12, maxParallelism: 12, restoreFrom: 'latest' })).toBe('finished');
  assertExactlyOnce(
    job.numbers,
    Array.from({ length: COUNT }, (_, n) => n),
  );
});

test.each([
  ['another maximum parallelism', { parallelism: 2, maxParallelism: 24 }],
  ['a parallelism above that of its checkpoint', { parallelism: 13 }],
])('a job with %s is refused, and can still be resumed', async (_what, width) => {
  const job = await leftJob();
  await expect(job.run(source, { ...width, restoreFrom: 'latest' })).rejects.toMatchObject({
    code: 'CHECKPOINT_MAX_PARALLELISM',
  });
  expect(await job.run(source, { parallelism: 1, restoreFrom: 'latest' })).toBe('finished');
  expect(job.numbers).toHaveLength(COUNT);
});
